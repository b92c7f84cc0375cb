#include "app/launch/kept.h"

#include <inttypes.h>

#include "graph/call.h"
#include "graph/label.h"
#include "graph/settings.h"
#include "graph/step.h"
#include "steps/compile/compile.h"
#include "steps/language/reference.h"
#include "template/braces.h"

/* What can be said about a node of the graph that a way leads through. */
enum sight {
	SEES_VALUES, /* a template: its texts come out with the old values and with the new ones */
	SEES_NAMES,  /* steps: their texts name variables, and some of these begin otherwise */
	SEES_LITTLE, /* a template that a step has called: what it is given is not known here */
};

struct kept {
	const struct launch *launch;
	struct str run;
	struct called *called;
	const struct redo *redo; /* NULL: all of the records hold */
	struct plan *was;        /* NULL: the recipe has steps */
	const json_t *changed;   /* names of values → anything */
	struct arena arena;
	struct map seen;            /* path of a node that was looked at → anything */
	struct scope *rooms[2];     /* of a way: with the old values, with the new ones */
	const struct scope *now[2]; /* the scopes inside the node that is looked at */
	json_t *names;              /* SEES_NAMES: variables that begin otherwise */
	enum sight sight;
	struct report *r;
	bool ok;
};

static bool refuse(struct kept *k, const struct way_step *at, const char *why)
{
	struct str label = node_body(at->node)->label;

	k->ok = false;
	report_refuse(k->r, k->run, "kept results",
		"the results of node %.*s%s%.*s%s are kept, and with these values %s",
		STR(at->path), label.len ? " '" : "", STR(label), label.len ? "'" : "", why);
	report_hint(
		k->r, "values are for what is run: a rerun can begin at that node or before it");
	return report_action(k->r, ACTION_NAME_NODE, k->run);
}

/* -- templates -----------------------------------------------------------------------------------
 */

static bool same_label(const struct kept *k, const struct node *n)
{
	AUTO_BUF was = BUF_INIT;
	AUTO_BUF now = BUF_INIT;

	label_resolve(node_body(n), k->now[0], &was);
	label_resolve(node_body(n), k->now[1], &now);
	return str_eq(buf_str(&was), buf_str(&now));
}

/* `next` is the copy that the way leads through; NULL: it ends here. */
static bool check_copies(struct kept *k, const struct way_step *at, const struct way_step *next)
{
	const struct count *count = &at->node->count;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF why = BUF_INIT;
	uint64_t was = 0, now = 0;

	if (!count_resolve(count, k->now[0], &was, &ignored) ||
		!count_resolve(count, k->now[1], &now, &ignored) || was != now) {
		buf_printf(&why, "it would have %" PRIu64 " cop%s, not %" PRIu64, now,
			now == 1 ? "y" : "ies", was);
		return refuse(k, at, buf_cstr(&why));
	}
	if (count->number || !next)
		return true;
	const json_t *items = braces_array(k->now[0], count->array);
	const json_t *others = braces_array(k->now[1], count->array);
	return json_equal(
		       json_array_get(items, next->index), json_array_get(others, next->index)) ||
	       refuse(k, next, "it would be for another item");
}

static bool check_values(struct kept *k, const struct way_step *at, const struct way_step *next)
{
	AUTO_REPORT ignored = REPORT_INIT;
	bool was = true, now = true;

	if (!plan_guard(at->node, k->now[0], &was, &ignored) ||
		!plan_guard(at->node, k->now[1], &now, &ignored) || (was && !now))
		return refuse(k, at, "it would be left out");
	if (!same_label(k, at->node))
		return refuse(k, at, "it would have another name");
	return at->node->kind != NODE_EACH || check_copies(k, at, next);
}

static void enter(struct kept *k, const struct way_step *way, size_t i)
{
	const struct node *n = way[i].node, *up = i ? way[i - 1].node : NULL;
	bool copy = up && up->kind == NODE_EACH && !way[i].recovery;

	for (int side = 0; side < 2; side++) {
		AUTO_REPORT ignored = REPORT_INIT;
		struct scope *room = &k->rooms[side][i];
		uint64_t count = 0;

		if (copy)
			(void)count_resolve(&up->count, k->now[side], &count, &ignored);
		k->now[side] = copy ? plan_enter_copy(n, k->now[side], (int64_t)way[i].index,
					      (int64_t)count, room)
				    : plan_enter(n, k->now[side], room);
	}
}

/* -- steps ---------------------------------------------------------------------------------------
 */

static bool text_mentions(const json_t *names, struct str text)
{
	struct reference ref;
	size_t at = 0;

	while (reference_next(text, &at, &ref)) {
		struct str name = reference_variable(&ref);

		if (json_object_getn(names, name.p, name.len))
			return true;
	}
	return false;
}

static bool mentions(const json_t *names, const struct text *t)
{
	return t && text_mentions(names, t->raw);
}

static bool value_mentions(const json_t *names, const json_t *value)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value))
		return text_mentions(names, json_str(value));
	json_array_foreach((json_t *)value, i, item)
	{
		if (value_mentions(names, item))
			return true;
	}
	json_object_foreach((json_t *)value, key, item)
	{
		if (value_mentions(names, item))
			return true;
	}
	return false;
}

static bool check_names(struct kept *k, const struct way_step *at)
{
	const struct node *n = at->node;
	const struct node_loop *loop = &n->step->loop;

	if (mentions(k->names, n->when))
		return refuse(k, at, "its condition may come out otherwise");
	if (node_repeats(n) &&
		(mentions(k->names, loop->list) || mentions(k->names, loop->condition) ||
			mentions(k->names, loop->break_when)))
		return refuse(k, at, "it may have other rounds");
	if (n->kind == NODE_CALL && text_mentions(k->names, step_of(n)->called.recipe.text))
		return refuse(k, at, "it may call another recipe");
	return true;
}

static bool check_little(struct kept *k, const struct way_step *at)
{
	const struct node *n = at->node;

	return (!n->when && !n->label_parts && (!node_repeats(n) || n->count.number)) ||
	       refuse(k, at, "it may become another");
}

/* -- through calls -------------------------------------------------------------------------------
 */

/* The names whose values differ; a new object. */
static json_t *differing(const json_t *was, const json_t *now)
{
	json_t *names = json_object(), *value;
	const char *key;

	json_object_foreach((json_t *)was, key, value)
	{
		if (!json_equal(value, json_object_get(now, key)))
			json_object_set_new_nocheck(names, key, json_true());
	}
	json_object_foreach((json_t *)now, key, value)
	{
		if (!json_object_get(was, key))
			json_object_set_new_nocheck(names, key, json_true());
	}
	return names;
}

/* What begins otherwise in the recipe that `call` calls. */
static json_t *passed_on(struct kept *k, const struct node *call)
{
	AUTO_REPORT ignored = REPORT_INIT;
	json_t *names, *value;
	const char *key;

	if (k->sight == SEES_LITTLE)
		return json_incref(k->names);
	if (k->sight == SEES_VALUES) {
		AUTO_JSON *was = call_values(call, k->now[0], &ignored);
		AUTO_JSON *now = call_values(call, k->now[1], &ignored);

		return differing(was, now);
	}
	names = json_object();
	json_object_foreach((json_t *)step_of(call)->called.context.value, key, value)
	{
		if (value_mentions(k->names, value))
			json_object_set_new_nocheck(names, key, json_true());
	}
	return names;
}

static void enter_called(struct kept *k, const struct node *call, const struct node *root)
{
	json_t *names = passed_on(k, call);

	json_decref(k->names);
	k->names = names;
	k->sight = root->step && k->sight != SEES_LITTLE ? SEES_NAMES : SEES_LITTLE;
}

/* -- all of it -----------------------------------------------------------------------------------
 */

static bool check_node(struct kept *k, const struct way_step *at, const struct way_step *next)
{
	switch (k->sight) {
	case SEES_VALUES:
		return check_values(k, at, next);
	case SEES_NAMES:
		return check_names(k, at);
	case SEES_LITTLE:
		break;
	}
	return check_little(k, at);
}

static void check_way(struct kept *k, const struct way_step *way, size_t steps)
{
	bool by_steps = k->launch->subject.graph->steps;

	json_decref(k->names);
	k->names = json_incref((json_t *)k->changed);
	k->sight = by_steps ? SEES_NAMES : SEES_VALUES;
	k->now[0] = by_steps ? NULL : &k->was->scope;
	k->now[1] = by_steps ? NULL : &k->launch->subject.plan->scope;
	for (size_t i = 0; i < steps && k->ok; i++) {
		if (i && way[i - 1].node->kind == NODE_CALL)
			enter_called(k, way[i - 1].node, way[i].node);
		if (k->sight == SEES_VALUES)
			enter(k, way, i);
		else if (!json_object_size(k->names))
			return; /* nothing is otherwise from here on */
		void **seen = map_put(&k->seen, &k->arena, way[i].path);
		/* Each copy of a fan-out is looked at for its item. */
		if (!*seen || node_repeats(way[i].node))
			(void)check_node(k, &way[i], i + 1 < steps ? &way[i + 1] : NULL);
		*seen = k;
	}
}

static void check_leaf(void *data, struct str path, const struct leaf_record *record)
{
	struct way_step way[WAY_MAX];
	struct kept *k = data;

	if (!k->ok || !record->ended || record->cancelled || record->lost ||
		(k->redo && !redo_holds(k->redo, path)) || map_get(&k->seen, path))
		return;
	check_way(k, way, called_way(k->called, path, way));
}

/* The plan with the values of before and all else as it is now. */
static struct plan *plan_before(const struct launch *l, const struct kept_values *v)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *values = json_copy(l->subject.values);
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)v->given, key, value)
	{
		json_t *was = json_object_get(v->before, key);

		if (was)
			json_object_set_nocheck(values, key, was);
		else
			json_object_del(values, key);
	}
	return plan_new(l->subject.graph, values, &ignored);
}

bool kept_check(const struct launch *l, struct str run, const struct kept_values *values,
	struct called *called, const struct leaves *leaves, const struct redo *redo,
	struct report *r)
{
	AUTO_JSON *changed = json_object();
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)values->given, key, value)
	{
		if (!json_equal(value, json_object_get(values->before, key)))
			json_object_set_new_nocheck(changed, key, json_true());
	}
	if (!json_object_size(changed) || (redo && redo->whole))
		return true;
	struct kept k = { .launch = l,
		.run = run,
		.called = called,
		.redo = redo,
		.was = l->subject.graph->steps ? NULL : plan_before(l, values),
		.changed = changed,
		.r = r,
		.ok = true };
	for (int side = 0; side < 2; side++)
		k.rooms[side] = arena_array(&k.arena, struct scope, WAY_MAX);
	/* Values of before that do not suit the graph cannot have been run with. */
	if (k.was || l->subject.graph->steps)
		leaves_each(leaves, check_leaf, &k);
	plan_unref(k.was);
	json_decref(k.names);
	arena_done(&k.arena);
	return k.ok;
}
