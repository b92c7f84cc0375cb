#pragma once

#include "engine/executor.h"
#include "loop/loop.h"

/* What the run prints, for a reader at the other end of a pipe while the run continues. Most output
 * is handed over when the run has succeeded; of a command that prints much, and that is the run's
 * last, it is handed over as it comes: a reader that has had enough goes away, and that ends the
 * run. */

enum { EARLY_MIN = 1 << 20 }; /* bytes that wait for the end of the run */

struct early {
	struct loop *loop;
	struct watch watch;
	int fd;          /* the pipe; -1: there is none, or its reader has gone */
	bool prints;     /* it gets output */
	struct job *job; /* whose output it gets now; NULL: none yet */
	uint64_t at;     /* how much it has got */
	void (*gone)(struct early *e);
};

/* Watches the reader of `fd`, which is borrowed and does not block; -1: there is none. `gone` is
 * called once from the loop. */
void early_start(
	struct early *e, struct loop *l, int fd, bool prints, void (*gone)(struct early *e));
void early_stop(struct early *e);
/* The last command of the run has printed something. */
void early_came(struct early *e, struct job *j);
/* A command has ended: what is left of its output is handed over at the end. */
void early_ended(struct early *e, const struct job *j);
