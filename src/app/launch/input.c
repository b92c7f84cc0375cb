#include "app/launch/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/launch/take-back.h"
#include "base/node-path.h"
#include "graph/way.h"
#include "runs/dir/open.h"

/* -- who reads it --------------------------------------------------------------------------------
 */

/* Whether a command in it may read what it is given. A call of a step recipe takes that and reads
 * none of it. */
static bool may_read(const struct node *n)
{
	if (n->kind == NODE_COMMAND)
		return true;
	for (size_t i = 0; n->kind != NODE_CALL && i < n->child_count; i++) {
		const struct node *child = n->children[i];

		if (may_read(child))
			return true;
		if (n->kind == NODE_SEQUENCE && child->runs && !child->when)
			return false; /* what comes next reads what this has printed */
	}
	return false;
}

/* Those who read the run's input come first in every sequence. */
static bool reads_input(const struct launch *l, struct str path)
{
	struct way_step way[WAY_MAX];
	size_t steps = way_to(l->subject.graph->root, path, way);

	for (size_t i = 1; i < steps; i++) {
		const struct node *up = way[i - 1].node;

		if (up->kind == NODE_CALL || (!node_joins(up) && way[i].index))
			return false;
	}
	return steps > 0;
}

struct readers {
	const struct launch *launch;
	bool ended, missing;
};

static void look_at_reader(void *data, struct str path, const struct leaf_record *record)
{
	struct readers *r = data;

	if (!reads_input(r->launch, path))
		return;
	r->ended |= record->ended && !record->cancelled;
	r->missing |= !record->ended || record->cancelled;
}

struct counted {
	struct str path;
	bool any;
};

static void look_for_end(void *data, struct str path, const struct leaf_record *record)
{
	struct counted *c = data;

	c->any |= record->ended && !record->cancelled && str_eq(path, c->path);
}

/* Whether a command is certain to read the run's input: one branch may have been taken back, or not
 * reached, while the others have ended. */
static bool will_read(const struct leaves *leaves, const struct node *n, struct str path)
{
	struct counted c = { .path = path };

	if (n->when || !n->runs)
		return false; /* it may be left out */
	if (n->kind == NODE_COMMAND) {
		leaves_each(leaves, look_for_end, &c);
		return !c.any;
	}
	if (n->kind != NODE_PARALLEL && n->kind != NODE_SEQUENCE)
		return false;
	size_t count = n->kind == NODE_PARALLEL ? n->child_count : MIN(n->child_count, (size_t)1);
	for (size_t i = 0; i < count; i++) {
		AUTO_BUF below = BUF_INIT;

		node_path_child(&below, path, i);
		if (will_read(leaves, n->children[i], buf_str(&below)))
			return true;
	}
	return false;
}

/* Whether a command that has to run reads the run's input, or may do so. */
static bool is_read(struct launch *l, const struct leaves *leaves)
{
	struct readers r = { .launch = l };
	const struct node *root = l->subject.graph->root;

	if (!may_read(root))
		return false;
	leaves_each(leaves, look_at_reader, &r);
	return r.missing || !r.ended || will_read(leaves, root, node_root_path(root));
}

bool input_is_part(struct launch *l, const struct leaves *leaves, uint64_t *bytes)
{
	return l->asked.has_input && leaves_input_is_part(leaves, bytes) && is_read(l, leaves);
}

bool input_is_lacking(struct launch *l, const struct leaves *leaves)
{
	struct stat st;

	if (!l->asked.has_input)
		return false;
	/* What is there and cannot be read is reported when it is opened. */
	bool cut = lstat(run_file(&l->arena, l->claim.dir, "stdin"), &st) == 0
			   ? S_ISREG(st.st_mode) && (uint64_t)st.st_size < leaves_input(leaves)
			   : errno == ENOENT;
	return cut && is_read(l, leaves);
}

bool input_refuse_lacking(struct launch *l, const struct run_look *look, struct report *r)
{
	/* What was killed has no result that could tell. */
	bool cut = access(run_file(&l->arena, look->dir, "stdin"), F_OK) < 0 &&
		   (!look->result || json_is_true(json_object_get(look->result, "input_cut")));

	if (cut) {
		report_refuse(r, look->id, "cannot go on",
			"the standard input was not read to its end before the run was cut short");
		return report_hint(r, "start it again with its input");
	}
	const char *file = run_file(&l->arena, look->dir, "stdin");
	report_refuse(r, look->id, "cannot go on", "%s %s, and a command that has to run reads it",
		file, access(file, F_OK) == 0 ? "was cut" : "is gone");
	return report_hint(r, "bring it back, or start the run again with its input");
}

static void forget(void *data, struct str path, const struct leaf_record *record UNUSED)
{
	(void)leaves_forget(data, path);
}

bool input_was_cut(struct launch *l, const struct run_result *res)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct str node = res->failed;

	if (!res->input_cut)
		return false;
	struct leaves *leaves =
		leaves_read(run_file(&l->arena, l->claim.dir, LEAVES_FILE), &ignored);
	if (!leaves)
		return false;
	if (!node.len && res->status == RUN_TIMEOUT)
		node = node_root_path(l->subject.graph->root);
	if (node.len)
		resume_forgets(l, leaves, node, res->retried, forget, leaves);
	bool lacking = input_is_lacking(l, leaves);
	leaves_free(leaves);
	return lacking;
}

/* -- opening it ----------------------------------------------------------------------------------
 */

bool input_unreadable(struct launch *l, struct str dir, int error, struct report *r)
{
	/* The user has not named it: also a file of another kind is not the user's mistake. */
	report_system(r, (struct where){ 0 }, "cannot read %s, the run's standard input: %s",
		run_file(&l->arena, dir, "stdin"), strerror(error));
	return report_hint(r, "nothing has been executed: make the file readable, then try again");
}

bool input_open(struct launch *l, bool may_be_gone, int *ret, struct report *r)
{
	*ret = run_open(l->claim.dir.p, "stdin", O_RDONLY);
	return *ret >= 0 || (*ret == -ENOENT && may_be_gone) ||
	       input_unreadable(l, l->claim.dir, -*ret, r);
}
