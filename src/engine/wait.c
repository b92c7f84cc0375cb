#include "engine/steps.h"

/* A pause as a step of its own. */

static void wait_over(struct frame *f)
{
	struct outcome o = { .ok = !f->timed_out, .skipped = !f->timed_out };

	if (f->timed_out) {
		step_failed(f, 124, S("the time limit ran out before the wait was over"));
		o.code = 124;
		o.timed_out = true;
		o.failure = f->outcome.failure;
		o.tally = f->outcome.tally;
	}
	frame_attempt_done(f, &o);
}

static void waited(struct frame *f)
{
	struct recorder *r = f->run->options.recorder;
	uint64_t ms = loop_now(f->run->loop) - f->tries.began_ms;
	AUTO_BUF path = BUF_INIT;
	struct leaf_key key = frame_key(f, &path);

	if (frame_halted(f) && (!f->timed_out || (f->up && frame_halted(f->up)))) {
		frame_end_halted(f);
		return;
	}
	int code = f->timed_out ? 124 : 0;
	struct job_record none = { .fd = -1 };
	int n = r ? r->ops->end(r, &key, &none,
			    &(struct leaf_end){ .code = code,
				    .timed_out = f->timed_out,
				    .limit = f->timed_out ? buf_str(&path) : S(""),
				    .ok = !code,
				    .ms = ms })
		  : 0;
	if (n < 0) {
		run_abort(f->run, "cannot record a wait", -n);
		frame_end_halted(f);
		return;
	}
	run_emit_frame(f->run,
		&(struct event){ .kind = code ? EVENT_WAIT_ERROR : EVENT_WAIT_COMPLETE,
			.step.code = code,
			.step.ms = ms },
		f);
	wait_over(f);
}

static void on_waited(struct timer *t)
{
	schedule_call(container_of(t, struct frame, pause), waited);
}

/* It is recorded as commands are: what has been waited for is not waited for again. */
static bool waited_before(struct frame *f)
{
	struct recorder *r = f->run->options.recorder;
	struct leaf_recall was = { 0 };
	AUTO_BUF path = BUF_INIT;
	struct leaf_key key = frame_key(f, &path);

	if (!r || r->ops->recall(r, &key, &was, &f->run->issues) != RECALL_DONE)
		return false;
	content_unref(was.out);
	content_unref(was.err_all);
	buf_done(&was.err);
	buf_done(&was.err_tail);
	f->timed_out = was.end.timed_out;
	return true;
}

static void begin(struct frame *f)
{
	if (waited_before(f)) {
		timer_stop(&f->timer);
		wait_over(f);
		return;
	}
	f->pause.fire = on_waited;
	f->run->executing = true;
	round_begins(f);
	run_emit_frame(f->run,
		&(struct event){ .kind = EVENT_WAIT_START, .step.ms = f->node->step->wait_ms }, f);
	timer_start(f->run->loop, &f->pause, f->node->step->wait_ms);
}

/* It is over at once. */
static void halt(struct frame *f, bool stop UNUSED)
{
	if (!timer_running(&f->pause))
		return;
	timer_stop(&f->pause);
	schedule_call(f, waited);
}

static void done(struct frame *f)
{
	timer_stop(&f->pause);
}

const struct frame_ops wait_ops = {
	.dialect = &frame_steps,
	.begin = begin,
	.halt = halt,
	.done = done,
};
