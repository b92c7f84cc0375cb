#include "app/planned.h"

#include <inttypes.h>

#include "base/plain-text.h"
#include "graph/walk.h"

enum { LEAVES_MAX = 100000 }; /* that are shown: nobody reads more, and memory has an end */

struct writing {
	struct buf *b;
	const struct planned_host *host;
	size_t count;
	bool more; /* than are shown */
};

static void write_argv(struct buf *b, const struct walk_leaf *leaf)
{
	buf_addc(b, '[');
	for (size_t i = 0; i < leaf->argc; i++) {
		if (i)
			buf_addc(b, ',');
		json_write_str(b, str_of(leaf->argv[i]));
	}
	buf_addc(b, ']');
}

static bool add_argv(void *data, const struct walk_leaf *leaf)
{
	struct writing *w = data;

	if (!leaf->argv)
		return true;
	w->more = w->count == LEAVES_MAX;
	if (w->more)
		return false;
	if (w->count++)
		buf_addc(w->b, ',');
	write_argv(w->b, leaf);
	return true;
}

static bool add_leaf(void *data, const struct walk_leaf *leaf)
{
	struct writing *w = data;

	if (!leaf->argv)
		return true;
	w->more = w->count == LEAVES_MAX;
	if (w->more)
		return false;
	if (w->count++)
		buf_addc(w->b, ',');
	buf_adds(w->b, "{\"path\":");
	json_write_str(w->b, leaf->path);
	buf_adds(w->b, ",\"label\":");
	json_write_str_or_null(w->b, leaf->node->label);
	buf_adds(w->b, ",\"argv\":");
	write_argv(w->b, leaf);
	buf_adds(w->b, ",\"cwd\":");
	json_write_str(w->b, str_of(leaf->cwd ? leaf->cwd : w->host->cwd));
	if (leaf->timeout_ms)
		buf_printf(w->b, ",\"timeout\":%" PRIu64, leaf->timeout_ms);
	else
		buf_adds(w->b, ",\"timeout\":null");
	/* The condition of a step that is a loop stands at the loop. */
	const struct node *n = leaf->node;
	if (n->step && !n->when && n->parent && node_repeats(n->parent))
		n = n->parent;
	buf_adds(w->b, ",\"when\":");
	json_write_str_or_null(w->b, n->when ? n->when->raw : S(""));
	buf_addc(w->b, '}');
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
	buf_adds(b, "{\"argv\":[");
	(void)walk(p, add_argv, (struct writing){ .b = b, .host = host });
	buf_adds(b, "],\"leaves\":[");
	bool more = walk(p, add_leaf, (struct writing){ .b = b, .host = host });
	buf_adds(b, more ? "],\"truncated\":true}\n" : "]}\n");
}

void planned_text(const struct plan *p, const struct planned_host *host, struct buf *b)
{
	(void)walk(p, add_line, (struct writing){ .b = b, .host = host });
}
