#include "engine/run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "engine/frame.h"
#include "engine/steps.h"

/* -- events --------------------------------------------------------------------------------------
 */

void run_emit(struct run *r, struct event *e)
{
	if (!r->options.listen)
		return;
	if (event_name(e->kind))
		e->seq = ++r->seq;
	e->time_ms = clock_real_ms();
	e->mono_ms = clock_mono_ms();
	r->options.listen(r->options.listen_data, e);
}

void run_emit_frame(struct run *r, struct event *e, const struct frame *f)
{
	AUTO_BUF path = BUF_INIT;

	if (!r->options.listen)
		return;
	frame_path(f, &path);
	e->path = buf_str(&path);
	e->node = f->node;
	e->label = f->node->label;
	run_emit(r, e);
}

static void finish(struct run *r);
static void end_all(struct run *r);

static void on_turned(struct schedule *s)
{
	struct run *r = container_of(s, struct run, schedule);

	if (!r->root)
		finish(r);
}

/* -- the end -------------------------------------------------------------------------------------
 */

/* One sentence that says why. */
static void explain(struct run *r)
{
	const struct failures *f = &r->failures;
	const struct run_result *res = &r->result;
	const struct outcome *o = &r->outcome;
	struct buf *b = &r->error;

	if (res->status == RUN_DENIED) {
		buf_printf(b, "stage '%.*s' was denied", STR(res->gate));
	} else if (res->status == RUN_CANCELLED || res->status == RUN_KILLED) {
		buf_printf(b, "the run was %s", status_name((enum roux_status)res->status));
		if (res->signal)
			buf_printf(b, " by signal %d", res->signal);
	} else if (r->issues.errors) {
		vec_each (i, &r->issues.issues)
			if (i->kind != ISSUE_WARNING) {
				buf_add(b, i->message);
				break;
			}
	} else if (res->status == RUN_TIMEOUT) {
		buf_printf(b, "the time limit of the run ran out");
	} else if (o->failure > f->kept.len) {
		buf_add(&r->failed_path, failures_path(f, o->failure));
		buf_printf(b, "node %s failed with code %d", buf_cstr(&r->failed_path), res->code);
	} else if (o->failure) {
		const struct failure *why = &f->kept.at[o->failure - 1];

		buf_add(&r->failed_path, why->path);
		buf_printf(b, "node %.*s %s %d: ", STR(why->path),
			why->timeout ? "ran out of time, code" : "failed with code", why->code);
		buf_add(b, utf8_head(why->command, 100));
	} else if (o->timed_out && r->limit_path.len) {
		buf_printf(b, "the time limit of node %s ran out", buf_cstr(&r->limit_path));
	} else {
		buf_printf(b, o->timed_out ? "a time limit ran out" : "the run failed with code %d",
			res->code);
	}
}

static bool went_well(enum run_status status)
{
	return status == RUN_DONE || status == RUN_PARTIAL || status == RUN_PAUSED;
}

static void conclude_steps(struct run *r)
{
	struct run_result *res = &r->result;
	bool over = res->status == RUN_DONE || res->status == RUN_PARTIAL;

	/* One node alone: what it gave, and if nobody wanted that, what it printed. */
	if (over && r->only_ended && (!r->outcome.value || json_is_null(r->outcome.value)))
		return;
	content_unref(r->outcome.out);
	r->outcome.out = over ? step_output(r) : NULL;
}

static void conclude(struct run *r)
{
	struct run_result *res = &r->result;
	struct outcome *o = &r->outcome;

	res->ms = clock_mono_ms() - r->began_ms;
	res->code = o->ok ? 0 : o->code;
	res->untolerated = o->untolerated;
	res->joins = &o->joins;
	res->failures = &r->failures;
	res->issues = &r->issues;
	if (r->stopping)
		res->status = r->stopping;
	else if (o->ok)
		res->status = o->partial ? RUN_PARTIAL : RUN_DONE;
	else
		res->status = r->root_timed_out ? RUN_TIMEOUT : RUN_FAILED;
	if ((res->status == RUN_DONE || res->status == RUN_PARTIAL) && r->options.verify &&
		!r->options.verify(r->options.ended_data, &r->issues))
		res->status = RUN_FAILED;
	if (r->plan->graph->steps)
		conclude_steps(r);
	if (res->status == RUN_PAUSED)
		res->code = 0;
	if (!went_well(res->status)) {
		res->code = res->code ? res->code : 1;
		explain(r);
		res->error = buf_cstr(&r->error);
		res->failed =
			r->failed_path.len ? buf_str(&r->failed_path) : buf_str(&r->limit_path);
		if (o->retried)
			res->retried = buf_str(&r->retried_path);
	}
	if (r->plan->graph->steps)
		step_tell_run(r, false);
	run_emit(r, &(struct event){
			    .kind = went_well(res->status) ? EVENT_RUN_DONE : EVENT_RUN_FAILED,
			    .result = { .status = status_str((enum roux_status)res->status),
				    .error = str_of(res->error),
				    .code = res->code },
		    });
	if (r->options.ended)
		r->options.ended(r->options.ended_data); /* may free `r` */
}

static void swept(void *data)
{
	struct run *r = data;

	if (--r->sweeps)
		return;
	r->sweeping = false;
	conclude(r);
}

/* The run's own input could not be kept: those who read it did not get all of it. */
static void on_input_failed(struct live_owner *o, int error)
{
	struct run *r = container_of(o, struct run, input);

	report_system(&r->issues, (struct where){ 0 }, "cannot keep the standard input: %s",
		strerror(error));
	report_hint(&r->issues, "set TMPDIR to a directory with room");
	run_fail(r, RUN_FAILED);
	if (r->collecting)
		end_all(r);
}

static void on_input_complete(struct live_owner *o)
{
	struct run *r = container_of(o, struct run, input);

	if (r->options.recorder)
		r->options.recorder->ops->input_complete(r->options.recorder);
}

static void on_input_collected(struct live_owner *o)
{
	struct run *r = container_of(o, struct run, input);

	list_each_safe (link, &r->taking)
		frame_take_input(list_entry(link, struct frame, slot));
	if (!r->collecting)
		return;
	r->collecting = false;
	r->outcome.out = live_content(r->live);
	conclude(r);
}

static void sweep(struct run *r, bool at_once)
{
	pools_each (p, &r->schedule)
		p->executor->ops->sweep(p->executor, at_once, swept, r);
}

static void end_all(struct run *r)
{
	r->collecting = false;
	r->sweeping = true;
	r->sweeps = r->schedule.pool_count;
	sweep(r, r->stopping == RUN_KILLED || r->hurry);
}

static void finish(struct run *r)
{
	if (r->finished)
		return;
	r->finished = true;
	/* A run that was ended leaves nobody behind, also not what earlier commands left on
	 * purpose. */
	if (r->stopping == RUN_PAUSED || r->stopping == RUN_DENIED) {
		conclude(r);
	} else if (r->stopping) {
		end_all(r);
	} else if (r->outcome.ok && r->outcome.live) {
		/* Everything was skipped: the run's own input is its output. */
		if (!r->live)
			r->live = live_new(r->loop, r->options.stdin_fd, -1, &r->input);
		r->collecting = true;
		live_collect(r->live);
	} else {
		conclude(r);
	}
}

static void stop_all(struct run *r)
{
	if (r->root)
		frame_halt(r->root, true);
	pools_each (p, &r->schedule)
		p->executor->ops->stop_all(p->executor);
	schedule_wake(&r->schedule);
}

void run_stop(struct run *r, enum run_status status)
{
	if (r->stopping)
		return;
	r->stopping = status;
	r->gentle = true;
	frame_halt(r->root, false);
	schedule_wake(&r->schedule);
}

void run_fail(struct run *r, enum run_status status)
{
	if (r->stopping)
		return;
	r->stopping = status;
	stop_all(r);
}

void run_told(struct run *r, struct str id, uint64_t bytes)
{
	run_emit(r, &(struct event){ .kind = EVENT_RUN_MESSAGE, .message = { id, bytes } });
}

void run_abort(struct run *r, const char *what, int error)
{
	if (r->stopping != RUN_FAILED)
		report_system(&r->issues, (struct where){ 0 }, "%s: %s", what, strerror(error));
	run_fail(r, RUN_FAILED);
}

void run_set_grace(struct run *r, uint64_t grace_ms)
{
	pools_each (p, &r->schedule)
		p->executor->ops->set_grace(p->executor, grace_ms);
}

void run_pause(struct run *r, bool on)
{
	pools_each (p, &r->schedule)
		p->executor->ops->pause(p->executor, on);
}

void run_cancel_gently(struct run *r)
{
	if (r->stopping || r->finished)
		return;
	r->stopping = RUN_CANCELLED;
	r->gentle = true;
	run_emit(r, &(struct event){ .kind = EVENT_RUN_CANCEL });
	if (r->root)
		frame_halt(r->root, false);
	schedule_wake(&r->schedule);
}

void run_cancel(struct run *r, int signal)
{
	/* Where running commands may finish, somebody can still lose patience. */
	if ((r->stopping && !r->gentle) || (r->finished && !r->collecting))
		return;
	r->stopping = RUN_CANCELLED;
	r->gentle = false;
	r->result.signal = signal;
	run_emit(r, &(struct event){ .kind = EVENT_RUN_CANCEL, .signal = signal });
	stop_all(r);
	if (r->collecting)
		end_all(r);
}

static void kill_below(struct frame *f)
{
	list_each_safe (link, &f->active)
		kill_below(list_entry(link, struct frame, link));
	if (f->job)
		job_kill(f->job);
}

void run_kill(struct run *r, int signal)
{
	if (r->result.status != RUN_RUNNING || r->hurry)
		return;
	r->hurry = true;
	/* After a signal that cancelled it, it stays cancelled. An order to kill is one. */
	if (!r->stopping || (r->stopping == RUN_CANCELLED && !signal)) {
		bool first = !r->stopping || r->gentle;

		r->stopping = RUN_KILLED;
		r->result.signal = signal;
		run_emit(r, &(struct event){ .kind = EVENT_RUN_KILL, .signal = signal });
		if (first)
			stop_all(r);
	}
	if (r->root)
		kill_below(r->root);
	if (r->collecting)
		end_all(r);
	else if (r->sweeping)
		sweep(r, true);
}

void run_free(struct run *r)
{
	if (!r)
		return;
	outcome_done(&r->outcome);
	live_free(r->live);
	schedule_done(&r->schedule);
	failures_done(&r->failures);
	report_done(&r->issues);
	buf_done(&r->error);
	timer_stop(&r->pace_timer);
	json_decref(r->step_list);
	json_decref(r->skipped);
	json_decref(r->rounds);
	buf_done(&r->gate);
	buf_done(&r->gate_prompt);
	buf_done(&r->limit_path);
	buf_done(&r->failed_path);
	buf_done(&r->retried_path);
	store_done(&r->store);
	plan_unref(r->plan);
	free(r);
}

const struct run_result *run_result(const struct run *r)
{
	return &r->result;
}

struct content *run_output(struct run *r)
{
	return r->result.status == RUN_DONE || r->result.status == RUN_PARTIAL ? r->outcome.out
									       : NULL;
}

/* -- the beginning -------------------------------------------------------------------------------
 */

/* Whether more than one command may read the run's input: branches, or a second attempt. *taken: a
 * command takes it for certain, so nobody after it does. */
static bool input_shared(const struct node *n, bool *taken)
{
	*taken = !n->child_count;
	if (node_joins(n) || n->retry.text || n->retry.value > 1)
		return true;
	for (size_t i = 0; i < n->child_count && !*taken; i++)
		if (input_shared(n->children[i], taken))
			return true;
	if (n->when || !n->runs)
		*taken = false;
	return false;
}

/* Standard input: nothing, a file that everybody can open, or something that is still coming. */
static struct content *open_input(struct run *r, bool *live)
{
	int fd = r->plan->graph->steps ? -1 : r->options.stdin_fd;
	/* What a resumed run reads has been kept already. */
	bool keep = r->options.recorder && !r->options.seq;
	struct stat st;

	*live = false;
	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
		return NULL; /* /dev/null */
	bool taken;
	if (!keep && !input_shared(r->plan->graph->root, &taken)) {
		*live = true;
		return NULL;
	}
	off_t at = S_ISREG(st.st_mode) && !keep ? lseek(fd, 0, SEEK_CUR) : -1;
	if (at >= 0 && at <= st.st_size) {
		int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);

		if (own >= 0)
			return content_from_fd(own, at, (uint64_t)(st.st_size - at));
	}
	*live = true;
	int file = keep ? r->options.recorder->ops->keep_input(r->options.recorder) : -1;
	if (file < -1)
		run_abort(r, "cannot keep the standard input", -file);
	r->live = live_new(r->loop, fd, MAX(file, -1), &r->input);
	return NULL;
}

static unsigned job_limit(const struct run_options *o)
{
	return o->jobs ? o->jobs : (unsigned)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L);
}

static void start_steps(struct run *r)
{
	const struct step_graph *g = r->plan->graph->steps;

	r->scope.vars = r->options.vars;
	r->step_list = json_array();
	r->skipped = json_array();
	r->rounds = json_object();
	r->result.vars = r->options.vars;
	r->result.steps = r->step_list;
	r->result.skipped = r->skipped;
	r->result.rounds = r->rounds;
	r->first_call = (struct step_call){ .graph = r->plan->graph,
		.vars = r->options.vars,
		.dir = g->dir,
		.depth = 1,
		.max_depth = g->max_depth,
		.max_agents = g->max_agents };
}

struct run *run_start(struct loop *l, struct plan *p, const struct run_options *o)
{
	struct run *r = mem_new(struct run);
	bool live;

	r->loop = l;
	r->plan = plan_ref(p);
	r->options = *o;
	r->store = STORE_INIT;
	schedule_init(&r->schedule, l, o->executors, o->executor_count, job_limit(o));
	r->schedule.turned = on_turned;
	pools_each (pool, &r->schedule)
		pool->executor->store = &r->store;
	r->began_ms = clock_mono_ms();
	r->seq = o->seq;
	r->executing = !o->seq;
	r->input = (struct live_owner){ .failed = on_input_failed,
		.complete = on_input_complete,
		.collected = on_input_collected };
	list_init(&r->taking);
	list_init(&r->paced);
	r->scope = p->scope;
	if (p->graph->steps)
		start_steps(r);
	run_emit(r, &(struct event){
			    .kind = EVENT_RUN_START, .run = { str_of(o->id), (int)getpid() } });
	if (p->graph->steps)
		step_tell_run(r, true);
	struct content *in = open_input(r, &live);
	r->root = frame_new(r, NULL, p->graph->root, FRAME_CHILD, 0, in, live);
	content_unref(in);
	schedule_call(r->root, frame_enter);
	return r;
}
