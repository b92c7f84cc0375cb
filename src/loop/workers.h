#pragma once

#include <stdatomic.h>

#include "loop/loop.h"

/* Work that takes longer than the loop may wait, on threads. A job shares nothing with the loop
 * while it is worked at: what it needs is its own, and what came of it is looked at in `done`. */
struct workers;

struct job {
	struct list link; /* in the list that it waits in; zeroed at first */
	/* On a thread. Looks at `stop` now and then and ends early when it is set. */
	void (*work)(struct job *j);
	/* From the loop, once, when `work` has returned. The job may be freed or added again. Also
	 * called, from workers_free(), of one that was never begun: `stop` is set then. */
	void (*done)(struct job *j);
	atomic_bool stop;
};

/* At most `threads` of them; each is made when there is something to do for it. -errno is that of
 * the descriptor that wakes the loop; then NULL. */
struct workers *workers_new(struct loop *l, unsigned threads);
/* Stops all jobs and waits for those that are being worked at. */
void workers_free(struct workers *w);
void workers_add(struct workers *w, struct job *j);
