#include "app/past/nodes.h"

#include <inttypes.h>

#include "app/logs.h"
#include "app/past/elsewhere.h"
#include "base/node-path.h"
#include "data/json.h"
#include "graph/event.h"
#include "runs/dir/events.h"
#include "runs/dir/leaves.h"
#include "runs/dir/run-dir.h"

/* -- names ---------------------------------------------------------------------------------------
 */

static bool see_event(void *data, struct str line, uint64_t seq)
{
	struct run_handle *h = data;
	AUTO_JSON *object = json_loadb(line.p, line.len, 0, NULL);
	struct str type = json_text_of(object, "type"), path = json_text_of(object, "path");

	(void)seq;
	if (!path.len || !(str_eq(type, str_of(event_name(EVENT_COMMAND_START))) ||
				 str_eq(type, str_of(event_name(EVENT_NODE_REUSED)))))
		return true;
	void **place = map_put(&h->names, &h->names_arena, path);
	if (!*place) {
		struct past_name *n = arena_new(&h->names_arena, struct past_name);

		n->label = arena_str(&h->names_arena, json_text_of(object, "label"));
		n->item = arena_str(&h->names_arena, json_text_of(object, "item"));
		*place = n;
	}
	return true;
}

static void past_names_read(struct run_handle *h)
{
	AUTO_BUF dir = BUF_INIT;

	if (h->names_known)
		return;
	h->names_known = true;
	buf_add(&dir, run_dir(h));
	(void)events_each(buf_cstr(&dir), 0, see_event, h);
}

const struct past_name *past_name_find(struct run_handle *h, struct str path)
{
	past_names_read(h);
	return map_get(&h->names, path);
}

void past_names_refresh(struct run_handle *h)
{
	arena_done(&h->names_arena);
	h->names = (struct map){ 0 };
	h->names_known = false;
}

/* -- one of them ---------------------------------------------------------------------------------
 */

/* The executions of one path, in the order of their numbers. */
struct executions {
	struct str path;
	uint64_t wanted, count, number;
};

static bool see_leaf(void *data, const struct leaf_line *line)
{
	struct executions *x = data;

	if (line->kind != LEAF_START || !str_eq(line->path, x->path))
		return true;
	x->count++;
	if (!x->wanted || x->count == x->wanted)
		x->number = line->record.number;
	return true;
}

static bool choose_attempt(
	struct run_handle *h, uint64_t attempt, struct run_node *ret, struct report *r)
{
	struct executions x = { .path = ret->path, .wanted = attempt };
	struct arena a = ARENA_INIT;

	(void)leaf_lines_each(run_file(&a, run_dir(h), LEAVES_FILE), see_leaf, &x);
	arena_done(&a);
	ret->attempts = x.count;
	ret->attempt = attempt ? attempt : x.count;
	ret->number = x.number ? x.number : 1;
	if (!attempt || attempt <= x.count)
		return true;
	report_refuse(r, run_id(h), "no such attempt",
		"node '%.*s' has no attempt %" PRIu64 ": there %s %" PRIu64, STR(ret->path),
		attempt, x.count == 1 ? "was" : "were", x.count);
	return false;
}

/* What a word may mean, and how many fit. */
struct found {
	size_t labels, below;
	struct str path, label;
};

static struct found look_for(struct run_handle *h, struct str word)
{
	struct found f = { 0 };

	map_each (entry, &h->names) {
		const struct past_name *n = entry->value;
		AUTO_BUF both = BUF_INIT;

		buf_printf(&both, "%.*s %.*s", STR(n->label), STR(n->item));
		f.below += node_path_within(entry->key, word);
		if (!str_eq(n->label, word) &&
			!(n->item.len && (str_eq(n->item, word) || str_eq(buf_str(&both), word))))
			continue;
		if (!f.labels++) {
			f.path = entry->key;
			f.label = n->label;
		}
	}
	return f;
}

static bool refuse_node(struct run_handle *h, struct str word, size_t count, struct report *r)
{
	struct str id = run_id(h);

	if (count > 1) {
		report_refuse(
			r, id, "no such node", "%zu commands are called '%.*s'", count, STR(word));
		return report_hint(
			r, "name one by its path, as `events.jsonl` and pictures show it");
	}
	report_refuse(r, id, "no such node", "no command '%.*s' has been started in run '%.*s'",
		STR(word), STR(id));
	return report_action(r, ACTION_NODES, id);
}

bool run_node_find(struct run_handle *h, const char *text, uint64_t attempt, struct run_node *ret,
	struct report *r)
{
	struct str word = str_of(text);

	if (!h->ended)
		past_names_refresh(h);
	const struct past_name *n = past_name_find(h, word);
	*ret = (struct run_node){ .path = word };
	if (n) {
		ret->label = n->label;
		return choose_attempt(h, attempt, ret, r);
	}
	struct found f = look_for(h, word);
	if (f.labels == 1) {
		ret->path = f.path;
		ret->label = f.label;
		return choose_attempt(h, attempt, ret, r);
	}
	if (f.below && !f.labels) {
		ret->group = true;
		if (!attempt)
			return true;
		return report_error(r, (struct where){ 0 },
			"'%.*s' is a group of commands: an attempt is one of a single command",
			STR(word));
	}
	return refuse_node(h, word, f.labels, r);
}
