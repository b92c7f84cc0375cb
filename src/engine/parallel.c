#include <inttypes.h>
#include <string.h>

#include "engine/frame.h"
#include "graph/around.h"
#include "graph/label.h"

/* Children at once, each with the whole input; what they print is joined. */

static void begin(struct frame *f)
{
	AUTO_BUF path = BUF_INIT;

	frame_path(f, &path);
	content_unref(f->fork.root_out);
	f->fork = (struct fork){ .join = join_new(f->node, buf_str(&path)),
		.root_index = UINT64_MAX,
		.failed_index = UINT64_MAX };
	schedule_children(f);
}

static void feed(struct frame *f)
{
	frame_next_child(f, f->in, f->in_unread);
	if (f->next == f->count)
		list_remove(&f->waits);
}

/* All branches have succeeded, and there are fewer than the node asks for. No command is to blame:
 * what is recorded as the failure is the node itself. */
static void too_few(struct frame *f, struct outcome *o)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF label = BUF_INIT;
	AUTO_BUF item = BUF_INIT;
	AUTO_BUF why = BUF_INIT;

	frame_path(f, &path);
	frame_label(f, &label);
	frame_item(f, &item);
	buf_printf(&why, "%" PRIu64 " of %" PRIu64 " branches succeeded, quorum %" PRIu64,
		f->fork.done_count, f->count, quorum_needs(&f->node->quorum, f->count));
	o->code = 1;
	failures_add(&f->run->failures, &(struct failure){
						.path = buf_str(&path),
						.label = buf_str(&label),
						.item = buf_str(&item),
						.command = buf_str(&why),
						.code = o->code,
						.tolerated = f->tolerated,
						.attempt = f->tries.now,
					});
	o->failure = f->run->failures.total;
	tally_add(&o->tally, tally_one(f->tolerated));
}

static void over(struct frame *f)
{
	struct outcome o = { .ok = true, .tally = f->outcome.tally };
	struct fork *k = &f->fork;
	struct join *j = k->join;
	uint64_t bad = k->root_index;
	bool missed = false; /* too few branches have succeeded */

	k->join = NULL;
	o.failure = bad != UINT64_MAX ? k->root_failure : k->failed_failure;
	vec_each (b, &j->branches) {
		if (b->nested)
			join_list_move(&o.joins, b->nested);
	}
	if (bad != UINT64_MAX) {
		o.carried = FAILURE_ROOT;
	} else if (f->node->quorum.kind) {
		missed = k->done_count < quorum_needs(&f->node->quorum, f->count);
		bad = missed ? k->failed_index : UINT64_MAX;
	} else if (k->failed_index != UINT64_MAX && f->node->failure == FAILURE_BRANCH) {
		bad = k->failed_index;
		o.carried = FAILURE_BRANCH;
	} else if (!k->done_count) {
		bad = k->failed_index; /* none succeeded: the join is not usable */
	}
	if (bad != UINT64_MAX) {
		o.ok = false;
		o.err = content_ref(j->branches.at[bad].body);
		o.code = j->branches.at[bad].code;
		o.timed_out = j->branches.at[bad].status == BRANCH_TIMEOUT;
	} else if (missed && k->done_count == f->count) {
		o.ok = false;
		too_few(f, &o);
	} else if (f->next < f->count || missed || !k->done_count) {
		o.ok = false;
		o.halted = true;
		o.code = 1;
	}
	o.out = join_content(j);
	if (bad != UINT64_MAX && bad == k->root_index) {
		/* It ends with that child, and so does what a recovery reads. */
		content_unref(o.out);
		o.out = k->root_out;
		k->root_out = NULL;
	}
	join_list_add(&o.joins, j);
	frame_attempt_done(f, &o);
}

static void settle(struct frame *f)
{
	if (f->state == FRAME_RUNNING && list_empty(&f->active) &&
		(f->next == f->count || frame_halted(f)))
		over(f);
}

/* A label with placeholders is resolved while its values are there. */
static void keep_label(const struct frame *child, struct branch *b)
{
	const struct node *n = node_body(child->node);
	AUTO_BUF label = BUF_INIT;

	if (!n->label_parts || b->label)
		return;
	label_resolve(n, child->scope, &label);
	b->label = mem_dup(buf_cstr(&label), label.len + 1);
	b->resolved = true;
}

static void keep_branch(struct frame *f, struct frame *child)
{
	struct outcome *o = &child->outcome;
	struct branch *b = join_branch(f->fork.join, child->index);
	struct store *store = &f->run->store;

	keep_label(child, b);
	b->code = o->code;
	b->ms = (uint32_t)MIN(
		loop_now(f->run->loop) - child->tries.entered_ms, (uint64_t)UINT32_MAX);
	b->status = o->ok ? BRANCH_DONE : o->timed_out ? BRANCH_TIMEOUT : BRANCH_FAILED;
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
}

/* With a quorum the count alone decides: what the node says about failures is about its own. Of
 * copies that is said on their body. */
static enum failure_scope scope_in(const struct frame *f, const struct frame *child)
{
	if (!f->node->quorum.kind)
		return failure_scope_of(f, child);
	return f->node->kind == NODE_EACH ? child->outcome.carried : failure_scope_own(child);
}

static void note_failure(struct frame *f, struct frame *child)
{
	struct outcome *o = &child->outcome;
	struct fork *k = &f->fork;

	if (child->index < k->failed_index) {
		k->failed_index = child->index;
		k->failed_failure = o->failure;
	}
	if (scope_in(f, child) != FAILURE_ROOT)
		return;
	if (child->index < k->root_index) {
		k->root_index = child->index;
		k->root_failure = o->failure;
		content_unref(k->root_out);
		k->root_out = o->out;
		o->out = NULL;
	}
	frame_fail_root(f);
}

static void child_ended(struct frame *f, struct frame *child)
{
	const struct outcome *o = &child->outcome;
	int error;

	keep_branch(f, child);
	tally_add(&f->outcome.tally, o->tally);
	f->fork.done_count += o->ok;
	if (!o->ok && !o->halted)
		note_failure(f, child);
	list_remove(&child->link);
	if ((error = f->run->store.error)) {
		report_system(&f->run->issues, (struct where){ 0 },
			"cannot keep the output of a branch: %s", strerror(error));
		run_fail(f->run, RUN_FAILED);
	}
	settle(f);
}

static void halt(struct frame *f, bool stop UNUSED)
{
	list_remove(&f->waits);
	schedule_call(f, settle);
}

static void done(struct frame *f)
{
	content_unref(f->fork.root_out);
	join_unref(f->fork.join);
}

const struct frame_ops parallel_ops = {
	.dialect = &frame_templates,
	.begin = begin,
	.child_ended = child_ended,
	.feed = feed,
	.halt = halt,
	.done = done,
};
