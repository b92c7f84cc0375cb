#pragma once

#include "app/runs.h"
#include "hosts/telegram/bridge/ending.h"
#include "hosts/telegram/bridge/waiting.h"

struct agents_launch;
struct bridge;

/* The turn that runs, and when the next one may. A turn is a detached run with a supervisor of its
 * own: it neither ends with the bridge nor starts again with it. */
struct turns {
	struct waiting waiting;
	bool held;       /* /abort: what waits is not dispatched by itself */
	bool compacting; /* nothing is dispatched meanwhile */
	/* To do when the update at hand is written down, because both write by themselves: */
	bool wanted; /* look for the next one */
	bool leave;  /* leave the running one at its gate */

	/* The one that runs: */
	uint64_t item; /* 0: none does */
	json_t *turn;
	char run[64];
	struct run_handle *handle;
	struct agents_launch *launch;
	uint64_t since_ms;
	bool paused;            /* it waits at a gate */
	enum ended_by ended_by; /* who has asked it to end */
	struct timer limit;     /* agent.timeout, of what has none of its own */
	struct deferred ended;
	bool delivering; /* its answer is on its way; the next one waits for that */
};

/* Takes up what a process before this one has left: awaits a live run, delivers an ended one, says
 * that one was interrupted. */
void turns_start(struct bridge *b);
void turns_stop(struct bridge *b);

/* Starts the next turn, when there is one and nothing stands against it. */
void turns_dispatch(struct bridge *b);
/* Cancels the running turn; one that is paused at a gate is left there and frees the queue. False:
 * none runs. */
bool turns_abort(struct bridge *b);
bool turns_hold(struct bridge *b, bool on);
/* What was put off while an update was handled. */
void turns_after(struct bridge *b);
/* The running turn was continued behind its gate; or, once a second, perhaps it was. */
void turns_again(struct bridge *b);
void turns_look(struct bridge *b);
/* The answer of the turn was delivered, or is kept for later. */
void turns_delivered(struct bridge *b);

static inline bool turns_running(const struct turns *t)
{
	return t->item != 0;
}
