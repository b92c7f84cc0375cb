#pragma once

#include "engine/local.h"
#include "remote/table.h"

/* Runs the programs of a batch system: through this machine's own executor, with a time limit and
 * an environment of their own, never the run's. */
struct batch;

struct batch_answer {
	bool ok;             /* it ended in time, with 0, and all that it printed is here */
	bool unstarted;      /* there is no such program, or none that can be executed */
	bool late;           /* its time ran out: what it asked for may have happened */
	bool cut;            /* it printed more */
	struct str out, err; /* at most 1 MiB and 4 KiB; borrowed */
	int code, signal;
};

typedef void batch_fn(void *data, const struct batch_answer *a);

/* `here` is the executor of this machine that must leave its processes alone; NULL: there is none.
 */
struct batch *batch_new(struct loop *l, const struct table *t, struct executor *here);
/* Ends what runs without calling anyone. */
void batch_free(struct batch *b);
/* Turns the loop until nothing runs. */
void batch_drain(struct batch *b);
/* Calls `done` from the loop. */
void batch_run(struct batch *b, const char *const *argv, batch_fn *done, void *data);
