#include "engine/steps.h"

/* Sequences and parallel groups; the copies of a repeated node are one or the other. */

static const struct node *child_node(const struct frame *f, uint64_t index)
{
	return f->node->kind == NODE_EACH ? f->node->children[0] : f->node->children[index];
}

static struct frame *start_child(struct frame *f, struct content *in, bool in_live)
{
	enum frame_role role = f->node->kind == NODE_EACH ? FRAME_COPY : FRAME_CHILD;
	uint64_t index = f->next++;
	struct frame *child = frame_new(f->run, f, child_node(f, index), role, index, in, in_live);

	schedule_call(child, frame_enter);
	return child;
}

/* -- sequences -----------------------------------------------------------------------------------
 */

static void sequence_next(struct frame *f)
{
	struct outcome o = { .ok = true };

	if (frame_halted(f) && f->next < f->count) {
		o = (struct outcome){ .halted = true, .code = 1 };
	} else if (f->next < f->count) {
		start_child(f, f->flow, f->flow_live);
		return;
	}
	o.value = f->outcome.value;
	f->outcome.value = NULL;
	o.partial = f->outcome.partial;
	o.live = f->flow_live;
	o.out = f->flow;
	f->flow = NULL;
	o.joins = f->outcome.joins;
	o.untolerated = f->outcome.untolerated;
	f->outcome.joins = (struct join_list){ 0 };
	frame_attempt_done(f, &o);
}

/* The root, or a recipe that is imported as the whole template of the root. */
static bool is_whole(const struct frame *f)
{
	while (f->up && f->up->node->wrapper && f->node->import.len)
		f = f->up;
	return !f->up;
}

/* The one step of the whole run: its failure is the run's (command-templates.md section 9). */
static bool only_step_of_run(const struct frame *f)
{
	return f->count == 1 && !node_joins(f->node) && !f->node->step && is_whole(f);
}

/* How far the failure of a child reaches by itself. The flags of copies stand on their body. */
static enum failure_scope own_scope(const struct frame *child)
{
	const struct node *n = child->node->step ? child->node : node_body(child->node);

	return MAX(child->outcome.carried, n->failure);
}

static enum failure_scope scope_of(const struct frame *f, const struct frame *child)
{
	return MAX(own_scope(child), f->node->failure);
}

static void sequence_stops(struct frame *f, struct outcome *child, enum failure_scope carried)
{
	struct outcome o = *child;

	*child = (struct outcome){ 0 };
	o.carried = carried;
	join_list_move(&f->outcome.joins, &o.joins);
	join_list_done(&o.joins);
	o.joins = f->outcome.joins;
	f->outcome.joins = (struct join_list){ 0 };
	o.untolerated += f->outcome.untolerated;
	if (carried == FAILURE_ROOT)
		frame_fail_root(f);
	frame_attempt_done(f, &o);
}

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
		if (f->node->step && step_call_of(f) == &f->run->first_call)
			step_skip_node(f->run, f->node->children[f->next]);
}

static void sequence_child_ended(struct frame *f, struct frame *child)
{
	struct outcome *o = &child->outcome;

	if (f->node->step && !o->halted)
		take_value(f, o);

	if (o->ok || o->halted) {
		join_list_move(&f->outcome.joins, &o->joins);
		f->outcome.untolerated += o->untolerated;
		content_unref(f->flow);
		f->flow = o->out;
		o->out = NULL;
		/* Only what was skipped hands the run's own input on. */
		f->flow_live = f->flow_live && o->live;
		if (o->halted)
			f->next = MIN(f->next,
				f->count - 1); /* it is not over: sequence_next() says so */
		sequence_next(f);
		return;
	}
	enum failure_scope scope = scope_of(f, child);
	if (f->node->wrapper) {
		/* A wrapper fails as its child does; how far is for its own parent to say. */
		sequence_stops(f, o, own_scope(child));
		return;
	}
	if (only_step_of_run(f))
		scope = FAILURE_ROOT;
	if (scope != FAILURE_CONTINUE) {
		sequence_stops(f, o, scope);
		return;
	}
	/* Passed over: the next step gets nothing of it. */
	join_list_move(&f->outcome.joins, &o->joins);
	f->outcome.untolerated += o->untolerated;
	content_unref(f->flow);
	f->flow = NULL;
	f->flow_live = false;
	sequence_next(f);
}

/* -- parallel groups -----------------------------------------------------------------------------
 */

void group_feed(struct frame *f)
{
	if (f->node->step) {
		loop_feed(f);
		return;
	}
	start_child(f, f->in, f->in_live);
	if (f->next == f->count)
		list_remove(&f->unfilled);
}

static void parallel_over(struct frame *f)
{
	struct outcome o = { .ok = true, .untolerated = f->outcome.untolerated };
	struct join *j = f->join;
	uint64_t bad = f->root_index;

	f->join = NULL;
	o.failure = bad != UINT64_MAX ? f->root_failure : f->failed_failure;
	vec_each (b, &j->branches) {
		if (b->nested)
			join_list_move(&o.joins, b->nested);
	}
	if (bad != UINT64_MAX) {
		o.carried = FAILURE_ROOT;
	} else if (f->failed_index != UINT64_MAX && f->node->failure == FAILURE_BRANCH) {
		bad = f->failed_index;
		o.carried = FAILURE_BRANCH;
	} else if (!f->done_count) {
		bad = f->failed_index; /* nobody succeeded: the join is not usable */
	}
	if (bad != UINT64_MAX) {
		o.ok = false;
		o.err = content_ref(j->branches.at[bad].body);
		o.code = j->branches.at[bad].code;
		o.timed_out = j->branches.at[bad].status == BRANCH_TIMEOUT;
	} else if (f->next < f->count || !f->done_count) {
		o.ok = false;
		o.halted = true;
		o.code = 1;
	}
	o.out = join_content(j);
	if (bad != UINT64_MAX && bad == f->root_index) {
		/* It ends with that child, and so does what a recovery reads. */
		content_unref(o.out);
		o.out = f->root_out;
		f->root_out = NULL;
	}
	join_list_add(&o.joins, j);
	frame_attempt_done(f, &o);
}

void group_settle(struct frame *f)
{
	if (f->node->step) {
		loop_settle(f);
		return;
	}
	if (f->state == FRAME_RUNNING && list_empty(&f->active) &&
		(f->next == f->count || frame_halted(f)))
		parallel_over(f);
}

static void parallel_child_ended(struct frame *f, struct frame *child)
{
	struct outcome *o = &child->outcome;
	struct branch *b = join_branch(f->join, child->index);
	struct store *store = &f->run->store;

	b->code = o->code;
	b->ms = (uint32_t)MIN(loop_now(f->run->loop) - child->entered_ms, (uint64_t)UINT32_MAX);
	b->status = o->ok ? BRANCH_DONE : o->timed_out ? BRANCH_TIMEOUT : BRANCH_FAILED;
	f->outcome.untolerated += o->untolerated;
	if (o->ok && !o->skipped) {
		b->stdout_bytes = content_size(o->out);
		b->body = content_keep(o->out, store);
		o->out = NULL;
	} else if (!o->ok) {
		b->body = content_keep(o->err, store);
		o->err = NULL;
	}
	if (o->joins.len) {
		b->nested = mem_new(struct join_list);
		join_list_move(b->nested, &o->joins);
	}
	f->done_count += o->ok;
	if (!o->ok && !o->halted) {
		if (child->index < f->failed_index) {
			f->failed_index = child->index;
			f->failed_failure = o->failure;
		}
		if (scope_of(f, child) == FAILURE_ROOT) {
			if (child->index < f->root_index) {
				f->root_index = child->index;
				f->root_failure = o->failure;
				content_unref(f->root_out);
				f->root_out = o->out;
				o->out = NULL;
			}
			frame_fail_root(f);
		}
	}
	list_remove(&child->link);
	if (store->error) {
		report_system(&f->run->issues, (struct where){ 0 },
			"cannot keep the output of a branch: %s", strerror(store->error));
		run_fail(f->run, RUN_FAILED);
	}
	group_settle(f);
}

/* -- both ----------------------------------------------------------------------------------------
 */

void group_begin(struct frame *f)
{
	if (f->node->kind == NODE_SEQUENCE || f->node->kind == NODE_PARALLEL)
		f->count = f->node->child_count;
	f->next = 0;
	f->done_count = 0;
	f->root_index = f->failed_index = UINT64_MAX;
	content_unref(f->root_out);
	f->root_out = NULL;
	outcome_done(&f->outcome);
	run_emit_frame(f->run, &(struct event){ .kind = EVENT_NODE_START, .count = f->count }, f);
	if (f->node->kind == NODE_CALL) {
		call_begin(f);
		return;
	}
	if (f->node->step && f->node->kind != NODE_SEQUENCE) {
		loop_begin(f);
		return;
	}
	if (node_joins(f->node)) {
		AUTO_BUF path = BUF_INIT;

		frame_path(f, &path);
		f->join = join_new(f->node, buf_str(&path));
		schedule_children(f);
		return;
	}
	content_unref(f->flow);
	f->flow = content_ref(f->in);
	f->flow_live = f->in_live;
	sequence_next(f);
}

void group_child_ended(struct frame *f, struct frame *child)
{
	if (f->node->kind == NODE_CALL)
		call_child_ended(f, child);
	else if (f->node->step && f->node->kind != NODE_SEQUENCE)
		loop_child_ended(f, child);
	else if (node_joins(f->node))
		parallel_child_ended(f, child);
	else
		sequence_child_ended(f, child);
}
