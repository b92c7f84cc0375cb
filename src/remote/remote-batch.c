/* Asking the batch system: for allocations, for the state of its jobs, to end them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "remote/remote-own.h"
#include "remote/submission.h"

enum {
	SUBMIT_MS = 1000, /* between two submissions */
	AGAIN_MS = 5000,  /* after the first that failed; doubles */
	PAUSE_MS = 60000,
	FULL_MS = 15000, /* every machine has a worker */
	SUBMIT_TRIES = 5,
};

/* -- submissions ---------------------------------------------------------------------------------
 */

static struct submission submission_of(const struct remote_worker *w, struct arena *a)
{
	const struct remote *r = w->remote;

	return (struct submission){ .run = r->run,
		.generation = r->generation,
		.id = arena_printf(a, "%" PRIu64, w->id),
		.dir = str_of(r->x.path),
		.roux = r->roux,
		.shape = &w->shape->shape };
}

/* The machine of a job that is called HOST:PID. */
static struct str host_of(const char *job)
{
	return str_sub(str_of(job), 0, str_find(str_of(job), ':', 0));
}

/* Its job is not known before ssh has answered, which the worker may be quicker than. */
static struct str machine_of(const struct remote_worker *w)
{
	return w->machine ? str_of(w->machine) : host_of(w->job);
}

static bool is_busy(const struct remote *r, struct str host)
{
	list_each (link, &r->workers) {
		const struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (w->state != WORKER_DEAD && str_eq(machine_of(w), host))
			return true;
	}
	return false;
}

/* The next machine that has no worker and is large enough for one of what waits. False: there is
 * none. */
static bool next_host(
	const struct remote *r, const struct remote_shape *s, size_t *at, struct str *host)
{
	uint64_t least = MIN(s->shape.cpus, r->table->shape.cpus);
	size_t count = 0;

	list_each (link, &s->ready)
		least = MIN(least, list_entry(link, struct remote_job, link)->load.cpus);
	while (r->table->hosts[count])
		count++;
	for (size_t i = 0; i < count; i++) {
		*at = (r->next_host + i) % count;
		if (table_host_slots(r->table, *at, host) >= least && !is_busy(r, *host))
			return true;
	}
	return false;
}

uint64_t remote_next_cpus(const struct remote *r, const struct remote_shape *s)
{
	struct str ignored;
	size_t at;

	return s->shape.nodes <= 1 && next_host(r, s, &at, &ignored)
		       ? table_host_slots(r->table, at, &ignored)
		       : s->shape.cpus;
}

/* A machine has as many slots as the settings say. A submission that failed may have been for
 * another one. */
static void take_slots(struct remote_worker *w)
{
	uint64_t cpus = remote_next_cpus(w->remote, w->shape);

	if (cpus == w->cpus)
		return;
	w->cpus = cpus;
	remote_order_allocation(w);
	remote_write_orders(w->remote);
}

/* What it printed, however many lines that was. */
static void add_in_one_line(struct buf *b, struct str lines)
{
	while (lines.len) {
		size_t end = str_find(lines, '\n', 0);

		buf_add(b, str_trim(str_sub(lines, 0, end)));
		lines = str_trim(str_from(lines, MIN(end + 1, lines.len)));
		if (lines.len)
			buf_adds(b, "; ");
	}
}

static void submitted_badly(struct remote *r, struct remote_worker *w, const struct batch_answer *a)
{
	AUTO_BUF text = BUF_INIT;
	uint64_t now = clock_mono_ms();
	bool alive = false;

	list_each (link, &r->workers)
		alive |= list_entry(link, struct remote_worker, link)->state == WORKER_ALIVE;
	r->submit_failures++;
	r->strays |= !a->unstarted; /* it may have been taken all the same */
	buf_printf(&text, "%.*s did not take a submission: ", STR(r->executor.name));
	if (a->late)
		buf_adds(&text, "no answer in 30 s");
	else if (str_trim(a->err).len)
		add_in_one_line(&text, str_trim(a->err));
	else
		buf_printf(&text,
			a->code || a->signal ? "exit status %d" : "it printed no job id (%d)",
			a->code);
	bool last = r->trial || a->unstarted || r->submit_failures >= SUBMIT_TRIES;
	if (!alive && last) {
		remote_worker_died(w, "refused");
		remote_fail(r, buf_str(&text),
			a->unstarted ? S("is this a machine of the batch system, with its programs "
					 "in PATH?")
				     : S(""));
		return;
	}
	if (alive || r->submit_failures == 1)
		remote_warn(r, buf_str(&text));
	/* The same directory and comment: should the first have been taken all the same, the first
	 * to start claims it and the other leaves. */
	w->asked_ms = now;
	remote_set(&w->machine, S(""));
	r->submit_at_ms = now + (alive ? remote_ms(PAUSE_MS)
				       : remote_ms((uint64_t)AGAIN_MS << (r->submit_failures - 1)));
	r->submitting = NULL;
}

void remote_worker_job(struct remote_worker *w, struct str id)
{
	char name[64];

	if (w->job && str_eq(str_of(w->job), id) && w->job_kept)
		return;
	w->remote->strays |= w->job && !str_eq(str_of(w->job), id);
	remote_set(&w->job, id);
	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/job", w->id);
	w->job_kept = exchange_write(&w->remote->x, name, id) == 0;
}

static void on_submitted(void *data, const struct batch_answer *a)
{
	struct remote_worker *w = data;
	struct remote *r = w->remote;
	struct str id = a->ok ? table_job_id(a->out) : S("");

	if (w->state == WORKER_DEAD)
		return;
	if (w->state == WORKER_ALIVE || w->state == WORKER_QUEUED) {
		/* It has said hello meanwhile, or is listed: perhaps of an earlier submission. */
		if (id.len && !w->job)
			remote_worker_job(w, id);
		r->strays |= id.len && !str_eq(str_of(w->job), id);
		r->submitting = r->submitting == w ? NULL : r->submitting;
		return;
	}
	if (!id.len) {
		submitted_badly(r, w, a);
		remote_wake(r);
		return;
	}
	remote_worker_job(w, id);
	w->state = WORKER_QUEUED;
	if (!r->table->status[0]) { /* it does not wait for an allocation */
		w->means = BATCH_RUNNING;
		w->running_ms = clock_mono_ms();
	}
	r->submitting = NULL;
	r->submit_failures = 0;
	r->submit_at_ms = clock_mono_ms() + remote_ms(SUBMIT_MS);
	remote_tell_worker(w, EVENT_WORKER_SUBMIT, NULL);
	if (r->leaving)
		remote_leave(r, r->leaving);
	remote_wake(r);
}

static void submit(struct remote *r, struct remote_worker *w)
{
	AUTO_REPORT report = REPORT_INIT;
	struct arena a = ARENA_INIT;
	struct shape shape = w->shape->shape;
	struct str host = S("");
	bool hosts = r->table->hosts[0];
	size_t at = 0;

	if (hosts && !next_host(r, w->shape, &at, &host)) { /* every machine has one */
		r->submit_at_ms = clock_mono_ms() + remote_ms(FULL_MS);
		arena_done(&a);
		return;
	}
	take_slots(w);
	remote_set(&w->machine, host);
	r->next_host = at + 1;
	struct submission s = submission_of(w, &a);
	shape.cpus = w->cpus;
	s.shape = &shape;
	s.host = str_of(arena_cstr(&a, host));
	const char *const *argv = submission_words(r->table, &s, &a, &report);
	r->submitting = w;
	if (argv && argv[0])
		batch_run(r->batch, argv, on_submitted, w);
	else
		remote_fail(r,
			report.issues.len ? report.issues.at[0].message : S("`submit` is empty"),
			S(""));
	arena_done(&a);
}

void remote_submit(struct remote *r, struct remote_shape *s)
{
	AUTO_BUF script = BUF_INIT;
	struct remote_worker *w = NULL;

	list_each (link, &r->workers) {
		struct remote_worker *asked = list_entry(link, struct remote_worker, link);

		if (asked->shape == s && asked->state == WORKER_ASKED)
			w = asked;
	}
	if (!w) {
		uint64_t id = ++r->next_worker;
		char text[32];

		(void)snprintf(text, sizeof(text), "%" PRIu64, id);
		submission_script(
			&(struct submission){
				.id = str_of(text), .dir = str_of(r->x.path), .roux = r->roux },
			&script);
		int n = exchange_worker_make(&r->x, id, r->epoch, buf_str(&script));
		if (n < 0) {
			buf_reset(&script);
			buf_printf(&script, "cannot write to %s: %s", r->x.path, strerror(-n));
			remote_fail(r, buf_str(&script), S("make room there, then resume the run"));
			return;
		}
		w = remote_worker_new(r, id, s, remote_next_cpus(r, s));
		remote_write_orders(r);
	}
	submit(r, w);
}

/* -- cancelling ----------------------------------------------------------------------------------
 */

/* Whether it helped, `status` tells; or the machine, where it is asked itself. */
static void on_cancelled(void *data, const struct batch_answer *a)
{
	struct remote_worker *w = data;

	w->remote->cancelling--;
	if (!a->ok || w->ended_ms || !table_ends_by_cancel(w->remote->table))
		return;
	w->found_dead = str_eq(str_trim(a->out), S("gone"));
	w->ended_ms = clock_mono_ms();
	remote_set(&w->state_word, str_trim(a->out));
}

static void on_stray_cancelled(void *data, const struct batch_answer *a)
{
	struct remote *r = data;

	(void)a;
	r->cancelling--;
}

static struct remote_worker *worker_with(struct remote *r, struct str job)
{
	list_each (link, &r->workers) {
		struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (w->job && str_eq(str_of(w->job), job))
			return w;
	}
	return NULL;
}

static bool cancel_told(struct remote *r, const char *job, batch_fn *done, void *data)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct arena a = ARENA_INIT;
	const struct remote_worker *w = worker_with(r, str_of(job));
	const char *dir = w ? arena_printf(&a, "%s/w/%" PRIu64, r->x.path, w->id).p : r->x.path;
	const char *const *argv = table_words(r->table, WORDS_CANCEL,
		&(struct table_values){ .name = r->name.p,
			.comment = "",
			.log = "",
			.script = "",
			.host = r->table->hosts[0] ? arena_cstr(&a, host_of(job)) : "",
			.roux = r->roux.p,
			.dir = dir,
			.shape = w ? &w->shape->shape : NULL,
			.jobs = (const char *const[]){ job, NULL } },
		&a, &ignored);

	bool ok = argv && argv[0];
	if (ok)
		batch_run(r->batch, argv, done, data);
	arena_done(&a);
	return ok;
}

static void cancel_job(struct remote *r, struct str job)
{
	r->cancelling += cancel_told(r, arena_cstr(&r->arena, job), on_stray_cancelled, r);
}

void remote_cancel_told(struct remote *r, const char *job, batch_fn *done, void *data)
{
	if (!cancel_told(r, job, done, data))
		done(data, &(struct batch_answer){ .out = S(""), .err = S("it has no words") });
}

void remote_worker_cancel(struct remote_worker *w)
{
	if (!w->job || w->cancelled)
		return;
	w->cancelled = true;
	w->cancelled_ms = clock_mono_ms();
	w->remote->cancelling += cancel_told(w->remote, w->job, on_cancelled, w);
}

/* -- the batch system's word ---------------------------------------------------------------------
 */

/* Whose directory a job was submitted for, by its comment; *own: this run did that. */
static struct remote_worker *worker_named(struct remote *r, struct str comment, bool *own)
{
	AUTO_BUF begin = BUF_INIT;
	uint64_t id = 0;

	buf_printf(&begin, "roux %.*s %.*s w", STR(r->run), STR(r->generation));
	*own = str_starts(comment, buf_str(&begin));
	if (!*own || !str_to_uint(str_from(comment, begin.len), &id))
		return NULL;
	list_each (link, &r->workers) {
		struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (w->id == id)
			return w;
	}
	return NULL;
}

static void tell_nameless(struct remote *r)
{
	AUTO_BUF text = BUF_INIT;

	r->told_nameless = true;
	buf_printf(&text,
		"`status` of %.*s lists jobs without a comment: one of this run that no worker has "
		"is not known by it and is not cancelled",
		STR(r->executor.name));
	remote_warn(r, buf_str(&text));
}

/* One that is not a worker's: of an answer that was lost, or an earlier driver. */
static void see_stray(
	struct remote *r, const struct remote_worker *named, bool own, const struct table_job *job)
{
	/* While its worker lives, another of the same directory leaves by itself. */
	bool given_up = named ? named->state == WORKER_DEAD : own && r->resumed;

	if (job->means == BATCH_ENDED)
		return;
	if (given_up)
		cancel_job(r, job->id);
	else if (!job->comment.len && (r->resumed || r->strays) && !r->told_nameless)
		tell_nameless(r);
}

static void see_job(void *data, const struct table_job *job)
{
	struct remote *r = data;
	struct remote_worker *w = worker_with(r, job->id);
	bool own = false;

	if (!w) {
		struct remote_worker *named = worker_named(r, job->comment, &own);

		/* One that has ended says nothing about a worker that is asked for. */
		if (!named || named->job || named->state == WORKER_DEAD ||
			job->means == BATCH_ENDED) {
			see_stray(r, named, own, job);
			return;
		}
		w = named;
		remote_worker_job(w, job->id);
		if (w->state == WORKER_ASKED) {
			w->state = WORKER_QUEUED;
			r->submitting = r->submitting == w ? NULL : r->submitting;
			remote_tell_worker(w, EVENT_WORKER_SUBMIT, NULL);
		}
	}
	if (w->state == WORKER_DEAD) {
		/* It was given up and has not left. */
		if (!w->said_bye && job->means != BATCH_ENDED)
			remote_worker_cancel(w);
		return;
	}
	w->unlisted = 0;
	w->means = job->means;
	remote_set(&w->state_word, job->state);
	remote_set(&w->reason, job->reason);
	if (w->means == BATCH_RUNNING && !w->running_ms)
		w->running_ms = clock_mono_ms();
	if (w->means == BATCH_ENDED && !w->ended_ms)
		w->ended_ms = clock_mono_ms();
	if (w->means != BATCH_ENDED)
		w->ended_ms = 0;
}

static void tell_cut(struct remote *r)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text,
		"what `status` of %.*s prints is longer than 1 MiB and is not looked at; it should "
		"list only the jobs of {name}",
		STR(r->executor.name));
	remote_warn(r, buf_str(&text));
}

static void on_status(void *data, const struct batch_answer *a)
{
	struct remote *r = data;
	uint64_t now = clock_mono_ms();

	r->asking = false;
	if (a->cut && !r->told_cut) {
		r->told_cut = true;
		tell_cut(r);
	}
	if (!a->ok)
		return; /* an error is not an answer, and half of one neither */
	list_each (link, &r->workers) {
		struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (w->state != WORKER_DEAD && w->state != WORKER_ASKED)
			w->unlisted++;
	}
	table_jobs(r->table, a->out, see_job, r);
	if (r->leaving && !r->worker_count)
		r->strays = false;
	list_each (link, &r->workers) {
		struct remote_worker *w = list_entry(link, struct remote_worker, link);

		if (w->unlisted)
			w->means = BATCH_UNSURE;
		if (w->state == WORKER_ALIVE)
			remote_worker_answered(w, now);
	}
}

void remote_ask_status(struct remote *r)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct arena a = ARENA_INIT;
	const char *const *argv = table_words(r->table, WORDS_STATUS,
		&(struct table_values){ .name = r->name.p,
			.comment = "",
			.log = "",
			.script = "",
			.host = "",
			.roux = r->roux.p,
			.dir = r->x.path },
		&a, &ignored);

	r->asked_ms = clock_mono_ms();
	if (argv && argv[0]) {
		r->asking = true;
		batch_run(r->batch, argv, on_status, r);
	}
	arena_done(&a);
}
