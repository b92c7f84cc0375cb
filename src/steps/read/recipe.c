#include "steps/read/recipe.h"

#include "data/yaml.h"
#include "steps/language/value.h"
#include "steps/read/names.h"
#include "steps/read/read.h"

/* -- the mapping at the top ----------------------------------------------------------------------
 */

static const struct key *key_of(const char *name)
{
	return key_find(KEY_IN_RECIPE, str_of(name));
}

/* A member of the top that is there and of the right type. */
static const json_t *usable(const struct key_object *top, const char *name)
{
	const json_t *value = json_object_get(top->value, name);

	return value && !json_is_null(value) && key_accepts(key_of(name), value) ? value : NULL;
}

static bool refuse(struct step_reader *rd, const struct recipe_text *t, const char *key,
	const char *wanted, const char *hint)
{
	struct report *r = rd->keys.r;

	report_error(r, place_where(t->place), "`%s` is '%.*s', expected %s", key,
		STR(report_quote(r, t->text)), wanted);
	return report_hint(r, "%s", hint);
}

static void check_names(struct step_reader *rd)
{
	const struct step_recipe *out = rd->keys.recipe;

	if (out->name.text.len && !name_of_recipe(out->name.text))
		refuse(rd, &out->name, "name", "letters, digits, '-' and '_'",
			"a name such as code-review; `description` may be any text");
	if (out->version.text.len && !name_of_version(out->version.text))
		refuse(rd, &out->version, "version", "three numbers such as 1.0.0",
			"without 'v' before it and nothing behind it");
}

/* A mapping with keys of its own, into its struct. */
static bool read_inside(
	struct step_reader *rd, const struct key_object *top, const char *name, void *into)
{
	if (!usable(top, name))
		return false;
	struct key_object inside = key_inside(&rd->keys, top, key_of(name), into);
	keys_read(&rd->keys, &inside);
	return true;
}

static void read_rate_limiting(struct step_reader *rd, const struct key_object *top)
{
	struct step_rate_limiting *rate = &rd->keys.recipe->rate_limiting;
	struct step_rate_backoff *b = &rate->backoff;

	keys_default(KEY_IN_RATE_LIMITING, rate);
	keys_default(KEY_IN_BACKOFF, b);
	rate->given = read_inside(rd, top, "rate_limiting", rate);
	const json_t *backoff = json_object_get(usable(top, "rate_limiting"), "backoff");
	if (!json_is_object(backoff))
		return;
	struct key_object outer = key_inside(&rd->keys, top, key_of("rate_limiting"), rate);
	struct key_object inner =
		key_inside(&rd->keys, &outer, key_find(KEY_IN_RATE_LIMITING, S("backoff")), b);
	keys_read(&rd->keys, &inner);
	if (b->max_delay_ms >= b->initial_delay_ms)
		return;
	report_error(rd->keys.r, place_where(inner.place),
		"%.*s`max_delay_ms` (%lld) is less than `initial_delay_ms` (%lld)", STR(inner.what),
		(long long)b->max_delay_ms, (long long)b->initial_delay_ms);
	report_hint(rd->keys.r, "delays grow from the one to the other");
}

static void read_orchestrator(struct step_reader *rd, const struct key_object *top)
{
	const struct key *k = key_find(KEY_IN_ORCHESTRATOR, S("config"));
	const json_t *value = usable(top, "orchestrator");

	if (!read_inside(rd, top, "orchestrator", NULL) ||
		!json_is_object(json_object_get(value, k->name.p)))
		return;
	struct key_object outer = key_inside(&rd->keys, top, key_of("orchestrator"), NULL);
	struct key_object inner = key_inside(&rd->keys, &outer, k, NULL);
	keys_read(&rd->keys, &inner);
}

/* A list of names at the top. */
static void read_names(struct step_reader *rd, const struct key_object *top, const char *name,
	const struct str **ret, size_t *count)
{
	struct step_recipe *out = rd->keys.recipe;
	const json_t *list = usable(top, name);
	const struct key *k = key_of(name);

	if (!list)
		return;
	size_t before = rd->keys.r->errors;
	/* keys_read() has looked at its elements; no word twice. */
	AUTO_REPORT again = REPORT_INIT;
	struct key_reader quiet = { out, rd->keys.a, &again };
	if (key_texts(&quiet, top, k, list, key_place(&rd->keys, top, k->name), ret, count) &&
		before == rd->keys.r->errors)
		return;
	*count = 0;
}

/* The name of each is one that a caller can give. */
static void read_required(struct step_reader *rd, const struct key_object *top)
{
	struct step_recipe *out = rd->keys.recipe;

	read_names(rd, top, "required", &out->required, &out->required_count);
	for (size_t i = 0; i < out->required_count; i++) {
		struct report *r = rd->keys.r;
		const struct place *p =
			place_element(rd->keys.a, key_place(&rd->keys, top, S("required")), i);

		if (name_of_variable(out->required[i]) && !name_reserved(out->required[i], false))
			continue;
		report_error(r, place_where(p), "'%.*s' in `required` is not a name of a variable",
			STR(report_quote(r, out->required[i])));
		report_hint(r, "names have letters, digits and underscores, and roux sets some");
	}
}

static void read_context(struct step_reader *rd, const struct key_object *top)
{
	struct step_recipe *out = rd->keys.recipe;
	const json_t *context = usable(top, "context");
	const struct place *place = key_place(&rd->keys, top, S("context"));
	const char *name;
	json_t *value;

	out->nothing = json_object();
	out->context = context ? context : out->nothing;
	json_object_foreach((json_t *)out->context, name, value)
	{
		if (name_of_variable(str_of(name)) && !name_reserved(str_of(name), false))
			continue;
		const struct place *p = place_member(rd->keys.a, place, str_of(name));
		struct report *w = &out->warnings;
		struct str shown = report_quote(w, str_of(name));
		if (name_of_variable(str_of(name)))
			report_warning(w, place_key_where(p),
				"`context` sets '%.*s', which roux itself sets", STR(shown));
		else
			report_warning(w, place_key_where(p),
				"'%.*s' in `context` cannot be used as {{%.*s}}", STR(shown),
				STR(shown));
		report_hint(w, "names have letters, digits and underscores");
	}
}

/* -- stages --------------------------------------------------------------------------------------
 */

static void read_approval(
	struct step_reader *rd, const struct key_object *o, struct step_approval *ret)
{
	const struct key *k = key_find(KEY_IN_STAGE, S("approval"));
	const json_t *value = json_object_get(o->value, "approval");

	if (!json_is_object(value))
		return;
	struct key_object inside = key_inside(&rd->keys, o, k, ret);
	keys_read(&rd->keys, &inside);
	if (!ret->required || ret->prompt.text.len)
		return;
	const json_t *prompt = json_object_get(value, "prompt");
	if (prompt && !json_is_null(prompt) && !json_is_string(prompt))
		return; /* said already */
	report_error(rd->keys.r, place_where(inside.place),
		"%.*s`prompt` is needed when an approval is required", STR(inside.what));
	report_hint(rd->keys.r, "say what the person decides about");
}

static void check_stage_name(struct step_reader *rd, struct step_stage *stage,
	const struct key_object *o, struct map *names)
{
	const json_t *name = json_object_get(o->value, "name");
	struct report *r = rd->keys.r;

	if (!json_is_string(name) || !json_string_length(name))
		return; /* said already */
	stage->name = json_str(name);
	const struct place *p = key_place(&rd->keys, o, S("name"));
	if (!name_of_stage(stage->name)) {
		report_error(r, place_where(p),
			"%.*s`name` is '%.*s', expected letters, digits, '-', '_' and spaces",
			STR(o->what), STR(report_quote(r, stage->name)));
		report_hint(r, "a person types it to approve the stage");
	}
	void **seen = map_put(names, rd->keys.a, stage->name);
	if (*seen) {
		report_error(r, place_where(p), "%.*sanother stage has this `name` already",
			STR(o->what));
		report_hint(r, "give each stage a name of its own");
	}
	*seen = stage;
}

static void read_stage(struct step_reader *rd, const json_t *value, const struct place *place,
	struct step_stage *stage, struct map *names)
{
	const json_t *name = json_object_get(value, "name");
	const json_t *steps = json_object_get(value, "steps");
	struct key_object o = { KEY_IN_STAGE, value, place, S(""), stage };

	if (json_is_string(name) && json_string_length(name))
		o.what = arena_printf(rd->keys.a,
			"stage '%.*s': ", STR(report_quote(rd->keys.r, json_str(name))));
	else
		o.what = arena_printf(rd->keys.a, "stage number %zu: ", stage->index + 1);
	stage->place = place;
	keys_read(&rd->keys, &o);
	check_stage_name(rd, stage, &o, names);
	read_approval(rd, &o, &stage->approval);
	rd->stage = stage;
	if (json_is_array(steps))
		stage->steps = steps_read(
			rd, steps, key_place(&rd->keys, &o, S("steps")), NULL, &stage->step_count);
	rd->stage = NULL;
}

static void read_stages(struct step_reader *rd, const json_t *list, const struct place *place)
{
	struct step_recipe *out = rd->keys.recipe;
	struct step_stage **stages =
		arena_array(rd->keys.a, struct step_stage *, json_array_size(list));
	struct map names = MAP_INIT;
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const struct place *p = place_element(rd->keys.a, place, i);

		if (!json_is_object(item)) {
			report_error(rd->keys.r, place_where(p),
				"stage number %zu is %s, expected a mapping", i + 1,
				step_value_kind(item));
			report_hint(rd->keys.r, "a stage has a `name` and `steps`");
			continue;
		}
		struct step_stage *stage = arena_new(rd->keys.a, struct step_stage);
		stage->name = S("");
		stage->index = out->stage_count;
		stages[out->stage_count++] = stage;
		read_stage(rd, item, p, stage, &names);
	}
	out->stages = stages;
}

/* -- the whole -----------------------------------------------------------------------------------
 */

static void read_work(struct step_reader *rd, const struct key_object *top)
{
	const json_t *steps = json_object_get(top->value, "steps");
	const json_t *stages = json_object_get(top->value, "stages");
	struct step_recipe *out = rd->keys.recipe;
	struct report *r = rd->keys.r;

	if (key_present(steps) && key_present(stages)) {
		report_error(r, place_key_where(key_place(&rd->keys, top, S("stages"))),
			"the recipe has `steps` and `stages`");
		report_hint(r, "put the steps into a stage");
	}
	if (!key_present(steps) && !key_present(stages)) {
		const char *there = json_is_array(steps) ? "steps" : "stages";
		bool empty = json_is_array(steps) || json_is_array(stages);

		report_error(r,
			place_where(empty ? key_place(&rd->keys, top, str_of(there)) : &out->root),
			empty ? "`%s` is empty" : "`%s` is missing", empty ? there : "steps");
		report_hint(r, "a recipe has at least one step");
	}
	if (json_is_array(steps) && key_present(steps))
		out->steps = steps_read(
			rd, steps, key_place(&rd->keys, top, S("steps")), NULL, &out->step_count);
	if (json_is_array(stages) && key_present(stages))
		read_stages(rd, stages, key_place(&rd->keys, top, S("stages")));
}

static void keep_steps(struct step_reader *rd)
{
	struct step_recipe *out = rd->keys.recipe;
	struct step **all = arena_array(rd->keys.a, struct step *, rd->all.len);

	for (size_t i = 0; i < rd->all.len; i++)
		all[i] = rd->all.at[i];
	out->all = all;
	out->all_count = rd->all.len;
	vec_done(&rd->all);
}

/* Files of other formats get one word about what they are, not a list of what they lack. */
static const struct {
	const char *key, *what, *hint;
} other_formats[] = {
	{ "template", "a template recipe, which is not written as YAML",
		"write {\"template\": …} into a .json or .md file, or give this one `steps`" },
	{ "jobs", "a workflow of GitHub",
		"steps are here `id: …`, `type: bash`, `command: …`; jobs are recipes of their "
		"own" },
	{ "tasks", "a file of tasks",
		"a recipe is one task: its `steps` are `type: bash`, `command: …`" },
};

static bool check_kind(struct step_reader *rd, const struct key_object *top)
{
	if (json_object_get(top->value, "steps") || json_object_get(top->value, "stages"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(other_formats); i++) {
		const char *key = other_formats[i].key;

		if (!json_object_get(top->value, key))
			continue;
		report_error(rd->keys.r, place_key_where(key_place(&rd->keys, top, str_of(key))),
			"this is %s", other_formats[i].what);
		return report_hint(rd->keys.r, "%s", other_formats[i].hint);
	}
	return true;
}

static bool read_top(struct step_recipe *out, const json_t *given, bool called, struct report *r)
{
	struct step_reader rd = { .keys = { out, &out->arena, r } };
	struct key_object top = { KEY_IN_RECIPE, out->doc.root, &out->root, S(""), out };
	size_t before = r->errors;

	if (!json_is_object(out->doc.root)) {
		bool empty = json_is_null(out->doc.root);

		report_error(r, place_where(&out->root), "%s%s, expected a recipe: a mapping",
			empty ? "the file is empty" : "found ",
			empty ? "" : step_value_kind(out->doc.root));
		return report_hint(r, "a recipe has a name, a description, a version and steps");
	}
	if (!check_kind(&rd, &top))
		return false;
	keys_read(&rd.keys, &top);
	check_names(&rd);
	read_context(&rd, &top);
	keys_default(KEY_IN_RECURSION, &out->recursion);
	out->recursion.given = read_inside(&rd, &top, "recursion", &out->recursion);
	read_rate_limiting(&rd, &top);
	read_orchestrator(&rd, &top);
	read_names(&rd, &top, "secrets", &out->secrets, &out->secret_count);
	read_required(&rd, &top);
	read_work(&rd, &top);
	steps_check_order(&rd);
	keep_steps(&rd);
	if (!json_is_null(given))
		variables_check(out, given, called, r);
	return r->errors == before;
}

/* What the YAML reader found: mistakes are the caller's, warnings the recipe's. */
static void sort_findings(struct report *found, struct step_recipe *out, struct report *r)
{
	report_move(found->errors ? r : &out->warnings, found);
}

static struct step_recipe *read_recipe(struct str path, struct str name, struct str text,
	json_t *root, struct report *found, const json_t *given, bool called, struct report *r)
{
	struct step_recipe *out = mem_new(struct step_recipe);

	out->path = arena_str(&out->arena, path);
	out->doc.source = (struct source){ arena_str(&out->arena, name),
		text.len > YAML_BYTES_MAX ? text : arena_str(&out->arena, text) };
	out->doc.locator = yaml_locator_new(&out->arena);
	out->root.doc = &out->doc;
	out->doc.root = root;
	sort_findings(found, out, r);
	if (root && read_top(out, given, called, r))
		return out;
	report_move(r, &out->warnings);
	step_recipe_free(out);
	return NULL;
}

struct step_recipe *step_recipe_of(struct str path, struct str name, struct str text, json_t *root,
	struct report *found, const json_t *given, struct report *r)
{
	return read_recipe(path, name, text, root, found, given, false, r);
}

struct step_recipe *step_recipe_read(
	struct str path, struct str name, struct str text, const json_t *given, struct report *r)
{
	const struct source source = { name, text };
	AUTO_REPORT found = REPORT_INIT;
	json_t *root = yaml_read(&source, &found);

	return read_recipe(path, name, text, root, &found, given, true, r);
}

void step_recipe_free(struct step_recipe *recipe)
{
	if (!recipe)
		return;
	doc_done(&recipe->doc);
	json_decref(recipe->nothing);
	report_done(&recipe->warnings);
	report_done(&recipe->extensions);
	arena_done(&recipe->arena);
	free(recipe);
}
