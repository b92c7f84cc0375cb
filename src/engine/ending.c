#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "engine/frame.h"

/* How a run ends: by itself, or because it is stopped; and what is said of it then.
 *
 *   EXECUTING ─root has ended─┬─────────────────────────────────────────────────> ENDED
 *                             ├─its input is its output─> COLLECTING ─┬─────────> ENDED
 *                             └─it was stopped─> SWEEPING <───────────┴─stopped─┐
 *                                                    └──────────────────────────> ENDED
 */

/* -- what it came to -----------------------------------------------------------------------------
 */

/* One sentence that says why. */
static void explain(struct run *r)
{
	const struct failures *f = &r->failures;
	const struct run_result *res = &r->result;
	struct ending *e = &r->ending;
	const struct outcome *o = &e->outcome;
	struct buf *b = &e->error;

	if (res->status == RUN_DENIED) {
		buf_printf(b, "stage '%.*s' was denied", STR(res->gate));
	} else if (res->status == RUN_CANCELLED || res->status == RUN_KILLED) {
		buf_printf(b, "the run was %s", status_name((enum roux_status)res->status));
		if (res->signal)
			buf_printf(b, " by signal %d", res->signal);
	} else if (r->issues.errors) {
		vec_each (i, &r->issues.issues)
			if (issue_is_error(i)) {
				buf_add(b, i->message);
				break;
			}
	} else if (res->status == RUN_TIMEOUT) {
		buf_printf(b, "the time limit of the run ran out");
	} else if (o->failure > f->kept.len) {
		buf_add(&e->failed_path, failures_path(f, o->failure));
		buf_printf(b, "node %s failed with code %d", buf_cstr(&e->failed_path), res->code);
	} else if (o->failure) {
		const struct failure *why = &f->kept.at[o->failure - 1];

		buf_add(&e->failed_path, why->path);
		if (why->lost) {
			/* Its standard error says with what. */
			buf_printf(
				b, "node %.*s was %.*s", STR(why->path), STR(str_trim(why->err)));
			return;
		}
		buf_printf(b, "node %.*s %s %d: ", STR(why->path),
			why->timeout ? "ran out of time, code" : "failed with code", why->code);
		utf8_add_short(b, why->command, utf8_head(why->command, 100).len);
	} else if (o->timed_out && e->limit_path.len) {
		buf_printf(b, "the time limit of node %s ran out", buf_cstr(&e->limit_path));
	} else {
		buf_printf(b, o->timed_out ? "a time limit ran out" : "the run failed with code %d",
			res->code);
	}
}

static bool went_well(enum run_status status)
{
	return status == RUN_DONE || status == RUN_PARTIAL || status == RUN_PAUSED;
}

static enum run_status status_of(const struct run *r)
{
	const struct ending *e = &r->ending;

	if (e->stop.status)
		return e->stop.status;
	if (e->outcome.ok)
		return e->outcome.partial ? RUN_PARTIAL : RUN_DONE;
	return e->timed_out ? RUN_TIMEOUT : RUN_FAILED;
}

static void explain_failure(struct run *r)
{
	struct run_result *res = &r->result;
	struct ending *e = &r->ending;

	res->code = res->code ? res->code : 1;
	explain(r);
	res->error = buf_cstr(&e->error);
	res->failed = buf_str(e->failed_path.len ? &e->failed_path : &e->limit_path);
	if (e->outcome.retried)
		res->retried = buf_str(&e->retried_path);
}

/* What is kept of a standard input that was not read to its end. */
static void tell_input(struct run *r)
{
	struct recorder *recorder = r->options.recorder;
	uint64_t bytes;

	if (!r->live || !r->live_kept || r->live_complete)
		return;
	bool enough = live_taken(r->live, &bytes);
	if (enough && live_had_all(r->live, bytes))
		recorder->ops->input_complete(recorder);
	else
		recorder->ops->input_taken(recorder, bytes, enough);
	r->result.input_cut = !enough;
}

static void conclude(struct run *r)
{
	struct run_result *res = &r->result;
	struct outcome *o = &r->ending.outcome;

	r->ending.phase = PHASE_ENDED;
	tell_input(r);
	res->ms = clock_mono_ms() - r->began_ms;
	res->code = o->ok ? 0 : o->code;
	res->signal = r->ending.stop.signal;
	res->tally = r->ending.only ? o->tally : r->failures.tally;
	res->joins = &o->joins;
	res->failures = &r->failures;
	res->issues = &r->issues;
	res->status = status_of(r);
	if ((res->status == RUN_DONE || res->status == RUN_PARTIAL) && r->options.verify &&
		!r->options.verify(r->options.ended_data, &r->issues))
		res->status = RUN_FAILED;
	if (r->dialect->conclude)
		r->dialect->conclude(r);
	if (res->status == RUN_PAUSED)
		res->code = 0;
	if (!went_well(res->status))
		explain_failure(r);
	if (r->ending.only)
		failures_keep_only(&r->failures, o->tally);
	if (r->dialect->tell_run)
		r->dialect->tell_run(r, false);
	run_emit(r, &(struct event){
			    .kind = went_well(res->status) ? EVENT_RUN_DONE : EVENT_RUN_FAILED,
			    .result = { .status = status_str((enum roux_status)res->status),
				    .error = str_of(res->error),
				    .code = res->code },
		    });
	if (r->options.ended)
		r->options.ended(r->options.ended_data); /* may free `r` */
}

/* -- phases --------------------------------------------------------------------------------------
 */

static void swept(void *data)
{
	struct run *r = data;

	if (--r->ending.sweeps == 0)
		conclude(r);
}

static void sweep(struct run *r, enum sweep how)
{
	pools_each (p, &r->schedule)
		if (p != r->schedule.pools || !r->ending.leaving || r->options.leaves_nothing)
			p->executor->ops->sweep(p->executor, how, swept, r);
}

/* A run that was stopped leaves no process behind, also none that a command left on purpose; nor
 * does one that waits for an answer, which nothing of the run may give. */
static void end_all(struct run *r)
{
	const struct stop *stop = &r->ending.stop;

	r->ending.phase = PHASE_SWEEPING;
	r->ending.sweeps = r->schedule.pool_count;
	sweep(r, stop->status == RUN_KILLED || stop->hurry ? SWEEP_KILL
		 : stop->status == RUN_PAUSED              ? SWEEP_PAUSE
							   : SWEEP_ASK);
}

/* It has come to its end: what other executors than this machine hold for it is let go. */
static void leave(struct run *r)
{
	size_t sweeps = r->schedule.pool_count - !r->options.leaves_nothing;

	if (!sweeps) {
		conclude(r);
		return;
	}
	r->ending.phase = PHASE_SWEEPING;
	r->ending.leaving = true;
	r->ending.sweeps = sweeps;
	sweep(r, SWEEP_LEAVE);
}

/* Everything was skipped: the run's own input is its output. */
static void collect(struct run *r)
{
	if (!r->live)
		r->live = live_new(r->loop, r->options.stdin_fd, -1, &r->input);
	r->ending.phase = PHASE_COLLECTING;
	live_collect(r->live);
}

void ending_turned(struct schedule *s)
{
	struct run *r = container_of(s, struct run, schedule);
	const struct ending *e = &r->ending;

	if (r->root || e->phase != PHASE_EXECUTING)
		return;
	if (e->stop.status && e->stop.status != RUN_DENIED)
		end_all(r);
	else if (!e->stop.status && e->outcome.ok && e->outcome.unread)
		collect(r);
	else
		leave(r);
}

void ending_collected(struct run *r, bool ok)
{
	if (r->ending.phase != PHASE_COLLECTING)
		return;
	if (!ok) {
		end_all(r);
		return;
	}
	r->ending.outcome.out = live_content(r->live);
	leave(r);
}

void ending_done(struct ending *e)
{
	outcome_done(&e->outcome);
	buf_done(&e->error);
	buf_done(&e->limit_path);
	buf_done(&e->failed_path);
	buf_done(&e->retried_path);
}

/* -- stopping ------------------------------------------------------------------------------------
 */

static void stop_all(struct run *r)
{
	if (r->root)
		frame_halt(r->root, true);
	pools_each (p, &r->schedule)
		p->executor->ops->stop_all(p->executor);
	schedule_wake(&r->schedule);
}

static void stop_gently(struct run *r, enum run_status status)
{
	r->ending.stop = (struct stop){ .status = status, .gentle = true };
	if (status == RUN_CANCELLED)
		run_emit(r, &(struct event){ .kind = EVENT_RUN_CANCEL });
	if (r->root)
		frame_halt(r->root, false);
	schedule_wake(&r->schedule);
}

void run_stop(struct run *r, enum run_status status)
{
	if (!run_stopping(r))
		stop_gently(r, status);
}

void run_fail(struct run *r, enum run_status status)
{
	if (run_stopping(r))
		return;
	r->ending.stop.status = status;
	stop_all(r);
}

void run_abort(struct run *r, const char *what, int error)
{
	if (r->ending.stop.status != RUN_FAILED)
		report_system(&r->issues, (struct where){ 0 }, "%s: %s", what, strerror(error));
	run_fail(r, RUN_FAILED);
}

void run_cancel_gently(struct run *r)
{
	if (!run_stopping(r) && r->ending.phase == PHASE_EXECUTING)
		stop_gently(r, RUN_CANCELLED);
}

void run_cancel(struct run *r, int signal)
{
	struct ending *e = &r->ending;

	/* Where running commands may finish, a second order may end them. */
	if (run_stopping(r) && !e->stop.gentle)
		return;
	if (e->phase != PHASE_EXECUTING && e->phase != PHASE_COLLECTING)
		return;
	e->stop.status = RUN_CANCELLED;
	e->stop.signal = signal;
	e->stop.gentle = false;
	run_emit(r, &(struct event){ .kind = EVENT_RUN_CANCEL, .signal = signal });
	stop_all(r);
	if (e->phase == PHASE_COLLECTING)
		end_all(r);
}

void run_kill(struct run *r, int signal)
{
	struct stop *stop = &r->ending.stop;

	if (r->ending.phase == PHASE_ENDED || stop->hurry)
		return;
	stop->hurry = true;
	if (r->ending.leaving) {
		sweep(r, SWEEP_KILL);
		return;
	}
	/* After a signal that cancelled it, it stays cancelled. An order to kill is one. */
	if (!stop->status || (stop->status == RUN_CANCELLED && !signal)) {
		bool first = !stop->status || stop->gentle;

		stop->status = RUN_KILLED;
		stop->signal = signal;
		run_emit(r, &(struct event){ .kind = EVENT_RUN_KILL, .signal = signal });
		if (first)
			stop_all(r);
	}
	if (r->root)
		frame_kill(r->root);
	if (r->ending.phase == PHASE_COLLECTING)
		end_all(r);
	else if (r->ending.phase == PHASE_SWEEPING)
		sweep(r, SWEEP_KILL);
}
