#include "engine/command.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "base/environ.h"
#include "base/path.h"
#include "base/shell-words.h"
#include "base/utf8.h"
#include "graph/argv.h"
#include "graph/around.h"

static struct frame *frame_of(struct job_owner *o)
{
	return container_of(o, struct frame, leaf.owner);
}

/* What runs elsewhere is reported when it begins there. */
static void announce_away(struct frame *f, const struct job_away *away)
{
	VEC(const char *) argv = { 0 };
	struct str words = buf_str(&f->leaf.argv);

	if (!words.len)
		return;
	for (size_t at = 0; at < words.len; at = str_find(words, '\0', at) + 1)
		vec_push(&argv, words.p + at);
	vec_push(&argv, NULL);
	run_emit_frame(f->run,
		&(struct event){ .kind = EVENT_COMMAND_START,
			.argv = argv.at,
			.away = event_away(away),
			.attempt = f->tries.now },
		f);
	vec_done(&argv);
	buf_reset(&f->leaf.argv);
}

/* It executes: its time counts from here, and not from when it was handed to the executor. */
static void on_began(struct job_owner *o, const struct job_away *away)
{
	struct frame *f = frame_of(o);

	if (away)
		announce_away(f, away);
	round_begins(f);
	f->tries.began_ms = loop_now(f->run->loop);
	if (f->tries.limit_ms)
		timer_start(f->run->loop, &f->timer, f->tries.limit_ms);
}

static void tell_output(struct frame *f, enum job_stream stream, struct str data)
{
	bool err = stream == JOB_STDERR;

	if (f->run->options.tell_output || (err && f->run->options.tell_errors))
		run_emit_frame(f->run,
			&(struct event){ .kind = EVENT_COMMAND_OUTPUT,
				.output = { data, err, !err && frame_is_last(f) } },
			f);
}

void command_tell_why(struct frame *f, struct str why)
{
	if (f->run->options.tell_output || f->run->options.tell_errors)
		run_emit_frame(f->run,
			&(struct event){ .kind = EVENT_COMMAND_OUTPUT,
				.output = { why, .is_stderr = true, .is_why = true } },
			f);
}

static void on_output(struct job_owner *o, enum job_stream stream, struct str data, uint64_t total)
{
	struct frame *f = frame_of(o);
	struct recorder *recorder = f->run->options.recorder;

	if (recorder)
		recorder->ops->printed(recorder, &f->leaf.record, stream, total);
	if (stream == JOB_STDOUT && f->run->early.prints && f->leaf.job && frame_is_last(f))
		early_came(&f->run->early, f->leaf.job);
	tell_output(f, stream, data);
}

/* -- recalling -----------------------------------------------------------------------------------
 */

bool command_recorded(const struct frame *f)
{
	struct recorder *r = f->run->options.recorder;
	AUTO_BUF path = BUF_INIT;

	if (!r)
		return false;
	struct leaf_key key = frame_key(f, &path);
	return r->ops->recall(r, &key, NULL, NULL) != RECALL_NOTHING;
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
	struct leaf_recall was = { .wants_err = f->ops->command->keeps_err };
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF out_tail = BUF_INIT;
	struct leaf_key key = frame_key(f, &path);

	switch (r->ops->recall(r, &key, &was, &f->run->issues)) {
	case RECALL_NOTHING:
		return false;
	case RECALL_FAILED:
		run_fail(f->run, RUN_FAILED);
		frame_end_halted(f);
		return true;
	case RECALL_DONE:
		break;
	}
	if (!f->ops->command->keeps_err) {
		content_unref(was.err_all);
		was.err_all = NULL;
	}
	f->state = FRAME_RUNNING;
	f->timed_out = was.end.timed_out;
	struct verdict v = { .code = was.end.signal ? 0 : was.end.code,
		.signal = was.end.signal,
		.recalled = true,
		.passed = was.end.passed,
		.lost = was.end.lost,
		.err = buf_str(&was.err),
		.err_tail = buf_str(&was.err_tail),
		.err_all = was.err_all };
	if (!was.end.ok)
		(void)content_tail(was.out, FAILURE_TEXT_MAX, &out_tail);
	v.out_tail = buf_str(&out_tail);
	limit_again(f, v.passed ? S("") : was.end.limit);
	command_judge(f, &v, was.out);
	buf_done(&was.err);
	buf_done(&was.err_tail);
	return true;
}

static void warn_held(struct frame *f)
{
	AUTO_BUF text = BUF_INIT;

	f->ops->command->name(f, &text);
	buf_adds(&text, ": something that the command left running kept its output open; it was "
			"not waited for");
	run_warn_once(f->run, buf_str(&text));
}

static bool output_unkept(struct frame *f, int error)
{
	if (!error)
		return false;
	if (f->run->ending.stop.status == RUN_FAILED)
		return true;
	AUTO_BUF path = BUF_INIT;
	frame_path(f, &path);
	report_system(&f->run->issues, (struct where){ 0 }, "cannot keep the output of node %s: %s",
		buf_cstr(&path), strerror(error));
	if (error == EMFILE || error == ENFILE)
		report_hint(&f->run->issues, "allow more open files, or fewer commands at once");
	else if (!f->run->options.recorder)
		report_hint(&f->run->issues, "set TMPDIR to a directory with room");
	else if (error == ENOSPC || error == EDQUOT)
		report_hint(
			&f->run->issues, "make room where the run's directory is, then resume it");
	run_fail(f->run, RUN_FAILED);
	return true;
}

static void cannot_start(struct frame *f, const char *program, int error)
{
	AUTO_BUF why = BUF_INIT;
	bool missing = error == ENOENT && !strchr(program, '/');
	struct verdict v = { .code = error == ENOENT ? 127 : 126, .unstarted = true };

	if (missing)
		buf_printf(&why, "%s: not found in PATH%s", program,
			strchr(program, '=') ? "; `env` sets a variable for a program" : "");
	else if (error == ENOEXEC)
		buf_printf(&why, "%s: not a program: a script needs a #! line", program);
	else if (error == E2BIG)
		buf_printf(
			&why, "%s: the arguments and environment are too long together", program);
	else
		buf_printf(&why, "%s: cannot start: %s", program, strerror(error));
	v.err = v.err_tail = buf_str(&why);
	command_judge(f, &v, NULL);
}

/* The same of one that was to run elsewhere. */
static void failed_to_start(struct frame *f, int error)
{
	AUTO_BUF program = BUF_INIT;

	buf_adds(&program, f->leaf.argv.len ? buf_cstr(&f->leaf.argv) : "the program");
	buf_reset(&f->leaf.argv);
	job_free(f->leaf.job);
	f->leaf.job = NULL;
	cannot_start(f, buf_cstr(&program), error);
}

/* It is not under way after all: it waits for a slot as any other, unless it is not wanted. */
static void start_again(struct frame *f)
{
	job_free(f->leaf.job);
	f->leaf.job = NULL;
	if (frame_halted(f)) {
		command_not_run(f);
		return;
	}
	f->state = FRAME_WAITING;
	f->leaf.begun = true;
	schedule_command(f);
}

/* It may have been executed to its end, which only a person can find out: nothing is recorded of
 * it, so that a resume finds it as it is. */
static void in_doubt(struct frame *f, const char *lost_with)
{
	struct run *r = f->run;
	struct recorder *recorder = r->options.recorder;
	AUTO_BUF path = BUF_INIT;
	struct leaf_key key = frame_key(f, &path);

	report_system(&r->issues, (struct where){ 0 }, "in doubt: [%s] was lost with %s",
		buf_cstr(&path), lost_with);
	report_hint(&r->issues, "see what it has done");
	report_action(&r->issues, ACTION_RERUN_IN_DOUBT, str_of(r->options.id));
	if (recorder)
		(void)recorder->ops->end(
			recorder, &key, &f->leaf.record, &(struct leaf_end){ .in_doubt = true });
	job_free(f->leaf.job);
	f->leaf.job = NULL;
	run_fail(r, RUN_FAILED);
	frame_end_halted(f);
}

static void on_ended(struct job_owner *owner, const struct job_end *end)
{
	struct frame *f = frame_of(owner);
	const struct command_kind *own = f->ops->command;
	struct job *j = f->leaf.job;
	AUTO_BUF err_tail = BUF_INIT;
	AUTO_BUF out_tail = BUF_INIT;
	AUTO_BUF err = BUF_INIT;

	timer_stop(&f->timer);
	early_ended(&f->run->early, j);
	schedule_release(&f->run->schedule, f);
	f->timed_out |= end->timed_out;
	if (end->again) {
		start_again(f);
		return;
	}
	if (end->in_doubt) {
		in_doubt(f, end->in_doubt);
		return;
	}
	if (end->start_error) {
		failed_to_start(f, end->start_error);
		return;
	}
	if (end->away)
		announce_away(f, end->away); /* it ended before its beginning was heard of */
	/* One that the end of the run cut short was cancelled, whatever else became of it. */
	bool cut_short = run_stopping(f->run) && (end->code || end->signal || f->timed_out);
	bool unkept = output_unkept(f, end->keep_error) && !cut_short;
	if (end->held)
		warn_held(f);
	struct content *out = job_take_out(j);
	struct content *err_all = own->keeps_err ? job_take_err(j) : NULL;
	struct verdict v = { .code = end->code,
		.signal = end->signal,
		.err_bytes = end->err_bytes,
		.usage = &end->usage,
		.unkept = unkept,
		.lost = end->lost,
		.away = end->away,
		.cut = end->cut,
		.err_all = err_all };
	if (v.cut && own->cut)
		own->cut(f);
	if (end->code || end->signal || f->timed_out) {
		if (own->keeps_err) {
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
	f->leaf.job = NULL;
	command_judge(f, &v, out); /* of what the job has, until here */
	job_free(j);
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
	AUTO_BUF path = BUF_INIT;

	if (!r || !f->run->options.seq)
		return false;
	struct job_spec spec = { .in_fd = -1,
		.record = &f->leaf.record,
		.keep_err = f->ops->command->keeps_err,
		.max_output = f->ops->command->max_output(f),
		.timeout_ms = f->tries.limit_ms };
	spec.cut_err = spec.keep_err;
	spec.key = frame_key(f, &path);
	f->state = FRAME_RUNNING;
	pools_each (p, &f->run->schedule) {
		if (!p->executor->ops->adopt)
			continue;
		f->leaf.job = p->executor->ops->adopt(p->executor, &spec, &f->leaf.owner);
		f->leaf.pool = p;
		if (f->leaf.job)
			break;
	}
	if (!f->leaf.job) {
		f->state = FRAME_WAITING;
		return false;
	}
	schedule_take(&f->run->schedule, f);
	round_handed_over(f);
	f->run->executing = true;
	int error = r->ops->begin(r, &spec.key, frame_is_last(f), &f->leaf.record);
	if (error < 0)
		command_record_failed(f, error);
	return true;
}

/* The machine has no room for one more now, but will have when another command ends. */
static bool may_pass(int error)
{
	return error == EAGAIN || error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* What an earlier command printed cannot be read any more: that is not a failure of this one, which
 * has not run. */
static bool cannot_read(struct frame *f, const struct job_spec *spec)
{
	AUTO_BUF bytes = BUF_INIT;
	AUTO_BUF place = BUF_INIT;
	AUTO_BUF what = BUF_INIT;
	int r = content_head(spec->in, CONTENT_PIPE_MAX, &bytes);

	if (r >= 0)
		return false;
	content_place(spec->in, &place);
	buf_adds(&what, "cannot read what node ");
	frame_path(f, &what);
	buf_printf(&what, " is to read%s%s", place.len ? ", " : "", buf_cstr(&place));
	run_abort(f->run, buf_cstr(&what), -r);
	return true;
}

/* The variables of docs/reference.md, "Environment", and whatever the recorder wants. */
static int begin_record(struct frame *f, struct job_spec *spec, struct buf *path, struct arena *a)
{
	struct recorder *r = f->run->options.recorder;
	struct leaf_key key = frame_key(f, path);
	size_t own = 0, n = 0;

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
	spec->record = &f->leaf.record;
	if (f->leaf.announced || f->leaf.begun)
		return 0; /* the machine had no room the first time, or it was to be under way */
	return r->ops->begin(r, &key, frame_is_last(f), &f->leaf.record);
}

/* It has been told, and its record has begun: hands it to the executor. False: no room now. */
static bool launch(struct frame *f, const struct job_spec *spec, const char *program)
{
	struct run *r = f->run;
	struct executor *e = f->leaf.pool->executor;
	int error = 0;

	f->leaf.job = e->ops->start(e, spec, &f->leaf.owner, &error);
	bool wait = !f->leaf.job && may_pass(error) && f->leaf.pool->running > 1;
	f->leaf.announced = wait;
	if (f->leaf.job)
		return true;
	schedule_release(&r->schedule, f);
	if (wait)
		f->state = FRAME_WAITING;
	else if (f->leaf.record.failed) {
		command_record_failed(f, -error);
		command_not_run(f);
	} else if (cannot_read(f, spec))
		command_not_run(f);
	else
		cannot_start(f, program, error);
	return !wait;
}

/* Its intent is reported before the deed, so that a record of it exists whatever happens next. */
static void announce(struct frame *f, const char *const *argv)
{
	struct str on = f->leaf.pool->executor->name;

	if (!on.len && f->leaf.announced)
		return;
	buf_reset(&f->leaf.argv);
	for (size_t i = 0; on.len && argv[i]; i++)
		buf_add(&f->leaf.argv, (struct str){ argv[i], strlen(argv[i]) + 1 });
	run_emit_frame(f->run,
		&(struct event){ .kind = on.len ? EVENT_COMMAND_WAITS : EVENT_COMMAND_START,
			.argv = argv,
			.away = { .on = on },
			.attempt = f->tries.now },
		f);
}

/* What runs elsewhere is given the run's own input when all of it has come. False: it waits. */
static bool take_input(struct frame *f, struct job_spec *spec)
{
	struct run *r = f->run;

	if (!f->in_unread || !r->live)
		return true;
	if (!r->live_complete) {
		schedule_release(&r->schedule, f);
		f->state = FRAME_WAITING;
		list_append(&r->waits_to_read, &f->waits);
		live_collect(r->live);
		return false;
	}
	content_unref(f->in);
	spec->in = f->in = live_content(r->live);
	f->in_unread = false;
	return true;
}

void command_input_came(struct frame *f)
{
	f->run->live_complete = true;
	list_remove(&f->waits);
	schedule_command(f);
}

static bool start(struct frame *f, struct arena *a)
{
	struct run *r = f->run;
	struct job_spec spec = { .in = f->in,
		.in_fd = -1,
		.terminal = r->options.terminal,
		.keep_err = f->ops->command->keeps_err,
		.cut_err = f->ops->command->keeps_err,
		.max_output = f->ops->command->max_output(f),
		.behind = round_behind(f),
		.timeout_ms = f->tries.limit_ms };
	AUTO_BUF path = BUF_INIT;
	struct needs needs;
	int error;

	if (f->leaf.pool->executor->name.len && !take_input(f, &spec))
		return true;
	if (!f->ops->command->make(f, &spec, a)) {
		schedule_release(&r->schedule, f);
		return true;
	}
	if (frame_needs(f, &needs))
		spec.needs = &needs;
	if (r->options.recorder && (error = begin_record(f, &spec, &path, a)) < 0) {
		schedule_release(&r->schedule, f);
		command_record_failed(f, error);
		frame_end_halted(f);
		return true;
	}
	if (spec.in)
		; /* it has been collected, or is not the run's */
	else if (f->in_unread && r->live)
		spec.live = r->live;
	else if (f->in_unread)
		spec.in_fd = r->options.stdin_fd;
	announce(f, spec.argv);
	const char *program = spec.argv[0];
	if (r->options.arguments)
		spec.argv = r->options.arguments(
			r->options.arguments_data, f->node, spec.argv, spec.argc, a);
	return launch(f, &spec, program);
}

bool command_start(struct frame *f)
{
	struct arena a = ARENA_INIT;

	f->state = FRAME_RUNNING;
	f->tries.began_ms = loop_now(f->run->loop);
	f->run->executing = true;
	bool started = start(f, &a);
	arena_done(&a);
	return started;
}

/* -- the frame -----------------------------------------------------------------------------------
 */

bool command_is_found(struct frame *f)
{
	if (f->run->options.recorder && recall(f))
		return true;
	f->leaf.owner.ops = &owner_ops;
	return adopt(f);
}

void command_halt(struct frame *f, bool stop)
{
	if (stop && f->leaf.job)
		job_stop(f->leaf.job);
	else if (f->leaf.job)
		job_recall(f->leaf.job); /* what runs may finish, what waits does not begin */
}

void command_kill(struct frame *f)
{
	if (f->leaf.job)
		job_kill(f->leaf.job);
}

void command_done(struct frame *f)
{
	if (f->leaf.job)
		job_free(f->leaf.job);
	buf_done(&f->leaf.argv);
}
