/* The life of a worker as its driver sees it: submitted, queued, alive, silent, dead. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/plain-text.h"
#include "base/utf8.h"
#include "remote/remote-own.h"

enum {
	BEAT_MS = 15000,
	SILENT_MS = 60000,
	DEAD_MS = 120000,  /* after its last byte was seen, of one that is fenced */
	SETTLE_MS = 5000,  /* after its job has ended: what it wrote last may come */
	STATUS_MS = 15000, /* between two questions */
	HUNG_MS = 600000,  /* silent although its job is running */
	HELLO_MS = 60000,  /* its job runs and it has not said hello */
	ADOPT_MS = 30000,
	ADOPT_NETWORK_MS = 120000,
	ENDING_MS = 500,
	BYE_MS = 10000, /* beyond the grace time, for a worker that was asked to leave */
	ENDING_ASKS = 20,
	BARREN_MAX = 3,
	DOUBTS_MAX = 2,
	STRAY_ASKS = 3,
	FILES_KEPT = 100, /* workers whose files stay open */
	LOOK_MIN_MS = 5,
	LOOK_BUSY_MS = 250,
	LOOK_MAX_MS = 1000,
	LOG_END = 4096,
	TEXT_MAX = 255, /* of what others say about a worker */
};

/* -- making and freeing --------------------------------------------------------------------------
 */

void remote_set(char **text, struct str with)
{
	AUTO_BUF line = BUF_INIT;

	text_plain(&line, utf8_head(with, TEXT_MAX));
	free(*text);
	*text = line.len ? mem_strdup(buf_cstr(&line)) : NULL;
}

static void look_soon(struct remote *r, uint64_t ms)
{
	uint64_t due = clock_mono_ms() + ms;

	if (!timer_running(&r->looks) || r->looks.due_ms > due)
		timer_start(r->loop, &r->looks, ms);
}

void remote_expect(struct remote_worker *w)
{
	w->look_ms = 0;
	if (w->changes.wd >= 0)
		return;
	w->look_at_ms = w->ordered_ms + LOOK_MIN_MS;
	look_soon(w->remote, LOOK_MIN_MS);
}

static void on_changed(struct notify_file *f, uint32_t events)
{
	struct remote_worker *w = container_of(f, struct remote_worker, changes);

	(void)events;
	w->look_at_ms = 0;
	look_soon(w->remote, 0);
}

static void on_looks(struct timer *t);

void remote_order_allocation(struct remote_worker *w)
{
	const struct shape *s = &w->shape->shape;

	order_line_write(&w->orders,
		&(struct order){ .kind = ORDER_ALLOCATION,
			.has = { w->cpus, s->mem_mb, s->gpus, s->time_s } },
		S(""));
}

/* What this driver wants may differ from what run.json has of the first one. */
static void order_rules(struct remote_worker *w)
{
	const struct remote *r = w->remote;

	order_line_write(
		&w->orders, &(struct order){ .kind = ORDER_GRACE, .ms = r->grace_ms }, S(""));
	order_line_write(&w->orders,
		&(struct order){ .kind = ORDER_RULES,
			.durable = r->durable,
			.careful = r->careful || r->announced },
		S(""));
}

struct remote_worker *remote_worker_new(
	struct remote *r, uint64_t id, struct remote_shape *s, uint64_t cpus)
{
	struct remote_worker *w = mem_new(struct remote_worker);
	char name[80], path[4300];
	bool brief = r->worker_count >= FILES_KEPT;

	w->remote = r;
	w->shape = s;
	w->id = id;
	w->cpus = cpus;
	w->asked_ms = w->seen_ms = clock_mono_ms();
	list_init(&w->given);
	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/orders.%" PRIu64, id, r->epoch);
	exchange_file_init(&w->orders_file, &r->x, name, true, brief);
	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/records", id);
	exchange_file_init(&w->records_file, &r->x, name, false, brief);
	(void)snprintf(path, sizeof(path), "%s/%s", r->x.path, name);
	w->changes.wd = -1;
	w->changes.changed = on_changed;
	if (notify_is_open(&r->notify))
		(void)notify_add(&r->notify, &w->changes, path, IN_MODIFY);
	r->looks.fire = on_looks;
	list_append(&r->workers, &w->link);
	r->worker_count++;
	r->next_worker = MAX(r->next_worker, id);
	remote_order_allocation(w);
	order_rules(w);
	look_soon(r, LOOK_MIN_MS);
	return w;
}

static void files_done(struct remote_worker *w)
{
	if (w->changes.wd >= 0)
		notify_remove(&w->remote->notify, &w->changes);
	w->changes.wd = -1;
	exchange_file_done(&w->orders_file);
	exchange_file_done(&w->records_file);
	line_reader_done(&w->reader);
	buf_done(&w->orders);
}

void remote_worker_free(struct remote_worker *w)
{
	char *const texts[] = { w->job, w->host, w->why, w->reason, w->state_word, w->machine };

	files_done(w);
	list_remove(&w->link);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	free(w);
}

void remote_tell_worker(struct remote_worker *w, enum event_kind kind, const char *why)
{
	struct remote *r = w->remote;
	struct event e = { .kind = kind,
		.away = { .on = r->executor.name,
			.host = str_of(
				kind == EVENT_WORKER_SUBMIT && w->machine ? w->machine : w->host),
			.job = str_of(w->job),
			.why = str_of(why),
			.worker = w->id,
			.queued_ms = kind == EVENT_WORKER_START ? w->hello_ms - w->asked_ms : 0 } };

	if (r->executor.tell)
		r->executor.tell(r->executor.run_data, &e);
}

/* -- its death -----------------------------------------------------------------------------------
 */

/* What the batch system's word for the end of its job says about the command that ran then. */
static bool counts_as_loss(const struct remote_worker *w)
{
	static const char *const blameless[] = { "PREEMPTED", "TIMEOUT", "CANCELLED", "NODE_FAIL" };

	if ((w->fenced && !w->found_dead) || w->said_bye)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(blameless) && w->state_word; i++)
		if (strncmp(w->state_word, blameless[i], strlen(blameless[i])) == 0)
			return false;
	return true;
}

void remote_worker_name(const struct remote_worker *w, struct buf *b)
{
	buf_printf(b, "worker %" PRIu64 " of %.*s", w->id, STR(w->remote->executor.name));
	if (w->job || w->host)
		buf_printf(b, " (job %s%s%s%s%s)", w->job ? w->job : "unknown",
			w->host ? " on " : "", w->host ? w->host : "", w->state_word ? ": " : "",
			w->state_word ? w->state_word : "");
}

enum { LOST_CODE = 125 };

/* Whether it may have been executed, while only its worker could have said so, and that stops the
 * run. */
static bool is_doubted(const struct remote_worker *w, const struct remote_job *j)
{
	const struct remote *r = w->remote;
	const struct remote_left *left = remote_left_of(w, j->n);

	if (left && !w->hello_ms)
		return remote_left_doubted(r, w, left);
	return r->careful && !w->said_bye && (j->state == JOB_BEGAN || !r->announced);
}

/* The machine that ran it is gone. */
static void lose(struct remote_worker *w, struct remote_job *j, bool counts)
{
	struct remote *r = w->remote;
	AUTO_BUF text = BUF_INIT;

	j->losses += counts;
	if (is_doubted(w, j)) {
		struct remote_left *left = remote_left_of(w, j->n);

		if (left)
			left->in_doubt = true;
		remote_worker_name(w, &text);
		remote_job_doubt(j, buf_str(&text));
		return;
	}
	if (j->losses < LOSSES_MAX || j->stopping) {
		remote_job_again(j);
		return;
	}
	buf_adds(&text, "lost with ");
	remote_worker_name(w, &text);
	buf_addc(&text, '\n');
	content_unref(j->err);
	j->err = content_from_buf(&text);
	buf_reset(&j->host);
	buf_adds(&j->host, w->host ? w->host : "");
	j->away = (struct job_away){
		.on = r->executor.name, .host = buf_str(&j->host), .worker = w->id
	};
	j->end = (struct job_end){ .code = LOST_CODE, .lost = true, .away = &j->away };
	remote_job_tell(j);
}

static void lost_warning(struct remote_worker *w)
{
	AUTO_BUF text = BUF_INIT;

	remote_worker_name(w, &text);
	buf_printf(&text, " was lost%s%s", w->why ? ": " : "", w->why ? w->why : "");
	remote_warn(w->remote, buf_str(&text));
}

/* Which worker it is, and the end of what its job has printed. */
static void last_words(struct remote_worker *w, struct buf *text)
{
	struct remote *r = w->remote;
	AUTO_BUF log = BUF_INIT;
	char name[64];

	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/log", w->id);
	(void)exchange_read(&r->x, name, 1 << 20, &log);
	remote_worker_name(w, text);
	struct str end = str_trim(buf_str(&log));
	end = str_from(end, end.len - MIN(end.len, (size_t)LOG_END));
	buf_printf(text, end.len ? " printed: %.*s" : " printed nothing%.*s", STR(end));
	if (exchange_is_full(&r->x))
		buf_printf(text, "; there is no room left in %s", r->x.path);
}

void remote_worker_died(struct remote_worker *w, const char *why)
{
	struct remote *r = w->remote;
	bool lost = !w->said_bye, counts = counts_as_loss(w);

	if (w->state == WORKER_DEAD)
		return;
	bool was_alive = w->state == WORKER_ALIVE;
	w->state = WORKER_DEAD;
	r->worker_count--;
	if (r->submitting == w)
		r->submitting = NULL;
	remote_set(&w->why, str_of(why));
	why = w->why; /* what was given may have been the old one */
	remote_settle_left(w, NULL);
	if (lost && was_alive && !r->leaving)
		lost_warning(w);
	remote_tell_worker(w, lost && was_alive ? EVENT_WORKER_LOST : EVENT_WORKER_END, why);
	while (!list_empty(&w->given))
		lose(w, list_entry(w->given.next, struct remote_job, link), counts && w->begun);
	if (was_alive && !w->begun && !w->quitting && !r->leaving &&
		strcmp(w->why ? w->why : "", "idle") != 0 && ++w->shape->barren >= BARREN_MAX) {
		AUTO_BUF text = BUF_INIT;

		buf_printf(&text,
			"three allocations of %.*s in a row ended before a command could "
			"begin; the last was ",
			STR(r->executor.name));
		last_words(w, &text);
		remote_fail(r, buf_str(&text),
			lost ? S("the batch system, its memory limit, or a shared directory "
				 "without room may have ended it")
			     : S("ask for more time: `time` of the executor"));
	}
	files_done(w);
	remote_wake(r);
	executor_grew(&r->executor);
}

void remote_worker_fence(struct remote_worker *w, const char *why)
{
	char name[64];

	if (w->fenced || w->state == WORKER_DEAD)
		return;
	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/fence", w->id);
	/* One that cannot be written is tried again. */
	if (exchange_write(&w->remote->x, name, S("1")) < 0)
		return;
	w->fenced = true;
	w->fenced_ms = clock_mono_ms();
	remote_set(&w->why, str_of(why));
	if (w->state != WORKER_ALIVE)
		remote_worker_died(w, why); /* it never claimed: who comes now leaves */
	else if (table_ends_by_cancel(w->remote->table))
		remote_worker_cancel(w); /* its machine can tell sooner than its lease */
}

/* -- what is due ---------------------------------------------------------------------------------
 */

/* Its job is not waited for any longer; after three in a row the run is not continued. */
static void came_to_nothing(
	struct remote_worker *w, const char *why, struct str message, struct str hint)
{
	struct remote *r = w->remote;

	remote_worker_cancel(w);
	r->no_hello++;
	r->strays = true;
	w->fenced = false;
	remote_worker_fence(w, why);
	if (r->trial || r->no_hello >= BARREN_MAX)
		remote_fail(r, message, hint);
}

static void no_hello(struct remote_worker *w)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "allocations of %.*s start and no worker says hello; ",
		STR(w->remote->executor.name));
	last_words(w, &text);
	came_to_nothing(w, "no hello", buf_str(&text),
		S("can the node execute this program and see the shared directory?"));
}

static void not_listed(struct remote_worker *w)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "%.*s takes submissions and does not list their jobs; the last was ",
		STR(w->remote->executor.name));
	remote_worker_name(w, &text);
	came_to_nothing(w, "the batch system does not know it", buf_str(&text),
		S("does `status` of the executor list the jobs of {name}?"));
}

static bool is_claimed(const struct remote_worker *w)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/claim", w->id);
	return faccessat(w->remote->x.fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Queued: it starts when the batch system likes. */
static void check_queued(struct remote_worker *w, uint64_t now)
{
	bool started = w->running_ms && w->means == BATCH_RUNNING &&
		       clock_since(now, w->running_ms) > remote_ms(HELLO_MS);
	bool over = w->ended_ms && clock_since(now, w->ended_ms) > remote_ms(SETTLE_MS);

	/* One that never began has nothing to say for which it would have to be waited. */
	bool gone = over || w->unlisted >= 2 || (w->ended_ms && !is_claimed(w));

	if (w->remote->leaving && gone)
		remote_worker_died(w, "cancelled");
	else if (w->quitting && gone)
		remote_worker_fence(w, "not needed any more");
	else if (started || over)
		no_hello(w);
	else if (w->unlisted >= 2)
		not_listed(w);
}

static void check_silent(struct remote_worker *w, uint64_t now)
{
	struct remote *r = w->remote;
	uint64_t silent = clock_since(now, w->seen_ms);

	if (w->ended_ms && clock_since(now, w->ended_ms) > remote_ms(SETTLE_MS) &&
		clock_since(now, w->seen_ms) > remote_ms(SETTLE_MS)) {
		w->ended_job = true;
		remote_worker_died(w, w->state_word ? w->state_word : "ended");
		return;
	}
	if (w->fenced) {
		if (silent > remote_ms(DEAD_MS) &&
			clock_since(now, w->fenced_ms) > remote_ms(SETTLE_MS))
			remote_worker_died(w, w->why ? w->why : "silent");
		return;
	}
	if (w->means == BATCH_SUSPENDED)
		return;
	if (silent <= remote_ms(SILENT_MS))
		return;
	if (w->doubted >= DOUBTS_MAX || !r->table->status[0]) {
		remote_worker_fence(w, "silent, and the batch system does not vouch for it");
	} else if (w->means == BATCH_RUNNING && silent > remote_ms(HUNG_MS) &&
		   clock_since(w->answered_ms, w->seen_ms) > remote_ms(HUNG_MS)) {
		remote_worker_cancel(w);
		remote_worker_fence(w, "silent for too long");
	}
}

void remote_worker_answered(struct remote_worker *w, uint64_t now)
{
	bool vouched =
		w->means == BATCH_RUNNING || w->means == BATCH_SUSPENDED || w->means == BATCH_ENDED;

	w->answered_ms = now;
	if (vouched)
		w->doubted = 0;
	else if (clock_since(now, w->seen_ms) > remote_ms(SILENT_MS))
		w->doubted++;
}

static void check_adopting(struct remote_worker *w, uint64_t now)
{
	uint64_t wait = w->remote->x.network ? ADOPT_NETWORK_MS : ADOPT_MS;

	if (w->adopting && clock_since(now, w->asked_ms) > remote_ms(wait)) {
		w->adopting = false;
		w->seen_ms = MIN(w->seen_ms, now);
		w->quitting = true; /* it may live; it gets nothing new */
	}
}

static bool wants_status(struct remote *r, uint64_t now)
{
	uint64_t every = remote_ms(STATUS_MS);

	if (r->asking)
		return false;
	if (r->leaving) {
		every = r->asked_ending < ENDING_ASKS ? remote_ms(ENDING_MS) : every;
		if (!r->worker_count || clock_since(now, MAX(r->asked_ms, r->leaving_ms)) < every)
			return false;
		r->asked_ending++;
		return true;
	}
	if (clock_since(now, r->asked_ms) < every)
		return false;
	list_each (link, &r->workers) {
		const struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (w->state == WORKER_QUEUED && clock_since(now, w->asked_ms) >= every)
			return true;
		if (w->state == WORKER_ASKED && r->submit_failures)
			return true;
		if (w->state == WORKER_ALIVE &&
			(clock_since(now, w->seen_ms) > remote_ms(SILENT_MS) || w->ended_ms))
			return true;
	}
	return false;
}

static void beat(struct remote *r, uint64_t now)
{
	uint64_t epoch = 0, size = 0;

	if (clock_since(now, r->beat_ms) < remote_ms(BEAT_MS))
		return;
	r->beat_ms = now;
	if (exchange_epoch(&r->x, &epoch, &size) == 0 && epoch > r->epoch) {
		r->failed = true;
		r->superseded(r->data);
		return;
	}
	(void)exchange_file_append(&r->x, &r->beats, S("beat\n"), false);
}

static bool keeps_job(void *data, uint64_t id)
{
	struct remote *r = data;

	for (size_t i = 0; i < r->left_count; i++)
		if (r->left[i].in_doubt && r->left[i].worker_id == id)
			return true;
	list_each (link, &r->workers) {
		const struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (w->id == id)
			return !w->said_bye && w->hello_ms;
	}
	return false;
}

/* Jobs that no worker has are looked for when none lives any more. Whether that is under way. */
static bool looks_for_strays(struct remote *r)
{
	AUTO_BUF text = BUF_INIT;

	if (!r->strays || !r->table->status[0])
		return false;
	if (r->asking || clock_since(clock_mono_ms(), r->asked_ms) < remote_ms(ENDING_MS))
		return true;
	if (r->stray_asks++ < STRAY_ASKS) {
		remote_ask_status(r);
		return true;
	}
	r->strays = false;
	buf_printf(&text,
		"%.*s gives no answer: a job whose submission it has not answered may be left",
		STR(r->executor.name));
	remote_warn(r, buf_str(&text));
	return false;
}

/* Nothing is left: the exchange goes, except what people may want to look at. */
static void leave_done(struct remote *r)
{
	void (*swept)(void *data) = r->swept;

	if (!swept || r->worker_count || r->jobs_count || looks_for_strays(r) || r->cancelling)
		return;
	r->swept = NULL;
	timer_stop(&r->tick);
	if (!r->ends_left)
		exchange_remove(&r->x, keeps_job, r);
	swept(r->swept_data); /* may end everything */
}

/* One that was asked to leave and does not is cancelled. */
static void check_leaving(struct remote_worker *w, uint64_t now)
{
	const struct remote *r = w->remote;
	uint64_t patience = r->leaving == LEAVE_KILL ? 0 : r->grace_ms + BYE_MS;

	if (w->state == WORKER_ASKED && r->submitting != w)
		remote_worker_died(w, "cancelled");
	else if (w->state == WORKER_QUEUED || r->ends_left ||
		 clock_since(now, r->leaving_ms) > patience)
		remote_worker_cancel(w);
	if (w->cancelled && clock_since(now, w->cancelled_ms) > patience + BYE_MS)
		remote_worker_fence(w, "it does not leave");
}

void remote_leave(struct remote *r, enum leave_how how)
{
	static const enum order_kind orders[] = { [LEAVE_QUIT] = ORDER_QUIT,
		[LEAVE_CANCEL] = ORDER_CANCEL,
		[LEAVE_KILL] = ORDER_KILL_ALL };

	if (!r->leaving)
		r->leaving_ms = clock_mono_ms();
	r->leaving = MAX(r->leaving, how);
	list_each (link, &r->workers) {
		struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (w->state != WORKER_ALIVE || w->told_leave >= r->leaving)
			continue;
		w->told_leave = r->leaving;
		w->quitting = true;
		remote_order(w, &(struct order){ .kind = orders[r->leaving] });
	}
	remote_write_orders(r);
	timer_start(r->loop, &r->tick, 0);
}

void remote_tick(struct remote *r)
{
	uint64_t now = clock_mono_ms();

	beat(r, now);
	if (r->failed && !r->leaving)
		return;
	list_each_safe (link, &r->workers) {
		struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (w->state == WORKER_DEAD)
			continue;
		if (r->leaving)
			check_leaving(w, now);
		/* What it has said since the last look is not known. */
		check_adopting(w, w->looked_ms);
		if (w->state == WORKER_QUEUED)
			check_queued(w, w->looked_ms);
		else if (w->state == WORKER_ALIVE)
			check_silent(w, w->looked_ms);
	}
	if (wants_status(r, now))
		remote_ask_status(r);
	remote_give(r);
	remote_write_orders(r);
	remote_show(r, now);
	if (r->leaving)
		leave_done(r);
}

/* -- looking -------------------------------------------------------------------------------------
 */

/* Looks at its file if that is due and may be now. False: it has to wait for its turn. */
static bool look_at(struct remote_worker *w, uint64_t now)
{
	struct remote *r = w->remote;
	uint64_t most = w->given_count ? LOOK_BUSY_MS : LOOK_MAX_MS;

	if (w->look_at_ms > now)
		return true;
	if (!looks_take(&r->looked, now))
		return false;
	r->looked_last = &w->link;
	remote_hear(w);
	w->look_ms = w->look_ms ? MIN(w->look_ms * 3 / 2 + 1, most) : LOOK_MIN_MS;
	/* Changes of files here are told. */
	bool told = notify_is_open(&r->notify) && w->changes.wd >= 0;
	w->look_at_ms = now + (told ? LOOK_MAX_MS : w->look_ms);
	return true;
}

static void on_looks(struct timer *t)
{
	struct remote *r = container_of(t, struct remote, looks);
	uint64_t now = clock_mono_ms(), next = now + LOOK_MAX_MS;
	uint64_t soon = notify_is_open(&r->notify) ? 1 : LOOK_MIN_MS;
	struct list *last = r->looked_last, *link = last;
	unsigned late = 0;

	do {
		link = link->next;
		if (link == &r->workers)
			continue;
		struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (w->state == WORKER_DEAD)
			continue;
		if (!look_at(w, now))
			late++;
		else if (w->state != WORKER_DEAD)
			next = MIN(next, MAX(w->look_at_ms, now + soon));
	} while (link != last);
	/* Not for each of them by itself: there may be many to go through. */
	if (late)
		next = now + LOOK_EVERY_MS * MIN(late, (unsigned)LOOKS_AT_ONCE / 5);
	look_soon(r, next - now);
	if (r->leaving)
		timer_start(r->loop, &r->tick, 0);
}
