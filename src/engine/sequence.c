#include "engine/steps.h"

/* Children one after the other: what one prints the next one reads, and steps hand on variables. */

static void next(struct frame *f)
{
	struct outcome o = { .ok = true };

	if (frame_halted(f) && f->next < f->count) {
		o = (struct outcome){ .halted = true, .code = 1 };
	} else if (f->next < f->count) {
		frame_next_child(f, f->chain.flow, f->chain.flow_unread);
		return;
	}
	o.value = f->outcome.value;
	f->outcome.value = NULL;
	o.partial = f->outcome.partial;
	o.unread = f->chain.flow_unread;
	o.out = f->chain.flow;
	f->chain.flow = NULL;
	o.joins = f->outcome.joins;
	o.tally = f->outcome.tally;
	f->outcome.joins = (struct join_list){ 0 };
	frame_attempt_done(f, &o);
}

/* -- failures ------------------------------------------------------------------------------------
 */

/* The root, or a recipe that is imported as the whole template of the root. */
static bool is_whole(const struct frame *f)
{
	while (f->up && f->up->node->wrapper && f->node->import.len)
		f = f->up;
	return !f->up;
}

/* The one node of the whole run: its failure is the run's. */
static bool only_node_of_run(const struct frame *f)
{
	return f->count == 1 && f->ops == &sequence_ops && is_whole(f);
}

static void stop_with(struct frame *f, struct outcome *child, enum failure_scope carried)
{
	struct outcome o = *child;

	*child = (struct outcome){ 0 };
	o.carried = carried;
	join_list_move(&f->outcome.joins, &o.joins);
	join_list_done(&o.joins);
	o.joins = f->outcome.joins;
	f->outcome.joins = (struct join_list){ 0 };
	tally_add(&o.tally, f->outcome.tally);
	if (carried == FAILURE_ROOT)
		frame_fail_root(f);
	frame_attempt_done(f, &o);
}

static void child_failed(struct frame *f, struct frame *child)
{
	struct outcome *o = &child->outcome;
	enum failure_scope scope = failure_scope_of(f, child);

	if (f->node->wrapper) {
		/* A wrapper fails as its child does; how far is for its own parent to say. */
		stop_with(f, o, failure_scope_own(child));
		return;
	}
	if (only_node_of_run(f))
		scope = FAILURE_ROOT;
	if (scope != FAILURE_CONTINUE) {
		stop_with(f, o, scope);
		return;
	}
	/* Passed over: the next child gets nothing of it. */
	join_list_move(&f->outcome.joins, &o->joins);
	tally_add(&f->outcome.tally, o->tally);
	content_unref(f->chain.flow);
	f->chain.flow = NULL;
	f->chain.flow_unread = false;
	next(f);
}

static void child_ended(struct frame *f, struct frame *child)
{
	struct outcome *o = &child->outcome;

	if (!o->ok && !o->halted) {
		child_failed(f, child);
		return;
	}
	join_list_move(&f->outcome.joins, &o->joins);
	tally_add(&f->outcome.tally, o->tally);
	content_unref(f->chain.flow);
	f->chain.flow = o->out;
	o->out = NULL;
	/* Only what was skipped hands the run's own input on. */
	f->chain.flow_unread = f->chain.flow_unread && o->unread;
	if (o->halted)
		f->next = MIN(f->next, f->count - 1); /* it is not over: next() says so */
	next(f);
}

/* -- both dialects -------------------------------------------------------------------------------
 */

static void begin(struct frame *f)
{
	content_unref(f->chain.flow);
	f->chain.flow = content_ref(f->in);
	f->chain.flow_unread = f->in_unread;
	next(f);
}

static void done(struct frame *f)
{
	content_unref(f->chain.flow);
}

const struct frame_ops sequence_ops = {
	.dialect = &frame_templates,
	.begin = begin,
	.child_ended = child_ended,
	.done = done,
};

/* Steps hand on nothing but variables; the last one that ran says what came of all. */
static void take_value(struct frame *f, struct outcome *o)
{
	if (!o->skipped) {
		json_decref(f->outcome.value);
		f->outcome.value = o->value;
		o->value = NULL;
	}
	content_unref(o->out);
	o->out = NULL;
	if (!o->partial)
		return;
	f->outcome.partial = true;
	for (; f->next < f->count; f->next++)
		if (step_call_of(f) == &f->run->book.first_call)
			step_skip_node(f->run, f->node->children[f->next]);
}

static void step_ended(struct frame *f, struct frame *child)
{
	if (!child->outcome.halted)
		take_value(f, &child->outcome);
	child_ended(f, child);
}

const struct frame_ops stage_ops = {
	.dialect = &frame_steps,
	.begin = begin,
	.child_ended = step_ended,
	.done = done,
};
