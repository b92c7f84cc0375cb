#include "steps/language/reference.h"
#include "steps/read/fields.h"
#include "steps/read/recipe.h"

/* A set of names, given out sorted. */
struct names {
	struct arena arena;
	struct map map;
};

static void add_name(struct names *n, struct str name)
{
	if (name.len)
		(void)map_put(&n->map, &n->arena, name);
}

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static json_t *sorted(struct names *n)
{
	struct str *all = arena_array(&n->arena, struct str, n->map.count + 1);
	json_t *list = json_array();
	size_t count = 0;

	map_each (e, &n->map)
		all[count++] = e->key;
	if (count)
		qsort(all, count, sizeof(*all), by_text);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_from_str(all[i]));
	arena_done(&n->arena);
	return list;
}

/* -- variables -----------------------------------------------------------------------------------
 */

/* Every reference in every text of a value. */
static void add_reads(struct names *n, const json_t *value)
{
	struct reference ref;
	const char *key;
	json_t *item;
	size_t i, at = 0;

	if (json_is_string(value))
		while (reference_next(json_str(value), &at, &ref))
			add_name(n, ref.path);
	else if (json_is_object(value))
		json_object_foreach((json_t *)value, key, item) add_reads(n, item);
	else if (json_is_array(value))
		json_array_foreach(value, i, item) add_reads(n, item);
}

static void add_sets(struct names *n, const struct step *s)
{
	add_name(n, s->output.text);
	add_name(n, s->rounds.collect.text);
	add_name(n, s->bash.output_stderr.text);
	add_name(n, s->bash.output_exit_code.text);
	for (size_t i = 0; i < s->rounds.update_context_count; i++)
		add_name(n, s->rounds.update_context[i].name);
}

static json_t *variables(const struct step_recipe *recipe)
{
	struct names read = { 0 }, set = { 0 };
	const json_t *root = recipe->doc.root;

	/* The steps as they are written hold those of their bodies, and stages hold gates. */
	add_reads(&read, json_object_get(root, recipe->stage_count ? "stages" : "steps"));
	for (size_t i = 0; i < recipe->all_count; i++)
		add_sets(&set, recipe->all[i]);
	return json_pack("{s:o, s:o}", "read", sorted(&read), "set", sorted(&set));
}

/* -- steps and stages ----------------------------------------------------------------------------
 */

static void set_text(json_t *object, const char *key, struct str text)
{
	json_object_set_new(object, key, text.len ? json_from_str(text) : json_null());
}

static json_t *step_facts(const struct step *s)
{
	json_t *o = json_object();

	set_text(o, "id", s->id);
	json_object_set_new(o, "type", json_string(step_type_name(s->type)));
	set_text(o, "stage", s->stage ? s->stage->name : S(""));
	set_text(o, "parent", s->parent ? s->parent->id : S(""));
	set_text(o, "agent", s->agent.name.text);
	set_text(o, "recipe", s->called.recipe.text);
	set_text(o, "loop",
		s->loop == STEP_FOREACH ? S("foreach")
		: s->loop == STEP_WHILE ? S("while")
					: S(""));
	set_text(o, "condition", s->condition.text);
	return o;
}

json_t *step_recipe_facts(const struct step_recipe *recipe)
{
	json_t *steps = json_array(), *stages = json_array();

	for (size_t i = 0; i < recipe->all_count; i++)
		json_array_append_new(steps, step_facts(recipe->all[i]));
	for (size_t i = 0; i < recipe->stage_count; i++) {
		const struct step_stage *stage = recipe->stages[i];
		json_t *o = json_object();

		set_text(o, "name", stage->name);
		json_object_set_new(o, "approval", json_boolean(stage->approval.required));
		json_array_append_new(stages, o);
	}
	return json_pack("{s:o, s:o, s:o}", "steps", steps, "stages", stages, "variables",
		variables(recipe));
}
