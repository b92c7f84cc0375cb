#include "graph/walk.h"

#include "base/node-path.h"
#include "graph/argv.h"
#include "graph/around.h"
#include "graph/call.h"
#include "graph/settings.h"
#include "template/braces.h"

struct walker {
	walk_fn *visit; /* NULL: only check */
	void *data;
	struct report *r;
	struct buf path;
	struct arena scratch;
	size_t visits;
	bool stopped;
};

static bool walk(struct walker *w, const struct node *n, const struct scope *s);

static bool walk_command(
	struct walker *w, const struct node *n, const struct scope *s, uint64_t timeout_ms)
{
	struct walk_leaf leaf = { .node = n, .timeout_ms = timeout_ms };

	arena_reset(&w->scratch);
	struct around around;
	bool ok = argv_build(n, s, &w->scratch, &leaf.argv, &leaf.argc, w->r);
	if (!around_build(n, s, &w->scratch, &around, w->r) || !ok)
		return false;
	leaf.cwd = around.cwd;
	leaf.path = n->parent || w->path.len ? buf_str(&w->path) : node_root_path(n);
	w->stopped = w->visit && !w->visit(w->data, &leaf);
	return !w->stopped;
}

/* Its steps are not resolved before they run: only what it is given. */
static bool walk_call(struct walker *w, const struct node *n, const struct scope *s)
{
	AUTO_JSON *passed = call_values(n, s, w->r);
	struct walk_leaf leaf = { .node = n, .passed = passed };

	leaf.path = n->parent || w->path.len ? buf_str(&w->path) : node_root_path(n);
	w->stopped = passed && w->visit && !w->visit(w->data, &leaf);
	return passed && !w->stopped;
}

/* -- copies --------------------------------------------------------------------------------------
 */

static bool text_differs(const struct text *t, const struct scope *s)
{
	return t && braces_mentions_copy(t, s);
}

/* Whether two copies of the node can resolve to different things. */
static bool copies_differ(const struct node *n, const struct scope *up)
{
	struct scope room;
	const struct scope *s = plan_enter(n, up, &room);

	if (text_differs(n->when, s) || text_differs(n->delay_ms.text, s) ||
		text_differs(n->timeout_ms.text, s) || text_differs(n->retry.text, s))
		return true;
	if (text_differs(n->cwd, s) || n->kind == NODE_CALL)
		return true;
	for (size_t i = 0; i < n->env_count; i++)
		if (text_differs(n->env[i].text, s))
			return true;
	for (size_t i = 0; i < n->word_count; i++)
		if (text_differs(n->words[i].text, s))
			return true;
	for (size_t i = 0; i < n->child_count; i++)
		if (copies_differ(n->children[i], s))
			return true;
	return false;
}

static bool walk_copies(struct walker *w, const struct node *each, const struct scope *s)
{
	const struct node *body = each->children[0];
	size_t len = w->path.len;
	struct scope room;
	uint64_t count;
	bool ok = true;

	if (!count_resolve(&each->count, s, &count, w->r))
		return false;
	bool once = !w->visit && !copies_differ(body, s);
	for (uint64_t i = 0; i < count && ok; i++) {
		if (!w->visit && w->visits > WALK_COPIES_MAX && i > 0)
			break;
		AUTO_BUF up = BUF_INIT;
		buf_add(&up, buf_str(&w->path));
		buf_reset(&w->path);
		node_path_copy(&w->path, buf_str(&up), i);
		ok = walk(w, body, plan_enter_copy(body, s, (int64_t)i, (int64_t)count, &room));
		buf_reset(&w->path);
		buf_add(&w->path, str_sub(buf_str(&up), 0, len));
		if (once)
			break;
	}
	return ok;
}

static bool walk_children(struct walker *w, const struct node *n, const struct scope *s)
{
	size_t len = w->path.len;
	struct scope room;
	bool ok = true;

	for (size_t i = 0; i < n->child_count && !w->stopped; i++) {
		const struct node *child = n->children[i];

		/* The parent's path is a prefix, so the child's is written behind it in place. */
		if (len)
			buf_addc(&w->path, '.');
		buf_printf(&w->path, "%zu", i);
		ok &= walk(w, child, plan_enter(child, s, &room));
		buf_truncate(&w->path, len);
	}
	return ok;
}

/* `s` is the scope inside the node. The mistakes of all nodes are found, not only the first, as
 * far as they can be told. */
static bool walk(struct walker *w, const struct node *n, const struct scope *s)
{
	uint64_t delay_ms, timeout_ms = 0, attempts;
	bool runs;

	if (report_full_of_errors(w->r))
		return false;
	w->visits++;
	if (!plan_guard(n, s, &runs, w->r))
		return false;
	if (!runs)
		return true;
	if (n->kind == NODE_EACH)
		return walk_copies(w, n, s);
	bool ok = setting_resolve(&n->delay_ms, "delay", SETTING_MS, s, &delay_ms, w->r);
	ok &= setting_resolve(&n->timeout_ms, "timeout", SETTING_MS, s, &timeout_ms, w->r);
	ok &= setting_resolve(&n->retry, "retry", SETTING_ATTEMPTS, s, &attempts, w->r);
	if (n->kind == NODE_COMMAND)
		return walk_command(w, n, s, timeout_ms) && ok;
	if (n->kind == NODE_CALL)
		return walk_call(w, n, s) && ok;
	return walk_children(w, n, s) && ok;
}

bool plan_walk(const struct plan *p, walk_fn *visit, void *data, struct report *r)
{
	struct walker w = { .visit = visit, .data = data, .r = r };
	struct scope room;
	bool ok = walk(&w, p->graph->root, plan_enter(p->graph->root, &p->scope, &room));

	buf_done(&w.path);
	arena_done(&w.scratch);
	return ok;
}

bool plan_check(const struct plan *p, struct report *r)
{
	return plan_walk(p, NULL, NULL, r);
}
