#include <signal.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/command.h"

/* What the end of a command means: code, record, failure, event. */

static void record(struct frame *f, const struct verdict *v)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF command = BUF_INIT;
	AUTO_BUF shown = BUF_INIT;
	AUTO_BUF label = BUF_INIT;
	AUTO_BUF item = BUF_INIT;

	frame_path(f, &path);
	frame_label(f, &label);
	frame_item(f, &item);
	if (f->run->failures.kept.len < FAILURES_KEPT)
		f->ops->command->display(f, &command);
	utf8_add_short(&shown, buf_str(&command), FAILURE_TEXT_MAX);
	failures_add(&f->run->failures, &(struct failure){
						.path = buf_str(&path),
						.label = buf_str(&label),
						.item = buf_str(&item),
						.command = buf_str(&shown),
						.code = v->code,
						.signal = v->signal,
						.timeout = f->timed_out,
						.lost = v->lost,
						.host = v->away ? v->away->host : S(""),
						.tolerated = f->tolerated,
						.attempt = f->tries.now,
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

void command_record_failed(struct frame *f, int error)
{
	AUTO_BUF path = BUF_INIT;

	if (f->run->ending.stop.status == RUN_FAILED)
		return; /* one is enough of what has one cause */
	frame_path(f, &path);
	report_system(&f->run->issues, (struct where){ 0 }, "cannot record node %s: %s",
		buf_cstr(&path), strerror(-error));
	run_fail(f->run, RUN_FAILED);
}

static uint64_t took_ms(const struct frame *f, const struct verdict *v)
{
	return v->away ? v->away->ms : loop_now(f->run->loop) - f->tries.began_ms;
}

/* Of a command that was not started, why: that is shown and kept as the lines on standard error
 * that it would be if a shell had started the command. */
static void why_lines(const struct verdict *v, struct buf *ret)
{
	struct str why = v->recalled || v->err_bytes ? S("") : str_trim(v->err);

	if (why.len)
		buf_printf(ret, "%.*s\n", STR(why));
}

/* Whether it may have read a part of the run's input and taken that for the whole. */
static bool input_cut_off(const struct frame *f)
{
	return f->in_unread && f->run->input_lost && run_stopping(f->run);
}

/* Written down before anything that depends on it happens. */
static void record_end(
	struct frame *f, const struct outcome *o, const struct verdict *v, struct str why)
{
	struct recorder *r = f->run->options.recorder;
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF limit = BUF_INIT;
	struct leaf_key key = frame_key(f, &path);

	for (const struct frame *up = f; up && o->timed_out; up = up->up)
		if (up->timed_out) {
			buf_reset(&limit);
			frame_path(up, &limit);
		}
	int error = r->ops->end(r, &key, &f->leaf.record,
		&(struct leaf_end){
			.code = o->code,
			.signal = o->signal,
			.timed_out = o->timed_out,
			.limit = buf_str(&limit),
			.lost = v->lost,
			.cancelled = !v->unkept &&
				     (input_cut_off(f) || (!o->ok && run_stopping(f->run))),
			.unkept = v->unkept,
			.ok = o->ok,
			.ms = took_ms(f, v),
			.out_bytes = content_size(o->out),
			.err_bytes = v->err_bytes,
			.why = why,
			.usage = v->usage,
		});
	if (error < 0)
		command_record_failed(f, error);
}

int verdict_code(const struct verdict *v)
{
	return v->signal ? 128 + v->signal : v->code;
}

/* The machine has failed, not the command: it counts as not run. */
void command_not_run(struct frame *f)
{
	struct recorder *r = f->run->options.recorder;
	AUTO_BUF path = BUF_INIT;
	struct leaf_key key = frame_key(f, &path);

	if (r)
		(void)r->ops->end(r, &key, &f->leaf.record,
			&(struct leaf_end){ .code = 126, .cancelled = true });
	frame_end_halted(f);
}

void command_judge(struct frame *f, const struct verdict *v, struct content *out)
{
	struct outcome o = { .out = out, .err = v->err_all };
	bool cancelled = run_stopping(f->run);
	bool limit = stopped_by_limit(f);
	AUTO_BUF why = BUF_INIT;

	f->timed_out = f->timed_out || limit;
	f->leaf.recalled = v->recalled;
	f->leaf.passed = v->passed;
	f->tolerated = f->tolerated || v->passed;
	f->ops->command->judge(f, v, &o);
	o.no_retry = o.no_retry || v->passed;
	o.signal = v->signal;
	o.timed_out = f->timed_out;
	o.ok = !f->timed_out && o.code == 0;
	why_lines(v, &why);
	if (why.len)
		command_tell_why(f, buf_str(&why));
	if (f->run->options.recorder && !v->recalled)
		record_end(f, &o, v, buf_str(&why));
	run_emit_frame(f->run,
		&(struct event){ .kind = v->recalled ? EVENT_NODE_REUSED : EVENT_COMMAND_DONE,
			.attempt = f->tries.now,
			.away = event_away(v->away),
			.end = { .ok = o.ok,
				.timeout = o.timed_out,
				.tolerated = !o.ok && !cancelled && f->tolerated,
				.code = o.code,
				.signal = o.signal,
				.ms = took_ms(f, v),
				.stdout_bytes = content_size(out) } },
		f);
	bool unstarted = v->unstarted && run_stopping(f->run);
	if ((unstarted || input_cut_off(f)) && !cancelled) {
		/* The machine has failed the run when this end was told: nothing has run, or with a
		 * part of its input, and nothing depends on it yet. A later resume starts it. */
		command_not_run(f);
		return;
	}
	if (!o.ok && cancelled) {
		o.halted = true; /* what a cancel ended has not failed */
	} else if (!o.ok) {
		struct verdict w = *v;

		w.code = o.code;
		record(f, &w);
		o.failure = f->run->failures.total;
		o.tally = tally_one(f->tolerated);
		AUTO_BUF err = BUF_INIT;
		buf_add(&err, v->err);
		if (!o.err)
			o.err = content_from_buf(&err);
	}
	if (f->ops->command->ended)
		f->ops->command->ended(f, &o);
	/* Ctrl-C at a command that has the terminal is for it; one that ends by it was to end all.
	 */
	bool typed = f->node->tty && !v->recalled && (o.signal == SIGINT || o.signal == SIGQUIT);
	struct run *r = f->run;
	frame_attempt_done(f, &o);
	if (typed)
		run_cancel(r, SIGINT);
}
