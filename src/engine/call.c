#include "engine/steps.h"
#include "graph/plan.h"

/* A step that runs another recipe. */

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

static void close_call(struct frame *f)
{
	struct call *c = &f->called;

	if (!c->open)
		return;
	c->open = false;
	json_decref(c->call.vars);
	json_decref(c->call.passed);
	graph_unref(c->call.graph);
	plan_unref(c->call.plan);
}

/* The recipe is not there, or cannot be called. */
static void cannot(struct frame *f, const struct report *why)
{
	struct outcome o = { .code = 1, .no_retry = true };
	AUTO_BUF text = BUF_INIT;

	report_text(why, REPORT_ERRORS, &text);
	step_failed(f, 1, buf_str(&text));
	o.failure = f->outcome.failure;
	o.tally = f->outcome.tally;
	frame_attempt_done(f, &o);
}

static void begin(struct frame *f)
{
	const struct step_node *s = f->node->step;
	struct call *c = &f->called;
	AUTO_REPORT why = REPORT_INIT;

	close_call(f); /* of an attempt before */
	c->call = (struct step_call){ 0 };
	enum step_made made = s->ops->call(
		f->node, f->scope, step_call_of(f), f->run->options.steps, &c->call, &why);
	if (made == STEP_MISTAKE) {
		report_move(&f->run->issues, &why);
		step_mistake(f);
		return;
	}
	if (made == STEP_CANNOT) {
		cannot(f, &why);
		return;
	}
	c->open = true;
	if (in_parallel(f) && has_gate(c->call.graph->root)) {
		report_error(&f->run->issues, place_where(f->node->place),
			"step '%.*s': a recipe with approvals cannot run in a parallel loop",
			STR(s->id));
		report_hint(&f->run->issues, "leave out `parallel`, or the approval");
		step_mistake(f);
		return;
	}
	f->count = f->next = 1;
	run_emit_frame(f->run,
		&(struct event){ .kind = EVENT_RECIPE_START, .step.number = c->call.depth }, f);
	frame_begin(frame_new(f->run, f, c->call.graph->root, FRAME_CHILD, 0, NULL, false));
}

static void child_ended(struct frame *f, struct frame *child)
{
	struct outcome o = child->outcome;

	child->outcome = (struct outcome){ 0 };
	json_decref(o.value);
	o.value = NULL;
	/* What a recipe of commands prints is its result; steps.c reads it. */
	if (f->called.call.plan && o.ok && !o.unread) {
		o.carried = FAILURE_CONTINUE;
		run_emit_frame(f->run, &(struct event){ .kind = EVENT_RECIPE_COMPLETE }, f);
		frame_attempt_done(f, &o);
		return;
	}
	content_unref(o.out);
	o.out = NULL;
	if (o.ok) {
		/* A recipe that ended early has ended well for the step that called it. */
		o.partial = false;
		o.value = f->node->step->ops->returned(&f->called.call);
		run_emit_frame(f->run, &(struct event){ .kind = EVENT_RECIPE_COMPLETE }, f);
	}
	o.carried = FAILURE_CONTINUE;
	frame_attempt_done(f, &o);
}

const struct frame_ops call_ops = {
	.dialect = &frame_steps,
	.begin = begin,
	.child_ended = child_ended,
	.done = close_call,
};
