#include "engine/schedule.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/processors.h"
#include "engine/frame.h"

enum { TURN_CALLS = 10000 }; /* before signals and output get their turn */

void schedule_wake(struct schedule *s)
{
	if (!s->turning)
		deferred_start(s->loop, &s->turn);
}

void schedule_call(struct frame *f, void (*call)(struct frame *f))
{
	struct schedule *s = &f->run->schedule;

	f->call = call;
	if (!list_linked(&f->queued))
		list_append(&s->calls, &f->queued);
	schedule_wake(s);
}

/* The command that has the terminal, what says that it stays here, and what agents do, is here. */
static bool stays_here(const struct frame *f)
{
	const struct run_options *o = &f->run->options;

	if (!o->elsewhere || f->node->tty || f->run->options.terminal)
		return true;
	enum runs_on on = frame_runs_on(f);
	struct needs needs;
	return on == RUNS_LOCAL || (o->elsewhere_needs && !frame_needs(f, &needs));
}

/* Where a command runs. */
static struct pool *schedule_pool(const struct frame *f)
{
	return &f->run->schedule.pools[stays_here(f) ? 0 : f->run->options.elsewhere];
}

void schedule_command(struct frame *f)
{
	f->leaf.pool = schedule_pool(f);
	if (f->run->schedule.pool_count > 1)
		round_goes(f, f->leaf.pool == f->run->schedule.pools);
	list_append(&f->leaf.pool->waiting, &f->waits);
	schedule_wake(&f->run->schedule);
}

void schedule_children(struct frame *f)
{
	struct schedule *s = &f->run->schedule;

	/* Innermost first: what has begun is finished before more is begun. */
	list_prepend(&s->unfilled, &f->waits);
	schedule_wake(s);
}

/* What it has declared; a command without that weighs nothing here. */
static uint64_t weight_of(const struct frame *f)
{
	struct needs needs;

	return frame_needs(f, &needs) ? needs.cpus : 0;
}

void schedule_take(struct schedule *s, const struct frame *f)
{
	struct pool *p = f->leaf.pool;

	p->running++;
	s->running++;
	if (p == s->pools)
		p->cpus += weight_of(f);
}

void schedule_release(struct schedule *s, const struct frame *f)
{
	struct pool *p = f->leaf.pool;

	p->running--;
	s->running--;
	if (p == s->pools)
		p->cpus -= weight_of(f);
	round_taken_back(f);
	schedule_wake(s);
}

static bool has_slot(const struct schedule *s, const struct pool *p)
{
	const struct executor_ops *ops = p->executor->ops;

	return p->running < p->limit && (!s->limit || s->running < s->limit) &&
	       (!ops->room || ops->room(p->executor));
}

/* The first that the machine has processors for; alone any command may run. NULL: none now. */
static struct frame *next_of(const struct schedule *s, struct pool *p)
{
	if (!p->cpus)
		return list_empty(&p->waiting) ? NULL
					       : list_entry(p->waiting.next, struct frame, waits);
	list_each (link, &p->waiting) {
		struct frame *f = list_entry(link, struct frame, waits);
		uint64_t cpus = weight_of(f);

		if (!cpus || p->cpus + cpus <= s->processors)
			return f;
	}
	return NULL;
}

static void start_command(struct schedule *s, struct pool *p, struct frame *f)
{
	list_remove(&f->waits);
	schedule_take(s, f);
	/* The machine is full: as many as run now are as many as fit. */
	if (!f->ops->start(f)) {
		list_prepend(&p->waiting, &f->waits);
		p->limit = MAX(p->running, 1u);
	} else if (f->leaf.job) {
		round_handed_over(f);
	}
}

/* Copies are alike: while the last one waits for a slot where there is none, so would the next. */
static bool is_fed_up(const struct schedule *s, const struct frame *group)
{
	const struct frame *f = group;

	do {
		if (list_empty(&f->active))
			return false;
		f = list_entry(f->active.prev, struct frame, link);
		if (f->up == group && f->role != FRAME_COPY)
			return false;
	} while (!f->ops->command);
	return f->state == FRAME_WAITING && f->leaf.pool && !has_slot(s, f->leaf.pool);
}

/* A slot that is free need not be where the children of a group run. */
static bool feed(struct schedule *s)
{
	list_each (link, &s->unfilled) {
		struct frame *group = list_entry(link, struct frame, waits);

		if (s->pool_count > 1 && is_fed_up(s, group))
			continue;
		group->ops->feed(group);
		return true;
	}
	return false;
}

/* One thing that can be done now, in order of precedence. False: nothing. */
static bool advance(struct schedule *s)
{
	bool slots = false;

	if (!list_empty(&s->calls)) {
		struct frame *f = list_entry(s->calls.next, struct frame, queued);

		list_remove(&f->queued);
		f->call(f);
		return true;
	}
	pools_each (p, s) {
		if (!has_slot(s, p))
			continue;
		slots = true;
		struct frame *f = next_of(s, p);
		if (f) {
			start_command(s, p, f);
			return true;
		}
	}
	return slots && feed(s);
}

static void on_turn(struct deferred *d)
{
	struct schedule *s = container_of(d, struct schedule, turn);
	unsigned calls = 0;

	s->turning = true;
	while (calls < TURN_CALLS && advance(s))
		calls++;
	s->turning = false;
	if (calls == TURN_CALLS)
		deferred_start(s->loop, &s->turn);
	s->turned(s);
}

static void on_grown(void *data)
{
	schedule_wake(data);
}

void schedule_init(struct schedule *s, struct loop *l, struct executor *const *executors,
	size_t count, unsigned limit, bool together)
{
	s->loop = l;
	s->turn.call = on_turn;
	s->pools = mem_zero(count * sizeof(*s->pools));
	s->pool_count = count;
	s->limit = together ? limit : 0;
	s->processors = processors_usable();
	list_init(&s->calls);
	list_init(&s->unfilled);
	for (size_t i = 0; i < count; i++) {
		struct pool *p = &s->pools[i];

		p->executor = executors[i];
		p->executor->grew = on_grown;
		p->executor->grew_data = s;
		p->limit = i && p->executor->ops->room ? UINT_MAX : limit;
		list_init(&p->waiting);
	}
}

void schedule_done(struct schedule *s)
{
	deferred_stop(&s->turn);
	/* The others may use that of this machine. */
	for (size_t i = s->pool_count; i-- > 0;)
		s->pools[i].executor->ops->close(s->pools[i].executor);
	free(s->pools);
}
