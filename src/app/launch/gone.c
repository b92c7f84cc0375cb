#include "app/launch/gone.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/node-path.h"
#include "graph/step.h"
#include "graph/way.h"
#include "runs/dir/open.h"
#include "runs/dir/outputs.h"

/* Beyond that many, what is gone counts as needed without looking for its readers. */
enum { LOOKED_AT = 2000 };

struct search {
	struct launch *launch;
	const struct leaves *leaves;
	int out; /* the directory of outputs; -1: there is none */
	gone_list *found;
	size_t looked_at;
	struct report *r;
	bool ok;
};

/* -- who has read it -----------------------------------------------------------------------------
 */

static bool retried(const struct node *n)
{
	return n->retry.text || n->retry.value > 1 || n->recover;
}

static bool in_order(const struct node *n)
{
	return n->kind == NODE_SEQUENCE || (n->kind == NODE_EACH && !n->each_parallel);
}

/* Which children of a node have records, of those from `from` on. */
struct begun {
	struct str up;
	uint64_t from, first, last;
	bool any;
};

static void look_at_record(void *data, struct str path, const struct leaf_record *record)
{
	struct begun *b = data;
	uint64_t index;

	if ((!record->started && !record->ended) || !node_path_index(path, b->up, &index) ||
		index == UINT64_MAX || index < b->from)
		return;
	b->first = b->any ? MIN(b->first, index) : index;
	b->last = b->any ? MAX(b->last, index) : index;
	b->any = true;
}

static struct begun begun_below(const struct search *s, struct str up, uint64_t from)
{
	struct begun b = { .up = up, .from = from };

	leaves_each(s->leaves, look_at_record, &b);
	return b;
}

struct ended {
	struct str path;
	bool all, any, well;
};

static void look_at_end(void *data, struct str path, const struct leaf_record *record)
{
	struct ended *e = data;
	bool ended = record->ended && !record->cancelled;

	if (!str_eq(path, e->path))
		return;
	e->all &= ended;
	e->any |= ended;
	e->well |= ended && !record->code && !record->timed_out;
}

static void child_path(struct buf *b, const struct node *n, struct str up, uint64_t index)
{
	if (n->kind == NODE_EACH)
		node_path_copy(b, up, index);
	else
		node_path_child(b, up, index);
}

/* Whether everything in the node that reads its input has ended: it needs that no more. */
static bool has_read(const struct search *s, const struct node *n, struct str path)
{
	if (n->kind == NODE_COMMAND) {
		struct ended e = { .path = path, .all = true };

		leaves_each(s->leaves, look_at_end, &e);
		return e.any && e.all && (e.well || !retried(n));
	}
	if (n->kind == NODE_CALL && n->call)
		return true; /* a step recipe reads none */
	if (retried(n) || (n->kind == NODE_EACH && n->each_parallel) || n->step)
		return false;
	struct begun b = begun_below(s, path, 0);
	if (n->kind != NODE_PARALLEL && (!b.any || b.first != b.last))
		return b.any;
	size_t from = n->kind == NODE_PARALLEL ? 0 : (size_t)b.first;
	size_t count = n->kind == NODE_PARALLEL ? n->child_count : from + 1;
	for (size_t i = from; i < count; i++) {
		AUTO_BUF below = BUF_INIT;

		child_path(&below, n, path, i);
		const struct node *child = n->children[n->kind == NODE_EACH ? 0 : i];
		if (!has_read(s, child, buf_str(&below)))
			return false;
	}
	return true;
}

/* Whether what the last step of the way printed is a part of what the step `from` hands on. */
static bool is_handed_on(const struct way_step *way, size_t steps, size_t from)
{
	for (size_t i = from + 1; i < steps; i++) {
		const struct node *up = way[i - 1].node;
		uint64_t count = up->kind == NODE_EACH ? up->count.number : up->child_count;

		if (in_order(up) && way[i].index + 1 != count)
			return false;
	}
	return true;
}

static bool recovers(const struct way_step *way, size_t steps)
{
	for (size_t i = 0; i < steps; i++)
		if (way[i].node->recover || way[i].recovery)
			return true;
	return false;
}

/* The outermost place where something behind it has begun tells: what is before that is over. */
static bool is_read(const struct search *s, const struct way_step *way, size_t steps)
{
	for (size_t i = 1; i < steps; i++) {
		const struct node *up = way[i - 1].node;
		AUTO_BUF reader = BUF_INIT;

		/* Records behind it may be those of an earlier attempt. */
		if (retried(up) || way[i].recovery)
			return false;
		if (!in_order(up))
			continue;
		struct begun b = begun_below(s, way[i - 1].path, way[i].index + 1);
		if (!b.any)
			continue;
		if (b.first != b.last || !is_handed_on(way, steps, i))
			return true;
		child_path(&reader, up, way[i - 1].path, b.first);
		return has_read(
			s, up->children[up->kind == NODE_EACH ? 0 : b.first], buf_str(&reader));
	}
	return false;
}

static bool is_needed(
	const struct search *s, struct str path, const struct leaf_record *record, bool err)
{
	struct way_step way[WAY_MAX];
	size_t steps = way_to(s->launch->subject.graph->root, path, way);
	const struct node *n = steps ? way[steps - 1].node : NULL;

	if (s->launch->subject.graph->steps || (n && n->step))
		return !n || !n->step ||
		       (err ? n->step->output_stderr.len > 0 : n->step->keeps_output);
	if (err)
		return false; /* it hears of failures only: that it is gone is reported then */
	if (!steps || s->looked_at > LOOKED_AT)
		return true;
	/* What a failed command has printed nothing reads but a recovery. */
	if (record->code || record->timed_out)
		return recovers(way, steps);
	return !is_read(s, way, steps);
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
	if (fstatat(s->out, buf_cstr(&name), &st, AT_SYMLINK_NOFOLLOW) == 0)
		return S_ISREG(st.st_mode) && (uint64_t)st.st_size >= bytes;
	if (errno != ENOENT)
		s->ok = report_errno(s->r, errno,
			"cannot look at %.*s/" OUTPUTS_DIR "/%s, which node %.*s printed",
			STR(s->launch->claim.dir), buf_cstr(&name), STR(path));
	return false;
}

static void look_for(void *data, struct str path, const struct leaf_record *record)
{
	struct search *s = data;

	if (!s->ok || !record->ended || record->cancelled)
		return;
	for (int err = 0; err < 2; err++) {
		if (is_there(s, path, record, err))
			continue;
		s->looked_at++;
		if (!s->ok || !is_needed(s, path, record, err))
			continue;
		vec_push(s->found, (struct gone){ path, record->number });
		return;
	}
}

bool gone_find(struct launch *l, const struct leaves *leaves, gone_list *ret, struct report *r)
{
	struct search s = { .launch = l, .leaves = leaves, .found = ret, .r = r, .ok = true };

	s.out = run_open_dir(l->claim.dir.p, OUTPUTS_DIR, false);
	if (s.out < 0 && s.out != -ENOENT)
		return report_errno(r, -s.out, "cannot open %.*s/" OUTPUTS_DIR, STR(l->claim.dir));
	leaves_each(leaves, look_for, &s);
	close_fd(&s.out);
	return s.ok;
}
