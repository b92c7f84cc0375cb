#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

/* One thread, one epoll. Watches, timers and deferred calls are embedded in their owner, so an
 * event costs no allocation; container_of() leads back. Nothing here prints; calls return -errno.
 */
struct loop;

struct loop *loop_new(void);
void loop_free(struct loop *l);

/* Waits until something is due, at most `timeout_ms` (-1: for ever), and calls whom it concerns. */
int loop_turn(struct loop *l, int timeout_ms);
/* From a watch whose descriptor fills quickly: the next turn begins a moment later, and finds more.
 * To be woken for every piece costs more than to move it. */
void loop_rest(struct loop *l);
/* Milliseconds of the monotonic clock, read once per turn. */
uint64_t loop_now(const struct loop *l);
/* Readable when a turn has something to do: for an outer loop. */
int loop_fd(const struct loop *l);
/* Makes a turn return. From any thread or signal handler. */
void loop_wake(struct loop *l);
/* Whether the last turn was ended by loop_wake(). */
bool loop_woken(const struct loop *l);

/* The top of a small stack for a child that has not executed its program yet. */
void *loop_stack(struct loop *l);

/* Calls `ready` when the descriptor is, with the epoll events. */
struct watch {
	struct loop *loop; /* NULL: not watching */
	int fd;
	void (*ready)(struct watch *w, uint32_t events);
};

int watch_start(struct loop *l, struct watch *w, int fd, uint32_t events);
/* Before the descriptor is closed: closing alone is not enough, because a child that is just
 * executing has it for a moment longer. No event of the current batch reaches it any more. */
void watch_stop(struct watch *w);
/* The same for one with EPOLLONESHOT, from its own `ready`: it has had its event. */
void watch_spent(struct watch *w);
/* The process that made the loop. */
int loop_pid(const struct loop *l);

/* Calls `fire` once, `after_ms` from now. Starting again moves it. */
struct timer {
	struct loop *loop;
	uint64_t due_ms;
	size_t place; /* in the heap, from 1; 0: not started */
	void (*fire)(struct timer *t);
};

void timer_start(struct loop *l, struct timer *t, uint64_t after_ms);
void timer_stop(struct timer *t);
static inline bool timer_running(const struct timer *t)
{
	return t->place != 0;
}

/* Calls `call` once, from the loop and not from here: so that a thousand quick steps do not nest.
 */
struct deferred {
	struct list link;
	void (*call)(struct deferred *d);
};

void deferred_start(struct loop *l, struct deferred *d);
void deferred_stop(struct deferred *d);
