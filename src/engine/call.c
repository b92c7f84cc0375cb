
#include "base/clock.h"
#include "engine/steps.h"

/* Steps that are no commands: other recipes, gates, pauses. */

/* -- sub-recipes ---------------------------------------------------------------------------------
 */

/* People answer one gate after the other. */
static bool in_parallel(const struct frame *f)
{
	for (; f; f = f->up)
		if (node_joins(f->node))
			return true;
	return false;
}

static bool has_gate(const struct node *n)
{
	if (n->kind == NODE_GATE)
		return true;
	for (size_t i = 0; i < n->child_count; i++)
		if (has_gate(n->children[i]))
			return true;
	return false;
}

void call_begin(struct frame *f)
{
	const struct step_node *s = f->node->step;
	struct step_state *st = step_state(f);
	AUTO_REPORT why = REPORT_INIT;

	if (st->called) { /* of an attempt before */
		json_decref(st->call.vars);
		json_decref(st->call.passed);
		graph_unref(st->call.graph);
		st->called = false;
	}
	st->call = (struct step_call){ 0 };
	enum step_made made = s->ops->call(
		f->node, f->scope, step_call_of(f), f->run->options.steps, &st->call, &why);
	if (made == STEP_MISTAKE) {
		report_move(&f->run->issues, &why);
		step_mistake(f);
		return;
	}
	if (made == STEP_CANNOT) {
		struct outcome o = { .code = 1, .no_retry = true };
		AUTO_BUF text = BUF_INIT;

		report_text(&why, REPORT_ERRORS, &text);
		step_failed(f, 1, buf_str(&text));
		o.failure = f->outcome.failure;
		o.untolerated = f->outcome.untolerated;
		frame_attempt_done(f, &o);
		return;
	}
	st->called = true;
	if (in_parallel(f) && has_gate(st->call.graph->root)) {
		report_error(&f->run->issues, place_where(f->node->place),
			"step '%.*s': a recipe with approvals cannot run in a parallel loop",
			STR(s->id));
		report_hint(&f->run->issues, "leave out `parallel`, or the approval");
		step_mistake(f);
		return;
	}
	f->count = f->next = 1;
	run_emit_frame(f->run,
		&(struct event){ .kind = EVENT_RECIPE_START, .step.number = st->call.depth }, f);
	struct frame *child =
		frame_new(f->run, f, st->call.graph->root, FRAME_CHILD, 0, NULL, false);
	schedule_call(child, frame_enter);
}

void call_child_ended(struct frame *f, struct frame *child)
{
	struct outcome o = child->outcome;

	child->outcome = (struct outcome){ 0 };
	json_decref(o.value);
	o.value = NULL;
	content_unref(o.out);
	o.out = NULL;
	if (o.ok) {
		/* A recipe that ended early has ended well for whoever called it. */
		o.partial = false;
		o.value = f->node->step->ops->returned(&f->steps->call);
		run_emit_frame(f->run, &(struct event){ .kind = EVENT_RECIPE_COMPLETE }, f);
	}
	o.carried = FAILURE_CONTINUE;
	frame_attempt_done(f, &o);
}

/* -- gates ---------------------------------------------------------------------------------------
 */

/* How people call the gate: its stage, below the stages that called the recipe it is in. */
static void gate_name(const struct frame *f, struct buf *b)
{
	if (f->up)
		gate_name(f->up, b);
	if (f->node->kind != NODE_SEQUENCE || !f->node->step->stage.len)
		return;
	if (b->len)
		buf_addc(b, '/');
	buf_add(b, f->node->step->stage);
}

static void pause_run(struct frame *f, struct str name, struct str prompt)
{
	struct run *r = f->run;
	const struct step_node *s = f->node->step;

	buf_reset(&r->gate);
	buf_add(&r->gate, name);
	buf_reset(&r->gate_prompt);
	buf_add(&r->gate_prompt, prompt);
	r->result.gate = buf_str(&r->gate);
	r->result.prompt = buf_str(&r->gate_prompt);
	r->result.gate_timeout_ms = s->gate_timeout_ms;
	r->result.gate_approves = s->gate_approves;
}

static void stop_run(struct frame *f, enum run_status status)
{
	run_stop(f->run, status);
	frame_end_halted(f);
}

void gate_begin(struct frame *f)
{
	const struct step_node *s = f->node->step;
	const struct step_host *host = f->run->options.steps;
	AUTO_BUF prompt = BUF_INIT;
	AUTO_BUF name = BUF_INIT;
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF message = BUF_INIT;

	if (s->prompt && !text_resolve(s->prompt, f->scope, &prompt, &f->run->issues)) {
		step_mistake(f);
		return;
	}
	frame_path(f, &path);
	gate_name(f, &name);
	loop_keep_rounds(f); /* what people approve is not done again */
	enum gate_answer answer = GATE_PENDING;
	if (host->gate)
		answer = host->gate(host->data, buf_str(&path), buf_str(&name), buf_str(&prompt),
			s->gate_timeout_ms, s->gate_approves, &message,
			&f->run->result.gate_since_ms, &f->run->issues);
	if (answer == GATE_FAILED) {
		run_fail(f->run, RUN_FAILED);
		frame_end_halted(f);
		return;
	}
	run_emit_frame(
		f->run, &(struct event){ .kind = EVENT_RECIPE_APPROVAL, .step.answer = answer }, f);
	if (answer == GATE_PENDING) {
		pause_run(f, buf_str(&name), buf_str(&prompt));
		stop_run(f, RUN_PAUSED);
	} else if (answer == GATE_DENIED) {
		pause_run(f, buf_str(&name), buf_str(&prompt));
		stop_run(f, RUN_DENIED);
	} else {
		json_object_set_new(scope_vars(f->scope), "_approval_message",
			json_from_str(buf_str(&message)));
		frame_attempt_done(f, &(struct outcome){ .ok = true, .skipped = true });
	}
}

/* -- pauses --------------------------------------------------------------------------------------
 */

static void wait_over(struct frame *f)
{
	struct outcome o = { .ok = !f->timed_out, .skipped = !f->timed_out };

	if (f->timed_out) {
		step_failed(f, 124, S("the time limit ran out before the wait was over"));
		o.code = 124;
		o.timed_out = true;
		o.failure = f->outcome.failure;
		o.untolerated = f->outcome.untolerated;
	}
	frame_attempt_done(f, &o);
}

/* It is a leaf like any other: what has been waited for is not waited for again. */
static struct leaf_key wait_key(const struct frame *f, struct buf *path)
{
	frame_path(f, path);
	return (struct leaf_key){ buf_str(path), frame_number(f) };
}

static void waited(struct frame *f)
{
	struct recorder *r = f->run->options.recorder;
	uint64_t ms = loop_now(f->run->loop) - f->began_ms;
	AUTO_BUF path = BUF_INIT;
	struct leaf_key key = wait_key(f, &path);

	if (frame_halted(f) && (!f->timed_out || (f->up && frame_halted(f->up)))) {
		frame_end_halted(f);
		return;
	}
	int code = f->timed_out ? 124 : 0;
	int n = r ? r->ops->end(r, &key, &f->record,
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
	schedule_call(container_of(t, struct step_state, pause)->owner, waited);
}

/* False: it has not been waited for yet. */
static bool waited_before(struct frame *f)
{
	struct recorder *r = f->run->options.recorder;
	struct leaf_recall was = { 0 };
	AUTO_BUF path = BUF_INIT;
	struct leaf_key key = wait_key(f, &path);

	if (!r || !r->ops->recall(r, &key, &was))
		return false;
	content_unref(was.out);
	content_unref(was.err_all);
	buf_done(&was.err);
	buf_done(&was.err_tail);
	f->timed_out = was.end.timed_out;
	return true;
}

void wait_begin(struct frame *f)
{
	struct step_state *st = step_state(f);

	if (waited_before(f)) {
		timer_stop(&f->timer);
		wait_over(f);
		return;
	}
	st->owner = f;
	st->pause.fire = on_waited;
	f->run->executing = true;
	run_emit_frame(f->run,
		&(struct event){ .kind = EVENT_WAIT_START, .step.ms = f->node->step->wait_ms }, f);
	timer_start(f->run->loop, &st->pause, f->node->step->wait_ms);
}
