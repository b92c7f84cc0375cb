#include "app/past/nodes.h"

#include <inttypes.h>

#include "app/logs.h"
#include "app/past/elsewhere.h"
#include "base/node-path.h"
#include "runs/dir/leaves.h"
#include "runs/dir/run-dir.h"

/* -- names ---------------------------------------------------------------------------------------
 */

static struct past_names *names_of(struct run_handle *h)
{
	AUTO_BUF dir = BUF_INIT;

	if (!h->names_known) {
		buf_add(&dir, run_dir(h));
		past_names_read(&h->names, buf_cstr(&dir));
	}
	h->names_known = true;
	return &h->names;
}

const struct past_name *past_name_find(struct run_handle *h, struct str path)
{
	return map_get(&names_of(h)->commands, path);
}

/* -- one of them ---------------------------------------------------------------------------------
 */

struct execution_search {
	struct str path;
	uint64_t wanted, last;
	struct executions found;
};

static bool see_leaf(void *data, const struct leaf_line *line)
{
	struct execution_search *x = data;
	const struct leaf_record *leaf = &line->record;
	bool begins = line->kind == LEAF_START ||
		      (line->kind == LEAF_EXIT && leaf->number != x->last && leaf->err_bytes);

	if (!str_eq(line->path, x->path))
		return true;
	if (begins) {
		x->last = leaf->number;
		x->found.count++;
		if (!x->wanted || x->found.count == x->wanted) {
			x->found.number = leaf->number;
			x->found.has_out = x->found.has_err = false;
		}
	}
	if (line->kind == LEAF_EXIT && leaf->number == x->found.number) {
		x->found.has_out = leaf->out_bytes > 0;
		x->found.has_err = leaf->err_bytes > 0;
	}
	return true;
}

int run_executions(struct run_handle *h, struct str path, uint64_t wanted, struct executions *ret)
{
	struct execution_search x = { .path = path, .wanted = wanted };
	struct arena a = ARENA_INIT;

	int e = leaf_lines_each(run_file(&a, run_dir(h), LEAVES_FILE), see_leaf, &x);
	arena_done(&a);
	*ret = x.found;
	return e;
}

static bool choose_attempt(
	struct run_handle *h, uint64_t attempt, struct run_node *ret, struct report *r)
{
	struct executions x;

	int e = run_executions(h, ret->path, attempt, &x);
	/* Which attempt was the last is not known then. */
	if (e < 0)
		return report_fault(r, -e, "cannot read %.*s/" LEAVES_FILE, STR(run_dir(h)));
	ret->attempts = x.count;
	ret->attempt = attempt ? attempt : x.count;
	ret->number = x.number ? x.number : 1;
	ret->has_out = x.has_out;
	ret->has_err = x.has_err;
	if (!attempt || attempt <= x.count)
		return true;
	report_refuse(r, run_id(h), "no such attempt",
		"node '%.*s' has no attempt %" PRIu64 ": there %s %" PRIu64, STR(ret->path),
		attempt, x.count == 1 ? "was" : "were", x.count);
	return false;
}

static bool has_commands(const struct past_names *names, struct str path)
{
	map_each (entry, &names->commands)
		if (node_path_within(entry->key, path))
			return true;
	return false;
}

/* Which commands have been started is not known then. */
static bool refuse_unread(struct run_handle *h, struct report *r)
{
	struct str dir = run_dir(h);
	int error = -h->names.error;

	h->names_known = false;
	return report_fault(r, error, "cannot read %.*s/%s", STR(dir), h->names.unread);
}

/* A path is a path, also when something is called so. */
static bool find_path(struct run_handle *h, struct str word, struct str *ret, struct report *r)
{
	struct past_names *names = names_of(h);
	past_paths found = { 0 };

	*ret = word;
	if (has_commands(names, word) || past_names_has_path(names, word))
		return true;
	if (names->error < 0)
		return refuse_unread(h, r);
	past_names_find(names, word, &found);
	bool ok = past_names_choose(&found, run_id(h), word, ret, r);
	if (!found.len && run_status(h) != ROUX_RUNNING)
		report_action(r, ACTION_NODES, run_id(h));
	vec_done(&found);
	return ok;
}

bool run_node_find(struct run_handle *h, const char *text, uint64_t attempt, struct run_node *ret,
	struct report *r)
{
	struct str word = str_of(text);

	*ret = (struct run_node){ 0 };
	if (!h->ended)
		h->names_known = false; /* more may have come */
	if (!find_path(h, word, &ret->path, r))
		return false;
	const struct past_name *n = past_name_find(h, ret->path);
	if (n) {
		ret->label = n->label;
		return choose_attempt(h, attempt, ret, r);
	}
	if (!has_commands(&h->names, ret->path) && h->names.error < 0)
		return refuse_unread(h, r);
	if (!has_commands(&h->names, ret->path))
		return report_refuse(r, run_id(h), "no such node",
			"no command of node '%.*s' has been started in run '%.*s'", STR(word),
			STR(run_id(h)));
	ret->group = true;
	return !attempt || report_error(r, (struct where){ 0 },
				   "'%.*s' is a group of commands: an attempt is one of a single "
				   "command",
				   STR(word));
}
