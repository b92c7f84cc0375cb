#include "engine/steps.h"
#include "graph/plan.h"

/* A step that runs another recipe, and a node of a template that imports a step recipe. */

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

static void not_opened(struct frame *f, enum step_made made, struct report *why)
{
	if (made == STEP_CANNOT) {
		cannot(f, why);
		return;
	}
	report_move(&f->run->issues, why);
	if (made == STEP_MISTAKE) {
		step_mistake(f);
		return;
	}
	/* `on_error` is about what the step does: it has not begun, and a resume begins it. */
	run_fail(f->run, RUN_FAILED);
	frame_end_halted(f);
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
	if (made != STEP_MADE) {
		not_opened(f, made, &why);
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

/* A recipe of commands that selects its output gives that, whatever its commands have printed. */
static void take_selected(const struct plan *p, struct outcome *o)
{
	AUTO_BUF text = BUF_INIT;

	if (!p->graph->output)
		return;
	buf_add(&text, buf_str(&p->output));
	content_unref(o->out);
	o->out = content_from_buf(&text);
}

static void child_ended(struct frame *f, struct frame *child)
{
	struct outcome o = child->outcome;

	child->outcome = (struct outcome){ 0 };
	join_list_outlive(&o.joins); /* the graph of the call goes with it */
	json_decref(o.value);
	o.value = NULL;
	/* What a recipe of commands prints is its result; steps.c reads it. */
	if (f->called.call.plan && o.ok && !o.unread) {
		take_selected(f->called.call.plan, &o);
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

/* -- imports -------------------------------------------------------------------------------------
 */

static void import_begin(struct frame *f)
{
	struct run *r = f->run;
	struct graph *g = f->node->call;
	struct call *c = &f->called;

	close_call(f); /* of an attempt before */
	*c = (struct call){ 0 };
	if (!g->steps->ops->import(f->node, f->scope, step_call_of(f), r->options.steps,
		    json_object_get(r->options.vars, "session"), &c->call, &r->issues)) {
		run_fail(r, RUN_INVALID);
		frame_end_halted(f);
		return;
	}
	c->open = true;
	r->pace.limits = g->steps;
	f->count = f->next = 1;
	run_emit_frame(
		r, &(struct event){ .kind = EVENT_RECIPE_START, .step.number = c->call.depth }, f);
	frame_begin(frame_new(r, f, g->root, FRAME_CHILD, 0, NULL, false));
}

/* What a step recipe that was run would print. */
static struct content *printed(const struct call *c)
{
	const json_t *value = json_object_get(c->call.vars, "final_output");
	AUTO_BUF text = BUF_INIT;

	if (!value && c->last_output.len)
		value = json_object_getn(c->call.vars, c->last_output.p, c->last_output.len);
	if (value)
		c->call.graph->steps->ops->text(&text, value);
	return content_from_buf(&text);
}

static void import_child_ended(struct frame *f, struct frame *child)
{
	struct outcome o = child->outcome;

	child->outcome = (struct outcome){ 0 };
	join_list_outlive(&o.joins); /* the graph of the call goes with it */
	json_decref(o.value);
	content_unref(o.out);
	o.value = NULL;
	o.out = NULL;
	o.skipped = o.unread = o.partial = false;
	o.carried = FAILURE_CONTINUE;
	if (o.ok) {
		o.out = printed(&f->called);
		run_emit_frame(f->run, &(struct event){ .kind = EVENT_RECIPE_COMPLETE }, f);
	}
	frame_attempt_done(f, &o);
}

const struct frame_ops import_ops = {
	.dialect = &frame_templates,
	.begin = import_begin,
	.child_ended = import_child_ended,
	.done = close_call,
};

const struct frame_ops call_ops = {
	.dialect = &frame_steps,
	.begin = begin,
	.child_ended = child_ended,
	.done = close_call,
};
