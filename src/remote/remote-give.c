/* Which worker gets which command, and how many workers there are to be. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "data/json.h"
#include "remote/remote-own.h"

enum { GIVEN_MAX = 65536 };

/* -- orders --------------------------------------------------------------------------------------
 */

void remote_order(struct remote_worker *w, const struct order *o)
{
	if (w->state == WORKER_DEAD || w->fenced)
		return;
	order_line_write(&w->orders, o, S(""));
	remote_wake(w->remote);
}

static void orders_failed(struct remote *r, int error)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "cannot write to %s: %s", r->x.path, strerror(error));
	remote_fail(r, buf_str(&text), S("make room there, then resume the run"));
}

void remote_write_orders(struct remote *r)
{
	list_each (link, &r->workers) {
		struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (!w->orders.len || w->state == WORKER_DEAD)
			continue;
		int n = exchange_file_append(&r->x, &w->orders_file, buf_str(&w->orders), false);
		if (n < 0) {
			orders_failed(r, -n);
			continue;
		}
		buf_reset(&w->orders);
		w->ordered_ms = clock_mono_ms();
		remote_expect(w);
	}
}

/* -- giving --------------------------------------------------------------------------------------
 */

/* Lines of starts that belong to one file, written before the orders are. */
struct intents {
	int fd;
	bool durable;
	struct buf lines;
};

static int intents_write(struct intents *i)
{
	int n = i->lines.len ? fd_write_all(i->fd, buf_str(&i->lines)) : 0;

	if (n == 0 && i->lines.len && i->durable && fdatasync(i->fd) < 0)
		n = -errno;
	buf_reset(&i->lines);
	return n;
}

/* Its intent is written before the order is. */
static void note_start(struct intents *i, const struct remote_job *j, struct str on)
{
	const struct job_record *record = j->record;

	if (!record || record->fd < 0)
		return;
	i->fd = record->fd;
	i->durable |= record->durable;
	buf_add(&i->lines, record->before);
	buf_adds(&i->lines, "\"on\":");
	json_write_str(&i->lines, on);
	buf_printf(&i->lines, ",\"w\":%" PRIu64 ",\"n\":%" PRIu64, j->worker->id, j->n);
	buf_add(&i->lines, record->after);
}

/* How much the worker may hold. */
static struct load capacity(const struct remote_worker *w, uint64_t ahead)
{
	const struct shape *s = &w->shape->shape;
	uint64_t cpus = w->cpus;

	if (s->nodes <= 1 && !w->remote->careful)
		cpus += MIN(ahead * w->cpus, (uint64_t)AHEAD_WORKER_MAX);
	return (struct load){ cpus, s->mem_mb * cpus / w->cpus, s->gpus * cpus / w->cpus };
}

static void give(struct remote_worker *w, struct remote_job *j, struct intents *intents)
{
	struct remote *r = w->remote;
	struct load slots = capacity(w, 0);

	list_remove(&j->link);
	j->shape->ready_count--;
	j->shape->ready_cpus -= j->load.cpus;
	j->idle_slot = load_fits(&w->given_load, &j->load, &slots);
	j->state = JOB_GIVEN;
	j->worker = w;
	j->n = ++w->next_n;
	j->given_ms = clock_mono_ms();
	list_append(&w->given, &j->link);
	w->given_count++;
	load_add(&w->given_load, &j->load);
	note_start(intents, j, r->executor.name);
	order_line_write(
		&w->orders, &(struct order){ .kind = ORDER_RUN, .n = j->n }, buf_str(&j->order));
}

static bool has_time(const struct remote_worker *w, const struct remote_job *j, uint64_t now)
{
	if (!w->deadline_ms)
		return true;
	uint64_t left = w->deadline_ms > now ? w->deadline_ms - now : 0;
	/* One may have taken longer than an allocation lasts: what has nothing behind it yet takes
	 * any. */
	return j->time_s ? left >= j->time_s * 1000 : left > w->shape->longest_ms || !w->begun;
}

/* Asked for, and it may still come; one whose submission failed is asked for again. */
static bool is_queued(const struct remote_worker *w)
{
	return (w->state == WORKER_QUEUED && !w->quitting) ||
	       (w->state == WORKER_ASKED && w->remote->submitting == w);
}

static uint64_t queued_of(const struct remote *r, const struct remote_shape *s)
{
	uint64_t n = 0;

	list_each (link, &r->workers) {
		const struct remote_worker *w = list_entry(link, struct remote_worker, link);

		n += w->shape == s && is_queued(w);
	}
	return n;
}

static bool takes(const struct remote_worker *w)
{
	return w->state == WORKER_ALIVE && !w->adopting && !w->draining && !w->quitting &&
	       !w->fenced && !w->hung;
}

/* One more loss would be its own: only what has a worker to itself tells it from its neighbours. */
static bool is_alone(const struct remote_job *j)
{
	return j->losses + 1 >= LOSSES_MAX;
}

/* Whether one of them must not have the other beside it. */
static bool keeps_apart(const struct remote_worker *w, const struct remote_job *j)
{
	return w->given_count &&
	       (is_alone(j) || is_alone(list_entry(w->given.next, struct remote_job, link)));
}

/* The worker for it that has least to do, of those with fewer processors than `below`; NULL: none.
 * *late: one has room, but not the time, is too small, or must not have it beside others. */
static struct remote_worker *worker_for(const struct remote *r, const struct remote_shape *s,
	const struct remote_job *j, uint64_t ahead, uint64_t below, uint64_t now, bool *late)
{
	struct remote_worker *best = NULL;

	*late = false;
	list_each (link, &r->workers) {
		struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (w->shape != s || !takes(w) || w->cpus >= below)
			continue;
		if (r->table->hosts[0] && w->cpus < j->load.cpus) {
			*late = true;
			continue;
		}
		struct load most = capacity(w, ahead);
		if (w->given_count && !load_fits(&w->given_load, &j->load, &most))
			continue;
		if (keeps_apart(w, j))
			*late |= is_alone(j);
		else if (!has_time(w, j, now))
			*late = true;
		else if (!best || w->given_load.cpus * best->cpus < best->given_load.cpus * w->cpus)
			best = w;
	}
	return best;
}

/* One more, the first that there is a worker for: one that no worker has the time for, or that only
 * a larger machine can take, does not hold up those behind it; that machine is kept for it. False:
 * there is none. */
static bool give_one(
	struct remote *r, struct remote_shape *s, uint64_t ahead, uint64_t now, struct intents *i)
{
	uint64_t below = UINT64_MAX;

	list_each (link, &s->ready) {
		struct remote_job *j = list_entry(link, struct remote_job, link);
		bool late;
		struct remote_worker *w = worker_for(r, s, j, ahead, below, now, &late);

		if (w)
			give(w, j, i);
		if (w || !late)
			return w != NULL;
		if (r->table->hosts[0])
			below = MIN(below, j->load.cpus);
	}
	return false;
}

static bool can_move(const struct remote_job *j, const struct remote_worker *to)
{
	return j->state == JOB_GIVEN && !j->dropped && j->order.len && j->load.cpus <= to->cpus;
}

/* Half of what another has not begun goes to one that has nothing to do. */
static void share_out(struct remote *r, struct remote_shape *s)
{
	struct remote_worker *idle = NULL, *rich = NULL;

	list_each (link, &r->workers) {
		struct remote_worker *w = list_entry(link, struct remote_worker, link);

		struct load slots, none = { 0 };

		if (w->shape != s || !takes(w))
			continue;
		slots = capacity(w, 0);
		if (!w->given_count)
			idle = w;
		else if (!load_fits(&w->given_load, &none, &slots) &&
			 (!rich || w->given_count > rich->given_count))
			rich = w;
	}
	if (!idle || !rich || r->leaving)
		return;
	size_t waiting = 0;
	list_each (link, &rich->given) {
		struct remote_job *j = list_entry(link, struct remote_job, link);

		waiting += can_move(j, idle);
	}
	size_t drop = (waiting + 1) / 2;
	for (struct list *link = rich->given.prev; link != &rich->given && drop;
		link = link->prev) {
		struct remote_job *j = list_entry(link, struct remote_job, link);

		if (!can_move(j, idle))
			continue;
		j->dropped = true;
		remote_order(rich, &(struct order){ .kind = ORDER_DROP, .n = j->n });
		drop--;
	}
}

uint64_t remote_jobs_most(const struct remote *r)
{
	uint64_t slots = r->table->slots, ahead = 1;

	ahead += sizing_ahead(r->ended, sizing_mean(&r->turn_ms), sizing_mean(&r->took_us), 0);
	uint64_t most = MIN(MAX(slots * ahead, slots + 64), (uint64_t)GIVEN_MAX);
	return r->jobs ? MIN(most, r->jobs) : most;
}

/* It has about as many commands as it takes at once: how many more there are is not known. */
static bool is_full(const struct remote *r)
{
	uint64_t most = remote_jobs_most(r);

	return r->jobs_count >= most - most / 8;
}

/* -- asking for more -----------------------------------------------------------------------------
 */

/* Processors for those that wait for one of these to begin, as many of them as would be ready if it
 * had. */
static uint64_t behind_cpus(const struct remote_shape *s, uint64_t now)
{
	uint64_t cpus = 0;

	/* What is ready fills all that may be queued, and may be long. */
	if (s->ready_cpus >= QUEUED_MAX * s->shape.cpus)
		return 0;
	list_each (link, &s->ready) {
		const struct remote_job *j = list_entry(link, struct remote_job, link);

		if (j->behind.count)
			cpus += j->load.cpus *
				MIN(j->behind.count, (now - j->started_ms) / j->behind.every_ms);
	}
	return cpus;
}

static struct sizing sizing_of(const struct remote *r, const struct remote_shape *s, uint64_t now)
{
	struct sizing size = { .cpus = remote_next_cpus(r, s),
		.ready_cpus = s->ready_cpus + behind_cpus(s, now),
		.queued = queued_of(r, s),
		.ended = r->ended,
		.mean_ms = sizing_mean(&r->took_us) / 1000,
		.more_come = is_full(r) && !r->jobs,
		.all = r->worker_count,
		.most = r->table->workers };

	list_each (link, &r->workers) {
		const struct remote_worker *w = list_entry(link, struct remote_worker, link);

		size.queued_cpus += w->shape == s && is_queued(w) ? w->cpus : 0;
		size.all -= w->state == WORKER_ASKED && !is_queued(w);
		if (w->shape != s || !takes(w))
			continue;
		size.has_cpus += w->cpus;
		size.free_cpus += w->cpus > w->given_load.cpus ? w->cpus - w->given_load.cpus : 0;
	}
	/* None that is there has the time or the memory for what waits. */
	if (s->ready_count && size.free_cpus >= s->ready_cpus && size.has_cpus)
		size.free_cpus = 0;
	return size;
}

static void ask_for_more(
	struct remote *r, struct remote_shape *s, const struct sizing *size, uint64_t now)
{
	uint64_t queued = 0;

	list_each (link, &r->workers)
		queued += is_queued(list_entry(link, struct remote_worker, link));
	if (r->submitting || r->failed || r->leaving || now < r->submit_at_ms ||
		queued >= QUEUED_MAX)
		return;
	if (s->ready_count && sizing_more(size))
		remote_submit(r, s);
}

/* What is queued and has not been needed for as long as a worker would wait for a command is
 * cancelled, the latest first. */
static void cancel_spare(
	struct remote *r, struct remote_shape *s, const struct sizing *size, uint64_t now)
{
	uint64_t spare = sizing_spare(size);

	if (!spare)
		s->spare_ms = 0;
	else if (!s->spare_ms)
		s->spare_ms = now;
	if (!spare || clock_since(now, s->spare_ms) < remote_ms(r->table->idle_s * 1000))
		return;
	for (struct list *link = r->workers.prev; link != &r->workers && spare; link = link->prev) {
		struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (w->shape != s || w->state != WORKER_QUEUED || w->quitting)
			continue;
		w->quitting = true;
		remote_worker_cancel(w);
		spare--;
	}
}

/* What is ready goes to the workers that there are. -errno: nothing was handed out. */
static int give_ready(struct remote *r, uint64_t now)
{
	struct intents intents = { .fd = -1 };

	list_each (link, &r->shapes) {
		struct remote_shape *s = list_entry(link, struct remote_shape, link);
		uint64_t ahead = sizing_ahead(r->ended, sizing_mean(&r->turn_ms),
			sizing_mean(&r->took_us), queued_of(r, s));

		while (!list_empty(&s->ready) && give_one(r, s, ahead, now, &intents))
			;
	}
	int n = intents_write(&intents);
	buf_done(&intents.lines);
	if (n < 0)
		list_each (link, &r->workers)
			buf_reset(&list_entry(link, struct remote_worker, link)->orders);
	return n;
}

void remote_give(struct remote *r)
{
	uint64_t now = clock_mono_ms();

	/* What was left may stop the run. */
	if (r->leaving || r->failed || (r->stops_left && remote_left_unsure(r)))
		return;
	int n = give_ready(r, now);
	if (n < 0) {
		AUTO_BUF text = BUF_INIT;

		buf_printf(&text, "cannot write leaves.jsonl: %s", strerror(-n));
		remote_fail(r, buf_str(&text),
			S("make room where the run's directory is, then resume it"));
		return;
	}
	/* Only now: a submission writes orders, and the intent comes before the order. */
	list_each (link, &r->shapes) {
		struct remote_shape *s = list_entry(link, struct remote_shape, link);

		struct sizing size = sizing_of(r, s, now);

		if (list_empty(&s->ready))
			share_out(r, s);
		else
			ask_for_more(r, s, &size, now);
		cancel_spare(r, s, &size, now);
	}
}
