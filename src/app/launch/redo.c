#include "app/launch/redo.h"

#include "base/node-path.h"
#include "runs/dir/events.h"

void redo_init(struct redo *d, struct called *called)
{
	*d = (struct redo){ .called = called };
}

void redo_done(struct redo *d)
{
	arena_done(&d->arena);
}

/* -- what runs again -----------------------------------------------------------------------------
 */

static bool sequential(const struct node *n)
{
	return n->kind == NODE_SEQUENCE || (n->kind == NODE_EACH && !n->each_parallel) ||
	       n->kind == NODE_WHILE;
}

/* What comes behind the child `index` of the sequence at `path` runs again. */
static void note_later(struct redo *d, struct str path, uint64_t index)
{
	void **slot = map_put(&d->later, &d->arena, path);
	uint64_t *first = *slot;

	if (!first) {
		*slot = first = arena_new(&d->arena, uint64_t);
		*first = index;
	}
	*first = MIN(*first, index);
}

static void add(
	struct redo *d, const struct way_step *way, size_t steps, const struct redo_node *why)
{
	void **slot = map_put(&d->again, &d->arena, way[steps - 1].path);
	struct redo_node *node = *slot;

	if (!node)
		*slot = node = arena_new(&d->arena, struct redo_node);
	if (why)
		*node = *why;
	for (size_t i = 0; i + 1 < steps; i++) {
		*map_put(&d->above, &d->arena, way[i].path) = d;
		if (sequential(way[i].node))
			note_later(d, way[i].path, way[i + 1].index);
	}
}

/* The way to the node, or to the nearest around it that can be found. A recovery belongs to the
 * node that it recovers. 0: there is none. */
static size_t nearest(struct redo *d, struct str path, struct way_step way[WAY_MAX])
{
	size_t steps = path.len ? called_way(d->called, path, way) : 0;

	while (!steps && path.len) {
		size_t end = path.len;

		while (end && path.p[end - 1] != '.')
			end--;
		path = str_sub(path, 0, end ? end - 1 : 0);
		steps = path.len ? called_way(d->called, path, way) : 0;
	}
	for (size_t i = 1; i < steps; i++)
		if (way[i].recovery)
			return i;
	return steps;
}

void redo_add(struct redo *d, struct str path, const struct redo_node *why)
{
	struct way_step way[WAY_MAX];
	size_t steps = nearest(d, path, way);

	if (steps)
		add(d, way, steps, why);
	else
		d->whole = true;
}

/* Whether nothing comes behind the last of these nodes within the first. */
static bool ends_it(const struct way_step *way, size_t steps)
{
	for (size_t i = 0; i + 1 < steps; i++)
		if (way[i].node->kind != NODE_SEQUENCE || way[i + 1].recovery ||
			way[i + 1].index + 1 < way[i].node->child_count)
			return false;
	return true;
}

enum redo_reach redo_reach(const struct redo *d, struct str path, struct str failed)
{
	struct way_step way[WAY_MAX], before[WAY_MAX];
	size_t steps = path.len ? called_way(d->called, path, way) : 0;
	size_t others = failed.len ? called_way(d->called, failed, before) : 0;
	size_t same = 0;

	while (same < MIN(steps, others) && str_eq(way[same].path, before[same].path))
		same++;
	if (!same || same == MIN(steps, others) || !sequential(way[same - 1].node) ||
		before[same].index > way[same].index || !redo_holds(d, failed))
		return REDO_REACHES;
	return ends_it(before + same, others - same) ? REDO_PASSES : REDO_CUT_OFF;
}

/* -- what failed ---------------------------------------------------------------------------------
 */

/* All that is known about failures of the old run. */
struct failing {
	struct redo *redo;
	struct arena arena;
	struct map last;     /* path → struct leaf_record: the last execution */
	struct map overcome; /* path → anything: a later attempt of a group around it succeeded */
	struct map groups;   /* path of a group that failed in the end → anything */
	bool groups_known;
	const char *dir;
};

static void see_leaf(void *data, struct str path, const struct leaf_record *record)
{
	struct failing *f = data;
	void **slot = map_put(&f->last, &f->arena, path);

	*slot = *slot ? *slot : arena_new(&f->arena, struct leaf_record);
	*(struct leaf_record *)*slot = *record;
}

/* Groups are told with their outcome when all their attempts are over. */
static bool see_group(void *data, struct str line, uint64_t seq)
{
	struct failing *f = data;

	(void)seq;
	if (!str_contains(line, S("\"type\":\"node.done\"")))
		return true;
	AUTO_JSON *event = json_loadb(line.p, line.len, 0, NULL);
	struct str outcome = json_text_of(event, "outcome");
	bool failed = str_eq(outcome, S("failed")) || str_eq(outcome, S("timeout"));
	*map_put(&f->groups, &f->arena, json_text_of(event, "path")) = failed ? f : NULL;
	return true;
}

static bool group_failed(struct failing *f, struct str path)
{
	if (!f->groups_known)
		(void)events_each(f->dir, 0, see_group, f);
	f->groups_known = true;
	return map_get(&f->groups, path) != NULL;
}

static bool tolerated(const struct way_step *way, size_t steps)
{
	for (size_t i = 0; i < steps; i++)
		if (way[i].node->failure_stated && way[i].node->failure == FAILURE_CONTINUE)
			return true;
	return false;
}

static bool is_retried(const struct node *n)
{
	return n->retry.text || n->retry.value > 1;
}

/* A group that has failed in all its attempts is done again from its beginning. */
static void add_failed(struct failing *f, struct str path, const struct redo_node *why, bool told)
{
	struct way_step way[WAY_MAX];
	size_t steps = nearest(f->redo, path, way);

	if (!steps) {
		f->redo->whole = true;
		return;
	}
	if (!told && tolerated(way, steps))
		return;
	for (size_t i = 0; i + 1 < steps; i++)
		if (is_retried(way[i].node) && group_failed(f, way[i].path))
			steps = i + 1;
	add(f->redo, way, steps, why);
}

/* The result knows what a step made of its command, and which failures were made good later. It
 * lists the first ones only; records of commands are complete. */
static void add_told(struct failing *f, const json_t *failures)
{
	json_t *failure;
	size_t i;

	json_array_foreach(failures, i, failure)
	{
		const struct redo_node why = {
			.failed = true,
			.timeout = json_is_true(json_object_get(failure, "timeout")),
			.code = (int)json_integer_value(json_object_get(failure, "code")),
		};
		struct str path = json_text_of(failure, "path");

		if (json_is_true(json_object_get(failure, "succeeded_later")))
			*map_put(&f->overcome, &f->arena, path) = f;
		else if (!json_is_true(json_object_get(failure, "tolerated")))
			add_failed(f, path, &why, true);
	}
}

void redo_add_failed(struct redo *d, const struct run_look *look, const struct leaves *leaves)
{
	struct failing f = { .redo = d, .dir = look->dir.p };

	leaves_each(leaves, see_leaf, &f);
	add_told(&f, json_object_get(look->result, "failures"));
	map_each (entry, &f.last) {
		const struct leaf_record *r = entry->value;
		const struct redo_node why = {
			.failed = true, .timeout = r->timed_out, .code = r->code
		};

		if (r->ended && !r->cancelled && !r->passed && (r->code || r->timed_out) &&
			!map_get(&f.overcome, entry->key) && !map_get(&d->again, entry->key))
			add_failed(&f, entry->key, &why, false);
	}
	arena_done(&f.arena);
}

/* -- what holds ----------------------------------------------------------------------------------
 */

static bool holds_below(const struct redo *d, struct str up, struct str path)
{
	const uint64_t *later = map_get(&d->later, up);
	uint64_t index;

	return !map_get(&d->again, up) &&
	       !(later && node_path_index(path, up, &index) && index > *later);
}

bool redo_holds(const struct redo *d, struct str path)
{
	if (d->whole || map_get(&d->again, path))
		return false;
	if (!str_eq(path, S(".")) && !holds_below(d, S("."), path))
		return false;
	for (size_t at = str_find(path, '.', 0); at + 1 < path.len;
		at = str_find(path, '.', at + 1))
		if (!holds_below(d, str_sub(path, 0, at), path))
			return false;
	return true;
}

bool redo_holds_all(const struct redo *d, struct str path)
{
	return redo_holds(d, path) && !map_get(&d->above, path);
}

const struct redo_node *redo_why(const struct redo *d, struct str path)
{
	const struct redo_node *why = map_get(&d->again, path);

	for (size_t at = path.len; !why && at > 0; at--)
		if (path.p[at - 1] == '.')
			why = map_get(&d->again, str_sub(path, 0, at - 1));
	return why ? why : map_get(&d->again, S("."));
}
