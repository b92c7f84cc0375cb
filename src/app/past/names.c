#include "app/past/names.h"

#include "app/record/freeze.h"
#include "base/node-path.h"
#include "base/plain-text.h"
#include "data/json.h"
#include "graph/event.h"
#include "graph/graph.h"
#include "graph/way.h"
#include "runs/dir/events.h"
#include "runs/dir/leaves.h"

/* -- reading -------------------------------------------------------------------------------------
 */

static void add_command(
	struct past_names *names, struct str path, struct str label, struct str item)
{
	void **place = map_put(&names->commands, &names->arena, path);

	if (*place)
		return;
	struct past_name *n = arena_new(&names->arena, struct past_name);
	n->label = arena_str(&names->arena, label);
	n->item = arena_str(&names->arena, item);
	*place = n;
}

static bool see_event(void *data, struct str line, uint64_t seq)
{
	struct past_names *names = data;
	AUTO_JSON *object = json_loadb(line.p, line.len, 0, NULL);
	struct str type = json_text_of(object, "type"), path = json_text_of(object, "path");

	(void)seq;
	/* One that could not be started may have an end alone. */
	if (path.len && (str_eq(type, str_of(event_name(EVENT_COMMAND_START))) ||
				str_eq(type, str_of(event_name(EVENT_COMMAND_DONE))) ||
				str_eq(type, str_of(event_name(EVENT_NODE_REUSED)))))
		add_command(
			names, path, json_text_of(object, "label"), json_text_of(object, "item"));
	return true;
}

static bool see_leaf(void *data, const struct leaf_line *line)
{
	if (line->kind == LEAF_START || line->kind == LEAF_EXIT)
		add_command(data, line->path, S(""), S(""));
	return true;
}

void past_names_read(struct past_names *n, const char *dir)
{
	arena_done(&n->arena);
	n->commands = MAP_INIT;
	buf_reset(&n->dir);
	buf_adds(&n->dir, dir);
	n->error = events_each(dir, 0, see_event, n);
	n->unread = EVENTS_FILE;
	/* The events may be lost, or the oldest of them dropped. */
	AUTO_BUF file = BUF_INIT;
	buf_printf(&file, "%s/" LEAVES_FILE, dir);
	if (n->error >= 0) {
		n->error = leaf_lines_each(buf_cstr(&file), see_leaf, n);
		n->unread = LEAVES_FILE;
	}
}

/* NULL: it cannot be read. */
static const struct node *root_of(struct past_names *n)
{
	AUTO_REPORT ignored = REPORT_INIT;

	if (!n->graph_known)
		n->graph = freeze_graph(buf_cstr(&n->dir), &ignored);
	n->graph_known = true;
	return n->graph ? n->graph->root : NULL;
}

void past_names_done(struct past_names *n)
{
	arena_done(&n->arena);
	buf_done(&n->dir);
	graph_unref(n->graph);
	*n = (struct past_names){ 0 };
}

/* -- finding -------------------------------------------------------------------------------------
 */

/* Whether a node is called so by its author. The label of copies stands at the one that is copied;
 * the group of them is called the same. */
static bool is_called(const struct node *n, struct str word)
{
	const struct node *body = node_body(n);

	return str_eq(n->label, word) || str_eq(n->import, word) ||
	       (!n->step && (str_eq(body->label, word) || str_eq(body->import, word)));
}

/* A name that is repeated in every round of a long loop names none of them. */
enum { FOUND_MOST = 100 };

static void add(past_paths *found, struct str path)
{
	size_t kept = 0;

	if (found->len == FOUND_MOST)
		return;
	vec_each (known, found)
		if (node_path_within(path, *known))
			return;
	for (size_t i = 0; i < found->len; i++)
		if (!node_path_within(found->at[i], path))
			found->at[kept++] = found->at[i];
	found->len = kept;
	vec_push(found, path);
}

/* Those that are written down once, whether they were reached or not. */
static void find_written(struct past_names *names, const struct node *n, struct str path,
	struct str word, past_paths *found)
{
	if (is_called(n, word)) {
		add(found, arena_str(&names->arena, path));
		return;
	}
	for (size_t i = 0; i < n->child_count && !node_repeats(n); i++) {
		AUTO_BUF child = BUF_INIT;

		node_path_child(&child, path, i);
		find_written(names, n->children[i], buf_str(&child), word, found);
	}
}

static bool command_is_called(const struct past_name *n, struct str word)
{
	AUTO_BUF both = BUF_INIT;

	if (!n->label.len)
		return false;
	if (str_eq(n->label, word))
		return true;
	text_name(&both, S(""), n->label, n->item);
	if (str_eq(str_from(buf_str(&both), 1), word)) /* behind the path, and as it is shown */
		return true;
	buf_reset(&both);
	buf_printf(&both, "%.*s %.*s", STR(n->label), STR(n->item));
	return n->item.len && str_eq(buf_str(&both), word);
}

/* Those that were reached, in copies and rounds too. */
static void find_reached(struct past_names *names, struct str word, past_paths *found)
{
	const struct node *root = root_of(names);
	struct way_step way[WAY_MAX];

	map_each (entry, &names->commands) {
		size_t steps = root ? way_to(root, entry->key, way) : 0, i = 0;

		while (i < steps && !is_called(way[i].node, word))
			i++;
		if (i + 1 < steps)
			add(found, way[i].path);
		else if (command_is_called(entry->value, word))
			add(found, entry->key);
	}
}

void past_names_find(struct past_names *n, struct str word, past_paths *ret)
{
	const struct node *root = root_of(n);
	past_paths items = { 0 };

	if (!word.len)
		return;
	if (root)
		find_written(n, root, node_root_path(root), word, ret);
	find_reached(n, word, ret);
	/* An item alone is the last that is meant. */
	map_each (entry, &n->commands) {
		const struct past_name *name = entry->value;

		if (!ret->len && str_eq(name->item, word))
			vec_push(&items, entry->key);
	}
	vec_each (path, &items)
		add(ret, *path);
	vec_done(&items);
}

bool past_names_has_path(struct past_names *n, struct str path)
{
	const struct node *root = root_of(n);
	struct way_step way[WAY_MAX];

	return root && way_to(root, path, way) > 0;
}

bool past_names_choose(
	const past_paths *found, struct str id, struct str word, struct str *ret, struct report *r)
{
	enum { SHOWN = 5 };
	AUTO_BUF paths = BUF_INIT;

	if (found->len == 1) {
		*ret = found->at[0];
		return true;
	}
	if (!found->len) {
		report_refuse(
			r, id, "no such node", "run '%.*s' has no node '%.*s'", STR(id), STR(word));
		return false;
	}
	for (size_t i = 0; i < found->len && i < SHOWN; i++)
		buf_printf(&paths, "%s%.*s", i ? ", " : "", STR(found->at[i]));
	report_refuse(r, id, "no such node", "%s%zu nodes are called '%.*s'",
		found->len == FOUND_MOST ? "at least " : "", found->len, STR(word));
	return report_hint(
		r, "name one by its path: %s%s", buf_cstr(&paths), found->len > SHOWN ? ", …" : "");
}
