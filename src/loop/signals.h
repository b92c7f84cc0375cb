#pragma once

#include <signal.h>

#include "loop/loop.h"

/* Signals to this process as events of the loop. For programs, never for the library. */
struct signals {
	struct watch watch;
	sigset_t before; /* the mask that was in force: what children should get */
	void (*came)(struct signals *s, int signal, int value); /* value: of a queued one */
};

/* Blocks the listed signals (ends with 0) and reports them through `came`. One that is ignored
 * (nohup, a background job) stays ignored. -errno. */
int signals_start(struct loop *l, struct signals *s, const int *list);
/* Undoes it: from now on they do what they did before. What came meanwhile is forgotten, or it
 * would end the process here. */
void signals_stop(struct signals *s);
