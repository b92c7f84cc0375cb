#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/steps.h"
#include "graph/argv.h"

/* One command: waits for a slot, is started, watched and, when it has ended, judged. */

static const struct job_owner_ops owner_ops;

static bool recall(struct frame *f);
static bool adopt(struct frame *f);

/* False: it was one agent too many. */
static bool count_agent(struct frame *f)
{
	bool charged = f->attempt > 1 || (f->role == FRAME_COPY && node_joins(f->up->node));

	if (charged || pace_charge(f, 1))
		return true;
	step_mistake(f);
	return false;
}

void leaf_begin(struct frame *f)
{
	f->state = FRAME_WAITING;
	if (f->node->step && f->node->step->agent && !count_agent(f))
		return;
	if (f->run->options.recorder && recall(f))
		return;
	f->owner.ops = &owner_ops;
	if (adopt(f))
		return;
	if (f->node->step && f->node->step->agent)
		pace_want(f);
	else
		schedule_command(f);
}

static struct frame *frame_of(struct job_owner *o)
{
	return container_of(o, struct frame, owner);
}

/* It executes: its time counts from here, and not from when it was handed to the executor. */
static void on_began(struct job_owner *o)
{
	struct frame *f = frame_of(o);

	f->began_ms = loop_now(f->run->loop);
	if (f->timeout_ms)
		timer_start(f->run->loop, &f->timer, f->timeout_ms);
}

static void on_output(struct job_owner *o, enum job_stream stream, struct str data)
{
	struct frame *f = frame_of(o);

	if (f->run->options.tell_output)
		run_emit_frame(f->run,
			&(struct event){ .kind = EVENT_COMMAND_OUTPUT,
				.output = { data, stream == JOB_STDERR } },
			f);
}

/* -- judging -------------------------------------------------------------------------------------
 */

struct verdict {
	int code, signal;
	struct str err; /* for a join: the beginning of standard error */
	struct str err_tail, out_tail;
	bool recalled; /* of an earlier execution */
	bool unkept;   /* what it printed could not be kept: it counts as not run */
	bool lost;     /* with the machine that ran it */
	/* Steps: */
	bool no_retry, cut;
	struct content *err_all; /* a reference */
	uint64_t err_bytes;
	const struct job_usage *usage;
};

static void display(const struct frame *f, struct buf *b)
{
	struct arena a = ARENA_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	const char *const *argv;
	size_t argc;

	if (f->node->step)
		buf_add(b, f->node->line);
	else if (argv_build(f->node, f->scope, &a, &argv, &argc, &ignored))
		command_display(b, argv, argc);
	arena_done(&a);
}

static void record(struct frame *f, const struct verdict *v)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF command = BUF_INIT;

	frame_path(f, &path);
	if (f->run->failures.kept.len < FAILURES_KEPT)
		display(f, &command);
	failures_add(
		&f->run->failures, &(struct failure){
					   .path = buf_str(&path),
					   .label = f->node->label,
					   .command = utf8_cut(buf_str(&command), FAILURE_TEXT_MAX),
					   .code = v->code,
					   .signal = v->signal,
					   .timeout = f->timed_out,
					   .lost = v->lost,
					   .tolerated = f->tolerated,
					   .attempt = f->attempt,
					   .err = utf8_tail(v->err_tail, FAILURE_TEXT_MAX),
					   .out = utf8_tail(v->out_tail, FAILURE_TEXT_MAX),
				   });
}

/* What its time limit, or that of a group around it, makes of the end of a command. */
static bool stopped_by_limit(const struct frame *f)
{
	for (; f; f = f->up)
		if (f->timed_out)
			return true;
	return false;
}

static void recorder_failed(struct frame *f, int error)
{
	AUTO_BUF path = BUF_INIT;

	if (f->run->stopping == RUN_FAILED)
		return; /* one is enough of what has one cause */
	frame_path(f, &path);
	report_system(&f->run->issues, (struct where){ 0 }, "cannot record node %s: %s",
		buf_cstr(&path), strerror(-error));
	run_fail(f->run, RUN_FAILED);
}

/* Written down before anybody acts on it. */
static void record_end(struct frame *f, const struct outcome *o, const struct verdict *v)
{
	struct recorder *r = f->run->options.recorder;
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF limit = BUF_INIT;

	frame_path(f, &path);
	for (const struct frame *up = f; up && o->timed_out; up = up->up)
		if (up->timed_out) {
			buf_reset(&limit);
			frame_path(up, &limit);
		}
	int error = r->ops->end(r, &(struct leaf_key){ buf_str(&path), frame_number(f) },
		&f->record,
		&(struct leaf_end){
			.code = o->code,
			.signal = o->signal,
			.timed_out = o->timed_out,
			.limit = buf_str(&limit),
			.cancelled = v->unkept || (!o->ok && f->run->stopping != RUN_RUNNING),
			.ok = o->ok,
			.ms = loop_now(f->run->loop) - f->began_ms,
			.out_bytes = content_size(o->out),
			.err_bytes = v->err_bytes,
			.usage = v->usage,
		});
	if (error < 0)
		recorder_failed(f, error);
}

static void judge(struct frame *f, const struct verdict *v, struct content *out)
{
	struct outcome o = { .out = out };
	bool cancelled = f->run->stopping != RUN_RUNNING;
	bool limit = stopped_by_limit(f);

	f->timed_out = f->timed_out || limit;
	f->recalled = v->recalled;
	o.code = v->signal ? 128 + v->signal : v->code;
	if (f->timed_out)
		o.code = f->node->step ? 124 : !v->signal && v->code ? v->code : 1;
	if (f->node->step) {
		o.no_retry = v->no_retry || o.code == 126 || o.code == 127;
		o.cut = v->cut;
		o.err = v->err_all;
	}
	o.signal = v->signal;
	o.timed_out = f->timed_out;
	o.ok = !f->timed_out && o.code == 0;
	if (f->run->options.recorder && !v->recalled)
		record_end(f, &o, v);
	run_emit_frame(f->run,
		&(struct event){ .kind = v->recalled ? EVENT_NODE_REUSED : EVENT_COMMAND_DONE,
			.attempt = f->attempt,
			.end = { .ok = o.ok,
				.timeout = o.timed_out,
				.code = o.code,
				.signal = o.signal,
				.ms = loop_now(f->run->loop) - f->began_ms,
				.stdout_bytes = content_size(out) } },
		f);
	if (!o.ok && cancelled) {
		o.halted = true; /* what a cancel ended is no failure */
	} else if (!o.ok) {
		struct verdict w = *v;

		w.code = o.code;
		record(f, &w);
		o.failure = f->run->failures.total;
		o.untolerated = !f->tolerated;
		AUTO_BUF err = BUF_INIT;
		buf_add(&err, v->err);
		if (!o.err)
			o.err = content_from_buf(&err);
	}
	if (f->paced)
		pace_ended(f, &o);
	frame_attempt_done(f, &o);
}

/* -- recalling -----------------------------------------------------------------------------------
 */

static void key_of(const struct frame *f, struct buf *path, struct leaf_key *ret)
{
	frame_path(f, path);
	*ret = (struct leaf_key){ buf_str(path), frame_number(f) };
}

bool leaf_recorded(const struct frame *f)
{
	struct recorder *r = f->run->options.recorder;
	AUTO_BUF path = BUF_INIT;
	struct leaf_key key;

	if (!r || f->node->kind != NODE_COMMAND)
		return false;
	key_of(f, &path, &key);
	return r->ops->recall(r, &key, NULL);
}

/* The limit of a group that ended the command then ends the group now. */
static void limit_again(struct frame *f, struct str limit)
{
	for (struct frame *up = f->up; limit.len && up; up = up->up) {
		AUTO_BUF path = BUF_INIT;

		frame_path(up, &path);
		if (!str_eq(buf_str(&path), limit))
			continue;
		up->timed_out = true;
		frame_halt(up, false);
	}
}

static bool recall(struct frame *f)
{
	struct recorder *r = f->run->options.recorder;
	struct leaf_recall was = { 0 };
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF out_tail = BUF_INIT;
	struct leaf_key key;

	key_of(f, &path, &key);
	if (!r->ops->recall(r, &key, &was))
		return false;
	if (!f->node->step) {
		content_unref(was.err_all);
		was.err_all = NULL;
	}
	f->state = FRAME_RUNNING;
	f->timed_out = was.end.timed_out;
	struct verdict v = { .code = was.end.signal ? 0 : was.end.code,
		.signal = was.end.signal,
		.recalled = true,
		.err = buf_str(&was.err),
		.err_tail = buf_str(&was.err_tail),
		.err_all = was.err_all };
	if (!was.end.ok)
		(void)content_tail(was.out, FAILURE_TEXT_MAX, &out_tail);
	v.out_tail = buf_str(&out_tail);
	limit_again(f, was.end.limit);
	judge(f, &v, was.out);
	buf_done(&was.err);
	buf_done(&was.err_tail);
	return true;
}

/* Rounds of a loop say it once. */
static void warn_once(struct frame *f, struct str message)
{
	struct report *r = &f->run->issues;

	vec_each (i, &r->issues)
		if (str_eq(i->message, message))
			return;
	report_warning(r, (struct where){ 0 }, "%.*s", STR(message));
}

static void warn_held(struct frame *f)
{
	AUTO_BUF text = BUF_INIT;

	if (f->node->step) {
		buf_printf(&text, "step '%.*s'", STR(f->node->step->id));
	} else {
		buf_adds(&text, "node ");
		frame_path(f, &text);
	}
	buf_adds(&text, ": something that the command left running kept its output open; it was "
			"not waited for");
	warn_once(f, buf_str(&text));
}

static void warn_cut(struct frame *f)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text,
		"step '%.*s' printed more than max_output_size (%" PRIu64
		" bytes); the rest was dropped",
		STR(f->node->step->id), f->node->step->max_output);
	warn_once(f, buf_str(&text));
}

static bool output_unkept(struct frame *f, int error)
{
	if (!error)
		return false;
	if (f->run->stopping == RUN_FAILED)
		return true;
	AUTO_BUF path = BUF_INIT;
	frame_path(f, &path);
	report_system(&f->run->issues, (struct where){ 0 }, "cannot keep the output of node %s: %s",
		buf_cstr(&path), strerror(error));
	report_hint(&f->run->issues,
		f->run->options.recorder ? "make room where the run's directory is, then resume it"
					 : "set TMPDIR to a directory with room");
	run_fail(f->run, RUN_FAILED);
	return true;
}

static void on_ended(struct job_owner *owner, const struct job_end *end)
{
	struct frame *f = frame_of(owner);
	struct job *j = f->job;
	AUTO_BUF err_tail = BUF_INIT;
	AUTO_BUF out_tail = BUF_INIT;
	AUTO_BUF err = BUF_INIT;

	timer_stop(&f->timer);
	schedule_release(&f->run->schedule, f->pool);
	f->timed_out |= end->timed_out;
	bool unkept = output_unkept(f, end->keep_error);
	if (end->held)
		warn_held(f);
	struct content *out = job_take_out(j);
	struct content *err_all = f->node->step ? job_take_err(j) : NULL;
	struct verdict v = { .code = end->code,
		.signal = end->signal,
		.err_bytes = end->err_bytes,
		.usage = &end->usage,
		.unkept = unkept,
		.lost = end->lost,
		.cut = end->cut,
		.err_all = err_all };
	if (v.cut && f->node->step)
		warn_cut(f);
	if (end->code || end->signal || f->timed_out) {
		if (f->node->step) {
			(void)content_head(err_all, FAILURE_TEXT_MAX, &err);
			(void)content_tail(err_all, FAILURE_TEXT_MAX, &err_tail);
		} else {
			job_err_ends(j, &err, &err_tail);
		}
		(void)content_tail(out, FAILURE_TEXT_MAX, &out_tail);
	}
	v.err = buf_str(&err);
	v.err_tail = buf_str(&err_tail);
	v.out_tail = buf_str(&out_tail);
	job_free(j);
	f->job = NULL;
	judge(f, &v, out);
}

static const struct job_owner_ops owner_ops = {
	.began = on_began,
	.output = on_output,
	.ended = on_ended,
};

/* -- starting ------------------------------------------------------------------------------------
 */

/* A run that is taken up again may find the command still under way where it was started. It has a
 * slot whatever else runs, and it has been announced. */
static bool adopt(struct frame *f)
{
	struct recorder *r = f->run->options.recorder;
	struct pool *p = schedule_pool(f);
	struct executor *e = p->executor;
	AUTO_BUF path = BUF_INIT;

	if (!r || !e->ops->adopt)
		return false;
	struct job_spec spec = { .in_fd = -1,
		.record = &f->record,
		.keep_err = f->node->step,
		.max_output =
			f->node->step ? f->node->step->max_output : f->run->options.max_output,
		.timeout_ms = f->timeout_ms };
	key_of(f, &path, &spec.key);
	f->state = FRAME_RUNNING;
	f->job = e->ops->adopt(e, &spec, &f->owner);
	if (!f->job) {
		f->state = FRAME_WAITING;
		return false;
	}
	f->pool = p;
	p->running++;
	f->run->executing = true;
	int error = r->ops->begin(r, &spec.key, frame_is_last(f), &f->record);
	if (error < 0)
		recorder_failed(f, error);
	return true;
}

/* The machine has no room for one more now, but will have when another command ends. */
static bool may_pass(int error)
{
	return error == EAGAIN || error == EMFILE || error == ENFILE || error == ENOMEM;
}

static void cannot_start(struct frame *f, const char *program, int error)
{
	AUTO_BUF why = BUF_INIT;
	bool missing = error == ENOENT && !strchr(program, '/');
	struct verdict v = { .code = error == ENOENT ? 127 : 126 };

	if (missing)
		buf_printf(&why, "%s: not found in PATH", program);
	else if (error == ENOEXEC)
		buf_printf(&why, "%s: not a program: a script needs a #! line", program);
	else if (error == E2BIG)
		buf_printf(
			&why, "%s: the arguments and environment are too long together", program);
	else
		buf_printf(&why, "%s: cannot start: %s", program, strerror(error));
	v.err = v.err_tail = buf_str(&why);
	judge(f, &v, NULL);
}

/* The line of its start could not be written: it counts as not run. */
static void cannot_record_start(struct frame *f, int error)
{
	struct recorder *r = f->run->options.recorder;
	AUTO_BUF path = BUF_INIT;
	struct leaf_key key;

	key_of(f, &path, &key);
	(void)r->ops->end(
		r, &key, &f->record, &(struct leaf_end){ .code = 126, .cancelled = true });
	recorder_failed(f, -error);
	frame_end_halted(f);
}

/* The command of a step. False: it has come to nothing, and that has been dealt with; the arena
 * too. */
static bool make_step(
	struct frame *f, struct step_command *made, struct job_spec *spec, struct arena *a)
{
	const struct step_node *s = f->node->step;
	struct run *r = f->run;
	enum step_made how = s->ops->make(
		f->node, f->scope, step_call_of(f), r->options.steps, made, a, &r->issues);

	if (how == STEP_MADE) {
		struct step_state *st = step_state(f);

		buf_add(&st->remove, buf_str(&made->remove));
		spec->in = content_from_buf(&made->in);
		content_unref(f->in);
		f->in = spec->in;
		spec->env = made->env;
		spec->cwd = made->cwd;
		spec->max_output = s->max_output;
		spec->keep_err = true;
		if (!f->announced)
			run_emit_frame(r,
				&(struct event){
					.kind = s->agent ? EVENT_AGENT_START : EVENT_BASH_START,
					.attempt = f->attempt,
					.step.env = buf_str(&made->shown) },
				f);
	} else {
		schedule_release(&r->schedule, f->pool);
	}
	if (how == STEP_MISTAKE) {
		step_mistake(f);
	} else if (how == STEP_CANNOT) {
		struct verdict v = { .code = made->code,
			.err = buf_str(&made->why),
			.err_tail = buf_str(&made->why),
			.no_retry = true };

		judge(f, &v, NULL);
	}
	buf_done(&made->in);
	buf_done(&made->shown);
	buf_done(&made->remove);
	buf_done(&made->why);
	if (how != STEP_MADE)
		arena_done(a);
	return how == STEP_MADE;
}

/* The variables of product.md, and whatever the recorder wants. */
static int begin_record(struct frame *f, struct job_spec *spec, struct buf *path, struct arena *a)
{
	struct recorder *r = f->run->options.recorder;
	struct leaf_key key;
	size_t own = 0, n = 0;

	key_of(f, path, &key);
	spec->key = key;
	for (; spec->env && spec->env[own]; own++)
		;
	const char **env = arena_array(a, const char *, own + 3);
	for (size_t i = 0; i < own; i++)
		env[n++] = spec->env[i];
	env[n++] = arena_printf(a, "ROUX_LEAF=%s", buf_cstr(path)).p;
	env[n++] = arena_printf(a, "ROUX_ATTEMPT=%" PRIu64, key.number).p;
	env[n] = NULL;
	spec->env = env;
	spec->record = &f->record;
	if (f->announced)
		return 0; /* the machine had no room the first time */
	return r->ops->begin(r, &key, frame_is_last(f), &f->record);
}

bool leaf_start(struct frame *f)
{
	struct run *r = f->run;
	struct arena a = ARENA_INIT;
	const char *const *argv;
	size_t argc;
	int error = 0;

	f->state = FRAME_RUNNING;
	f->began_ms = loop_now(r->loop);
	r->executing = true;
	struct job_spec spec = { .in = f->in,
		.in_fd = -1,
		.max_output = r->options.max_output,
		.timeout_ms = f->timeout_ms };
	struct step_command made = { 0 };
	if (f->node->step) {
		if (!make_step(f, &made, &spec, &a))
			return true;
		argv = made.argv;
		argc = made.argc;
	} else if (!argv_build(f->node, f->scope, &a, &argv, &argc, &r->issues)) {
		arena_done(&a);
		schedule_release(&r->schedule, f->pool);
		run_fail(r, RUN_INVALID);
		frame_end_halted(f);
		return true;
	}
	spec.argv = argv;
	spec.argc = argc;
	spec.terminal = r->options.terminal;
	AUTO_BUF path = BUF_INIT;
	if (r->options.recorder && (error = begin_record(f, &spec, &path, &a)) < 0) {
		arena_done(&a);
		schedule_release(&r->schedule, f->pool);
		recorder_failed(f, error);
		frame_end_halted(f);
		return true;
	}
	if (f->in_live && r->live)
		spec.live = r->live;
	else if (f->in_live)
		spec.in_fd = r->options.stdin_fd;
	/* The intent is told before the deed, so that a record of it exists whatever happens next.
	 */
	if (!f->announced)
		run_emit_frame(r,
			&(struct event){
				.kind = EVENT_COMMAND_START, .argv = argv, .attempt = f->attempt },
			f);
	f->announced = true;
	if (r->options.arguments)
		spec.argv =
			r->options.arguments(r->options.arguments_data, f->node, argv, argc, &a);
	struct executor *e = f->pool->executor;
	f->job = e->ops->start(e, &spec, &f->owner, &error);
	bool wait = !f->job && may_pass(error) && f->pool->running > 1;
	if (wait)
		f->state = FRAME_WAITING;
	if (!wait)
		f->announced = false;
	if (!f->job)
		schedule_release(&r->schedule, f->pool);
	if (!f->job && !wait && f->record.failed)
		cannot_record_start(f, error);
	else if (!f->job && !wait)
		cannot_start(f, argv[0], error);
	arena_done(&a);
	return !wait;
}
