#include "loop/loop.h"

#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lang.h"
#include "base/vec.h"

enum { BATCH = 64, STACK = 16 * 1024, REST_NS = 100 * 1000 };

struct loop {
	int epoll, wake;
	/* Mirrors the next deadline for an outer loop; -1 until the first call of loop_fd(). */
	int deadline;
	uint64_t now_ms;
	VEC(struct timer *) heap; /* heap.at[0] is due first */
	struct list deferred;
	struct watch wake_watch;
	struct epoll_event batch[BATCH];
	int batch_count, batch_next;
	bool turning, rest;
	int pid;
	char *stack; /* made when first needed */
	bool woken;  /* by loop_wake(), in this turn */
};

static void on_wake(struct watch *w, uint32_t events)
{
	uint64_t count;

	(void)events;
	(void)!read(w->fd, &count, sizeof(count));
	w->loop->woken = true;
}

struct loop *loop_new(void)
{
	struct loop *l = mem_new(struct loop);

	l->pid = getpid();
	l->deadline = -1;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	l->now_ms = clock_mono_ms();
	l->wake_watch.ready = on_wake;
	list_init(&l->deferred);
	if (l->epoll < 0 || l->wake < 0 || watch_start(l, &l->wake_watch, l->wake, EPOLLIN) < 0) {
		int saved = errno;

		loop_free(l);
		errno = saved;
		return NULL;
	}
	return l;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	close_fd(&l->epoll);
	close_fd(&l->wake);
	close_fd(&l->deadline);
	vec_done(&l->heap);
	free(l->stack);
	free(l);
}

void *loop_stack(struct loop *l)
{
	/* Not mapped for itself: that is two more calls of the system for a run of one command. */
	if (!l->stack)
		l->stack = mem_alloc(STACK);
	return l->stack + STACK;
}

uint64_t loop_now(const struct loop *l)
{
	return l->now_ms;
}

void loop_wake(struct loop *l)
{
	uint64_t one = 1;
	int before = errno;

	(void)!write(l->wake, &one, sizeof(one));
	errno = before; /* of whatever a signal handler has interrupted */
}

bool loop_woken(const struct loop *l)
{
	return l->woken;
}

/* -- watches -------------------------------------------------------------------------------------
 */

int watch_start(struct loop *l, struct watch *w, int fd, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = w };

	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) < 0)
		return -errno;
	w->loop = l;
	w->fd = fd;
	return 0;
}

void watch_stop(struct watch *w)
{
	struct loop *l = w->loop;

	if (!l)
		return;
	(void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
	for (int i = l->batch_next; i < l->batch_count; i++)
		if (l->batch[i].data.ptr == w)
			l->batch[i].data.ptr = NULL;
	w->loop = NULL;
	w->fd = -1;
}

void watch_spent(struct watch *w)
{
	w->loop = NULL;
	w->fd = -1;
}

int loop_pid(const struct loop *l)
{
	return l->pid;
}

/* -- waiting --------------------------------------------------------------------------------------
 */

static int wait_ms(struct loop *l, int timeout_ms)
{
	if (!list_empty(&l->deferred))
		return 0;
	if (!l->heap.len)
		return timeout_ms;
	uint64_t now = clock_mono_ms(), due = l->heap.at[0]->due_ms;
	uint64_t left = due > now ? due - now : 0;
	if (timeout_ms >= 0 && (uint64_t)timeout_ms < left)
		return timeout_ms;
	return (int)MIN(left, (uint64_t)INT_MAX);
}

/* Nothing inside a turn, which arms it once at its end. */
static void arm_deadline(struct loop *l)
{
	struct itimerspec when = { 0 };

	if (l->deadline < 0 || l->turning)
		return;
	int ms = wait_ms(l, -1);
	if (ms >= 0) {
		when.it_value.tv_sec = ms / 1000;
		when.it_value.tv_nsec = (long)(ms % 1000) * 1000000 + 1;
	}
	(void)timerfd_settime(l->deadline, 0, &when, NULL);
}

/* -- timers --------------------------------------------------------------------------------------
 */

static void put(struct loop *l, size_t at, struct timer *t)
{
	l->heap.at[at] = t;
	t->place = at + 1;
}

static void sift_up(struct loop *l, size_t at)
{
	struct timer *t = l->heap.at[at];

	for (size_t up; at > 0 && l->heap.at[up = (at - 1) / 2]->due_ms > t->due_ms; at = up)
		put(l, at, l->heap.at[up]);
	put(l, at, t);
}

static void sift_down(struct loop *l, size_t at)
{
	struct timer *t = l->heap.at[at];

	for (size_t child; (child = at * 2 + 1) < l->heap.len; at = child) {
		if (child + 1 < l->heap.len &&
			l->heap.at[child + 1]->due_ms < l->heap.at[child]->due_ms)
			child++;
		if (l->heap.at[child]->due_ms >= t->due_ms)
			break;
		put(l, at, l->heap.at[child]);
	}
	put(l, at, t);
}

void timer_stop(struct timer *t)
{
	if (!t->place)
		return;
	struct loop *l = t->loop;
	size_t at = t->place - 1;
	struct timer *last = vec_pop(&l->heap);

	t->place = 0;
	if (last == t)
		return;
	put(l, at, last);
	sift_up(l, at);
	sift_down(l, last->place - 1);
}

void timer_start(struct loop *l, struct timer *t, uint64_t after_ms)
{
	timer_stop(t);
	/* From the clock and not from loop_now(): what this turn did so far must not count. */
	uint64_t now = clock_mono_ms();
	t->loop = l;
	t->due_ms = after_ms > UINT64_MAX - now ? UINT64_MAX : now + after_ms;
	vec_push(&l->heap, t);
	sift_up(l, l->heap.len - 1);
	arm_deadline(l);
}

static void fire_timers(struct loop *l)
{
	/* Those that are started meanwhile wait for the next turn, or this one might never end. */
	uint64_t now = l->now_ms;

	for (size_t left = l->heap.len; left > 0 && l->heap.len; left--) {
		struct timer *t = l->heap.at[0];

		if (t->due_ms > now)
			break;
		timer_stop(t);
		t->fire(t);
	}
}

/* -- deferred calls ------------------------------------------------------------------------------
 */

void deferred_start(struct loop *l, struct deferred *d)
{
	if (!list_linked(&d->link))
		list_append(&l->deferred, &d->link);
	arm_deadline(l);
}

void deferred_stop(struct deferred *d)
{
	list_remove(&d->link);
}

static void call_deferred(struct loop *l)
{
	/* A few rounds, because one call often leads to another; then descriptors get their turn.
	 */
	for (unsigned round = 0; round < 8 && !list_empty(&l->deferred); round++) {
		struct list now = l->deferred;

		/* Take the whole list, so that those added meanwhile wait for the next round. */
		now.next->prev = now.prev->next = &now;
		list_init(&l->deferred);
		while (!list_empty(&now)) {
			struct deferred *d = list_entry(now.next, struct deferred, link);

			list_remove(&d->link);
			d->call(d);
		}
	}
}

/* -- turning -------------------------------------------------------------------------------------
 */

int loop_fd(const struct loop *loop)
{
	struct loop *l = (struct loop *)loop;

	if (l->deadline < 0) {
		struct epoll_event e = { .events = EPOLLIN };

		l->deadline = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		if (l->deadline >= 0)
			(void)epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->deadline, &e);
		arm_deadline(l);
	}
	return l->epoll;
}

void loop_rest(struct loop *l)
{
	l->rest = true;
}

int loop_turn(struct loop *l, int timeout_ms)
{
	if (l->rest && timeout_ms != 0 && list_empty(&l->deferred))
		(void)clock_nanosleep(
			CLOCK_MONOTONIC, 0, &(struct timespec){ .tv_nsec = REST_NS }, NULL);
	l->rest = l->woken = false;
	int n = epoll_wait(l->epoll, l->batch, BATCH, wait_ms(l, timeout_ms));

	if (n < 0 && errno != EINTR)
		return -errno;
	l->turning = true;
	l->now_ms = clock_mono_ms();
	l->batch_count = MAX(n, 0);
	for (l->batch_next = 0; l->batch_next < l->batch_count;) {
		struct epoll_event *e = &l->batch[l->batch_next++];
		struct watch *w = e->data.ptr;

		if (w)
			w->ready(w, e->events);
	}
	l->batch_count = 0;
	fire_timers(l);
	call_deferred(l);
	l->turning = false;
	arm_deadline(l);
	return 0;
}
