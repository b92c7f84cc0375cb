#include "app/catalog/plan.h"

#include "base/plain-text.h"
#include "data/json-out.h"
#include "graph/walk.h"

enum { LEAVES_MAX = 100000 }; /* that are shown, so that memory has a limit */

struct writing {
	struct buf *b;
	struct json_out *out; /* the same as JSON */
	const struct planned_host *host;
	size_t count;
	bool more; /* than are shown */
};

static void write_argv(struct json_out *o, const char *name, const struct walk_leaf *leaf)
{
	json_out_array(o, name);
	for (size_t i = 0; i < leaf->argc; i++)
		json_out_str(o, NULL, str_of(leaf->argv[i]));
	json_out_array_end(o);
}

/* Counts a command; false: there are more than are shown. */
static bool has_room(struct writing *w)
{
	w->more = w->count == LEAVES_MAX;
	w->count += !w->more;
	return !w->more;
}

static bool add_argv(void *data, const struct walk_leaf *leaf)
{
	struct writing *w = data;

	if (!leaf->argv)
		return true;
	if (!has_room(w))
		return false;
	write_argv(w->out, NULL, leaf);
	return true;
}

static bool add_leaf(void *data, const struct walk_leaf *leaf)
{
	struct writing *w = data;
	struct json_out *o = w->out;

	if (!leaf->argv)
		return true;
	if (!has_room(w))
		return false;
	/* The condition of a step that is a loop stands at the loop. */
	const struct node *n = leaf->node;
	if (n->step && !n->when && n->parent && node_repeats(n->parent))
		n = n->parent;
	json_out_object(o, NULL);
	json_out_str(o, "path", leaf->path);
	json_out_str_or_null(o, "label", leaf->node->label);
	write_argv(o, "argv", leaf);
	json_out_str(o, "cwd", str_of(leaf->cwd ? leaf->cwd : w->host->cwd));
	if (leaf->timeout_ms)
		json_out_uint(o, "timeout", leaf->timeout_ms);
	else
		json_out_null(o, "timeout");
	json_out_str_or_null(o, "when", n->when ? n->when->raw : S(""));
	json_out_object_end(o);
	return true;
}

static bool add_line(void *data, const struct walk_leaf *leaf)
{
	struct writing *w = data;

	if (w->count++ == LEAVES_MAX) {
		buf_printf(w->b, "… and more: the first %d are shown\n", LEAVES_MAX);
		return false;
	}
	buf_printf(w->b, "%.*s  ", STR(leaf->path));
	command_display(w->b, leaf->argv, leaf->argc);
	if (leaf->note.len) {
		buf_adds(w->b, leaf->argc ? "  # " : "# ");
		text_plain(w->b, leaf->note);
	}
	buf_addc(w->b, '\n');
	return true;
}

/* The plan has been checked when it was made, so walking it again finds nothing wrong. */
static bool walk(const struct plan *p, walk_fn *visit, struct writing w)
{
	AUTO_REPORT none = REPORT_INIT;

	if (p->graph->steps)
		planned_steps_walk(p, w.host, visit, &w);
	else
		(void)plan_walk(p, visit, &w, &none);
	return w.more;
}

void planned_json(const struct plan *p, const struct planned_host *host, struct buf *b)
{
	struct json_out o = { .b = b };

	json_out_object(&o, NULL);
	json_out_array(&o, "argv");
	(void)walk(p, add_argv, (struct writing){ .out = &o, .host = host });
	json_out_array_end(&o);
	json_out_array(&o, "leaves");
	bool more = walk(p, add_leaf, (struct writing){ .out = &o, .host = host });
	json_out_array_end(&o);
	if (more)
		json_out_bool(&o, "truncated", true);
	json_out_object_end(&o);
	buf_addc(b, '\n');
}

void planned_text(const struct plan *p, const struct planned_host *host, struct buf *b)
{
	(void)walk(p, add_line, (struct writing){ .b = b, .host = host });
}
