#include "app/launch/gone.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/launch/attempts.h"
#include "base/node-path.h"
#include "graph/step.h"
#include "runs/dir/open.h"
#include "runs/dir/outputs.h"

struct search {
	const struct graph *graph;
	struct str dir; /* of the run */
	struct past past;
	int out; /* the directory of outputs; -1: there is none */
	gone_list *found;
	struct report *r;
	bool ok;
	bool replaced; /* what was looked at last is there, and is not a file of roux */
};

/* -- who has read it -----------------------------------------------------------------------------
 */

static bool in_order(const struct node *n)
{
	return n->kind == NODE_SEQUENCE || (n->kind == NODE_EACH && !n->each_parallel);
}

/* Which children of a node have records of one execution of it, of those from `from` on. */
struct begun {
	const struct past *past;
	const struct execution *in;
	uint64_t from, first, last;
	uint64_t open; /* the first of which something runs again; UINT64_MAX: none */
	bool any;
};

static void look_at_record(void *data, struct str path, const struct leaf_record *record)
{
	struct begun *b = data;
	uint64_t index;

	if ((!record->started && !record->ended && !record->lost) ||
		!node_path_index(path, b->in->path, &index) || index == UINT64_MAX ||
		index < b->from || !execution_has(b->past, b->in, path, record))
		return;
	b->first = b->any ? MIN(b->first, index) : index;
	b->last = b->any ? MAX(b->last, index) : index;
	b->any = true;
	if (!record_counts(record))
		b->open = MIN(b->open, index);
}

static struct begun begun_below(const struct past *p, const struct execution *in, uint64_t from)
{
	struct begun b = { .past = p, .in = in, .from = from, .open = UINT64_MAX };

	past_each(p, look_at_record, &b);
	return b;
}

static void child_path(struct buf *b, const struct node *n, struct str up, uint64_t index)
{
	if (n->kind == NODE_EACH)
		node_path_copy(b, up, index);
	else
		node_path_child(b, up, index);
}

static const struct node *child_of(const struct node *n, uint64_t index)
{
	return n->children[n->kind == NODE_EACH ? 0 : index];
}

/* 0: values decide. */
static uint64_t child_count(const struct node *n)
{
	return n->kind == NODE_EACH ? n->count.number : n->child_count;
}

static const struct leaf_record *record_of(const struct past *p, const struct execution *command)
{
	const struct leaf_record *r =
		past_spend(p, 1) ? leaves_find(p->leaves, command->path, command->number + 1)
				 : NULL;

	return record_counts(r) ? r : NULL;
}

static bool succeeded(const struct past *p, const struct node *n, const struct execution *e);

/* Whether the child did not keep its group from ending well: it did so itself, or it is a command
 * whose failure a sequence passes over. */
static bool child_passed(
	const struct past *p, const struct node *n, uint64_t index, const struct execution *in)
{
	const struct node *child = child_of(n, index);
	const struct leaf_record *r;
	struct execution e;
	AUTO_BUF path = BUF_INIT;

	child_path(&path, n, in->path, index);
	if (!execution_deciding(p, child, buf_str(&path), in, &e))
		return false;
	if (succeeded(p, child, &e))
		return true;
	return in_order(n) && n->child_count > 1 && child->kind == NODE_COMMAND &&
	       MAX(child->failure, n->failure) == FAILURE_CONTINUE &&
	       execution_is_last(child, e.number) && (r = record_of(p, &e)) &&
	       /* Else it is the group that has failed, by its time limit. */
	       (!r->limit.len || str_eq(r->limit, e.path));
}

/* Whether the records say that it ended well, so that no further attempt comes behind it. */
static bool succeeded(const struct past *p, const struct node *n, const struct execution *e)
{
	uint64_t count = child_count(n);

	if (n->kind == NODE_COMMAND) {
		const struct leaf_record *r = record_of(p, e);

		return r && !record_failed(r);
	}
	if (n->step || n->kind == NODE_CALL || n->quorum.kind || !count)
		return false;
	for (uint64_t i = in_order(n) ? count - 1 : 0; i < count; i++)
		if (!child_passed(p, n, i, e))
			return false;
	return true;
}

static bool has_read(
	const struct past *p, const struct node *n, struct str path, const struct execution *up);

/* The same of one execution of it. */
static bool has_read_once(const struct past *p, const struct node *n, const struct execution *e)
{
	if (n->kind == NODE_COMMAND)
		return record_of(p, e) != NULL;
	if ((n->kind == NODE_EACH && n->each_parallel) || n->step)
		return false;
	struct begun b = begun_below(p, e, 0);
	if (n->kind != NODE_PARALLEL && (!b.any || b.first != b.last))
		return b.any;
	uint64_t from = n->kind == NODE_PARALLEL ? 0 : b.first;
	uint64_t count = n->kind == NODE_PARALLEL ? n->child_count : from + 1;
	for (uint64_t i = from; i < count; i++) {
		AUTO_BUF below = BUF_INIT;

		child_path(&below, n, e->path, i);
		if (!has_read(p, child_of(n, i), buf_str(&below), e))
			return false;
	}
	return true;
}

/* Whether everything in the node that reads its input has ended: it needs that no more. */
static bool has_read(
	const struct past *p, const struct node *n, struct str path, const struct execution *up)
{
	struct execution e;

	if (n->kind == NODE_CALL && n->call)
		return true; /* a step recipe reads none */
	if (!execution_deciding(p, n, path, up, &e))
		return false;
	return execution_is_last(n, e.number) ? has_read_once(p, n, &e) : succeeded(p, n, &e);
}

/* -- what is gone --------------------------------------------------------------------------------
 */

/* A command that has ended, and where it stands. */
struct printer {
	const struct past *past;
	struct way_step way[WAY_MAX];
	size_t steps;
	size_t upto; /* the step that printed it ends there: the command, or what joins its branch
		      */
	const struct leaf_record *record;
};

/* Whether something behind the step `i` of the way has begun, in the same sequence and attempt. */
static bool has_behind(const struct printer *p, size_t i, struct begun *ret, struct execution *in)
{
	*ret = (struct begun){ 0 };
	if (!i || p->way[i].recovery || !in_order(p->way[i - 1].node) ||
		!execution_at(p->past, p->way, p->steps, p->record, i - 1, in))
		return false;
	*ret = begun_below(p->past, in, p->way[i].index + 1);
	return ret->any;
}

/* Whether something in the step `i`, which `in` is an execution around, runs again. */
static bool is_open(const struct printer *p, size_t i, const struct execution *in)
{
	return begun_below(p->past, in, p->way[i].index).open == p->way[i].index;
}

/* Whether what it printed is what the step `from` handed on: nothing in there came behind it. */
static bool is_handed_on(const struct printer *p, size_t from)
{
	struct execution in;
	struct begun b;

	for (size_t i = from + 1; i < p->upto; i++)
		if (has_behind(p, i, &b, &in))
			return false;
	return true;
}

/* Whether the step `i` has a recovery, and it is not in there. */
static bool is_recovered(const struct printer *p, size_t i)
{
	return p->way[i].node->recover && (i + 1 == p->steps || !p->way[i + 1].recovery);
}

static bool has_calls(const struct node *n)
{
	bool calls = n->kind == NODE_CALL;

	for (size_t i = 0; i < n->child_count && !calls; i++)
		calls = has_calls(n->children[i]);
	return calls;
}

/* Whether the recovery from its attempt of the step `i` has read what it reads. A call reads
 * nothing, also before it has begun, and so does not tell that the attempt is over. */
static bool recovery_has_read(const struct printer *p, size_t i)
{
	struct execution e;
	AUTO_BUF path = BUF_INIT;

	if (!is_recovered(p, i) || has_calls(p->way[i].node->recover) ||
		!execution_at(p->past, p->way, p->steps, p->record, i, &e))
		return false;
	node_path_recover(&path, e.path);
	return has_read(p->past, p->way[i].node->recover, buf_str(&path), &e);
}

/* Whether it is the last command of a recovery: what that prints is thrown away. */
static bool is_thrown_away(const struct printer *p)
{
	size_t from = p->upto - 1;

	while (from > 0 && !p->way[from].recovery)
		from--;
	for (size_t i = 0; i < p->upto; i++) {
		const struct node *up = i > from ? p->way[i - 1].node : NULL;

		/* One that fails hands on to the recovery of a group around it. */
		if (is_recovered(p, i))
			return false;
		if (up && in_order(up) && p->way[i].index + 1 != child_count(up))
			return false;
	}
	return from > 0;
}

/* The outermost place where something behind it has begun tells: what is before that is over. */
static bool is_read(const struct printer *p)
{
	for (size_t i = 0; i < p->upto; i++) {
		AUTO_BUF reader = BUF_INIT;
		struct execution in;
		struct begun b;

		if (recovery_has_read(p, i))
			return true;
		if (!has_behind(p, i, &b, &in))
			continue;
		if (!is_handed_on(p, i)) {
			if (is_open(p, i, &in))
				continue; /* what reads it may be what runs again */
			return true;
		}
		if (b.first != b.last && b.open > b.first)
			return true;
		const struct node *up = p->way[i - 1].node;
		child_path(&reader, up, in.path, b.first);
		return has_read(p->past, child_of(up, b.first), buf_str(&reader), &in);
	}
	return is_thrown_away(p);
}

/* What a failed command has printed nothing reads but a recovery that is yet to come, and not that
 * where the run has continued behind it. */
static bool is_to_recover(const struct printer *p)
{
	bool wanted = false;

	for (size_t i = 0; i < p->steps; i++) {
		struct execution in;
		struct begun b;

		if (has_behind(p, i, &b, &in) || recovery_has_read(p, i))
			return false;
		if (!is_recovered(p, i))
			continue;
		wanted |= !execution_at(p->past, p->way, p->steps, p->record, i, &in) ||
			  !execution_is_last(p->way[i].node, in.number);
	}
	return wanted;
}

/* Where the join ends that shows the standard error of a branch that failed; 0: there is none. */
static size_t joined_at(const struct printer *p)
{
	size_t i = p->steps;

	while (i > 1 && !node_joins(p->way[i - 2].node))
		i--;
	return i > 1 ? i - 1 : 0;
}

/* Whether the attempt is over. Variables that steps have set in it stay, unless they were those of
 * an import that began anew. */
static bool is_superseded(const struct printer *p)
{
	for (size_t i = 0; i < p->steps; i++) {
		bool keeps = p->way[i].node->step && i + 1 < p->steps;

		if (!keeps && execution_superseded(p->past, p->way, p->steps, p->record, i))
			return true;
	}
	return false;
}

/* Whether the next attempt of a step that failed is yet to come: only the last one has a result. */
static bool is_tried_again(const struct printer *p)
{
	/* Beside others it may be stopped. */
	for (size_t i = 0; i < p->steps; i++)
		if (node_joins(p->way[i].node))
			return false;
	return execution_retries(p->past, p->way[p->steps - 1].path, p->record);
}

static bool step_is_needed(const struct printer *p, bool err, bool looks)
{
	const struct node *n = p->steps ? p->way[p->steps - 1].node : NULL;

	if (!n || !n->step)
		return true;
	if (err ? !n->step->output_stderr.len : !n->step->keeps_output)
		return false;
	return !looks || (!is_superseded(p) && !is_tried_again(p));
}

static bool is_needed(
	const struct search *s, struct str path, const struct leaf_record *record, bool err)
{
	struct printer p = { .past = &s->past, .record = record };
	bool looks = *s->past.effort > 0;

	p.steps = way_to(s->past.root, path, p.way);
	if (s->graph->steps || (p.steps && p.way[p.steps - 1].node->step))
		return step_is_needed(&p, err, looks);
	p.upto = err ? joined_at(&p) : p.steps;
	/* Elsewhere it is only reported, and then that it is gone. */
	if (err && (!p.upto || !record_failed(record)))
		return false;
	if (!p.steps || !looks)
		return true;
	if (is_superseded(&p))
		return false;
	if (err)
		return !is_read(&p);
	return record_failed(record) ? is_to_recover(&p) : !is_read(&p);
}

/* -- what there is -------------------------------------------------------------------------------
 */

/* Whether all of it is there. False also when that cannot be found out. */
static bool is_there(struct search *s, struct str path, const struct leaf_record *record, bool err)
{
	uint64_t bytes = err ? record->err_bytes : record->out_bytes;
	AUTO_BUF name = BUF_INIT;
	struct stat st;

	if (!bytes)
		return true;
	output_name(&name, path, record->number, err);
	if (s->out < 0)
		return false;
	if (fstatat(s->out, buf_cstr(&name), &st, AT_SYMLINK_NOFOLLOW) == 0) {
		s->replaced = !S_ISREG(st.st_mode);
		return !s->replaced && (uint64_t)st.st_size >= bytes;
	}
	if (errno != ENOENT)
		s->ok = report_errno(s->r, errno,
			"cannot look at %.*s/" OUTPUTS_DIR "/%s, which node %.*s printed",
			STR(s->dir), buf_cstr(&name), STR(path));
	return false;
}

/* It is not gone, so that nothing is executed for it. */
static bool refuse_replaced(
	struct search *s, struct str path, const struct leaf_record *record, bool err)
{
	AUTO_BUF name = BUF_INIT;

	output_name(&name, path, record->number, err);
	report_system(s->r, (struct where){ 0 },
		"%.*s/" OUTPUTS_DIR "/%s, which node %.*s printed, is not a regular file",
		STR(s->dir), buf_cstr(&name), STR(path));
	return report_hint(
		s->r, "put the file back, or delete what stands there: then it counts as gone");
}

static void look_for(void *data, struct str path, const struct leaf_record *record)
{
	struct search *s = data;

	if (!s->ok || !record->ended || record->cancelled)
		return;
	for (int err = 0; err < 2; err++) {
		s->replaced = false;
		if (is_there(s, path, record, err))
			continue;
		if (!s->ok || !is_needed(s, path, record, err))
			continue;
		if (s->replaced) {
			s->ok = refuse_replaced(s, path, record, err);
			return;
		}
		vec_push(s->found, (struct gone){ path, record->number });
		return;
	}
}

static void count(void *data, struct str path UNUSED, const struct leaf_record *record UNUSED)
{
	++*(uint64_t *)data;
}

bool gone_find(const struct launch *l, struct str dir, const struct leaves *leaves,
	uint64_t *effort, gone_list *ret, struct report *r)
{
	const struct graph *graph = l->subject.graph;
	struct search s = { .graph = graph,
		.dir = dir,
		.past = { .root = graph->root, .leaves = leaves, .effort = effort },
		.found = ret,
		.r = r,
		.ok = true };
	AUTO_BUF path = BUF_INIT;

	buf_add(&path, dir);
	s.out = run_open_dir(buf_cstr(&path), OUTPUTS_DIR, false);
	if (s.out < 0 && s.out != -ENOENT)
		return report_errno(r, -s.out, "cannot open %.*s/" OUTPUTS_DIR, STR(dir));
	leaves_each(leaves, count, &s.past.count);
	leaves_each(leaves, look_for, &s);
	close_fd(&s.out);
	return s.ok;
}
