#include "recipe/recipe.h"

#include <stdlib.h>

#include "base/near.h"
#include "graph/fields.h"
#include "graph/plan.h"
#include "graph/step.h"
#include "recipe/fields.h"
#include "steps/compile/compile.h"
#include "steps/compile/ops.h"
#include "template/braces.h"

static const json_t *member(const struct recipe *recipe, const char *name)
{
	return json_object_get(recipe->file->object, name);
}

struct str recipe_called(const struct recipe *recipe)
{
	return recipe->by_path ? recipe->file->doc.source.name : recipe->file->id;
}

struct str recipe_description(const struct recipe *recipe)
{
	const json_t *text = member(recipe, "description");

	return json_is_string(text) ? str_trim(json_str(text)) : S("");
}

void recipe_add_secrets(json_t *names, const json_t *object)
{
	json_t *name;
	size_t i;

	json_array_foreach(json_object_get(object, "secrets"), i, name)
	{
		if (json_is_string(name))
			json_array_append(names, name);
	}
}

json_t *recipe_secrets(const struct recipe *recipe)
{
	const struct step_recipe *steps = recipe->steps;
	json_t *names = json_array();

	for (size_t i = 0; steps && i < steps->secret_count; i++)
		json_array_append_new(names, json_from_str(steps->secrets[i]));
	if (steps)
		return names;
	vec_each (file, &recipe->set->files)
		recipe_add_secrets(names, (*file)->object);
	return names;
}

bool recipe_async(const struct recipe *recipe)
{
	return json_is_true(member(recipe, "async"));
}

bool recipe_disabled(const struct recipe *recipe)
{
	return json_is_true(member(recipe, "disabled"));
}

static json_t *message_types(const json_t *list)
{
	json_t *types = json_array(), *item;
	size_t i;

	json_array_foreach(list, i,
		item) if (json_is_string(item) ||
			  (json_is_object(item) && json_is_string(json_object_get(item, "type"))))
		json_array_append(types, item);
	return types;
}

json_t *recipe_mailbox(const struct recipe *recipe)
{
	const json_t *mailbox = member(recipe, "mailbox");

	if (!json_is_object(mailbox))
		return NULL;
	return json_pack("{s:o, s:o}", "accepts",
		message_types(json_object_get(mailbox, "accepts")), "emits",
		message_types(json_object_get(mailbox, "emits")));
}

static json_t *artifacts_of(const json_t *object)
{
	const json_t *declared = json_object_get(object, "artifacts");
	json_t *artifacts = json_object();
	const char *name;
	json_t *value;

	if (json_is_object(declared)) {
		json_object_foreach((json_t *)declared, name, value)
		{
			if (json_is_string(value))
				json_object_set_new_nocheck(
					artifacts, name, json_pack("{s:O}", "path", value));
			else if (json_is_string(json_object_get(value, "path")))
				json_object_set_nocheck(artifacts, name, value);
		}
	}
	return artifacts;
}

json_t *recipe_artifacts(const struct recipe *recipe)
{
	return artifacts_of(recipe->file->object);
}

/* Mistakes in the paths that are there whatever the values are. */
static void check_artifacts(const struct recipe_file *f, struct report *r)
{
	AUTO_JSON *declared = artifacts_of(f->object);
	struct arena a = ARENA_INIT;
	const char *name;
	json_t *value;

	struct place *all = place_member(&a, &f->place, S("artifacts"));
	json_object_foreach(declared, name, value)
	{
		struct place *place = place_member(&a, all, str_of(name));

		(void)braces_text(
			&a, place, json_str(json_object_get(value, "path")), DIALECT_NOW, r);
	}
	arena_done(&a);
}

json_t *recipe_artifact_paths(const struct recipe *recipe, const struct plan *p, struct report *r)
{
	AUTO_JSON *declared = recipe_artifacts(recipe);
	json_t *paths = json_object();
	struct arena a = ARENA_INIT;
	struct scope room;
	const struct scope *s = plan_enter(p->graph->root, &p->scope, &room);
	bool ok = true;
	const char *name;
	json_t *value;

	struct place *all = place_member(&a, &recipe->file->place, S("artifacts"));
	json_object_foreach(declared, name, value)
	{
		struct place *place = place_member(&a, all, str_of(name));
		AUTO_BUF path = BUF_INIT;
		const struct text *text = braces_text(
			&a, place, json_str(json_object_get(value, "path")), DIALECT_NOW, r);

		ok &= text && text_resolve(text, s, &path, r);
		json_object_set_new_nocheck(paths, name, json_from_str(buf_str(&path)));
	}
	arena_done(&a);
	if (ok)
		return paths;
	json_decref(paths);
	return NULL;
}

/* -- loading -------------------------------------------------------------------------------------
 */

static void free_set(void *set)
{
	recipe_set_free(set);
}

/* It let runs delete files in foreign directories; it cannot be set any more. */
static void warn_state_dir(struct recipe *recipe)
{
	struct report *w = &recipe->graph->warnings;
	struct place p = {
		.doc = &recipe->file->doc, .up = &recipe->file->place, .key = S("state_dir")
	};

	report_warning(w, place_key_where(&p), "`state_dir` is ignored");
	report_hint(w, "{state_dir} in the template is the directory of the run");
}

static void warn_unknown_members(struct recipe *recipe)
{
	struct report *w = &recipe->graph->warnings;
	const char *key;
	json_t *value;

	json_object_foreach(recipe->file->object, key, value)
	{
		struct near near = near_to(str_of(key));
		bool known = field_find(str_of(key), DIALECT_NOW) != FIELD_COUNT;

		for (size_t i = 0; i < recipe_field_count; i++) {
			near_offer(&near, str_of(recipe_fields[i].name));
			known |= str_eq(str_of(key), str_of(recipe_fields[i].name));
		}
		struct str best = near_best(&near);
		enum field_id ignored;
		/* Those that are near a field of a node have been told about while reading the
		 * node. */
		if (str_eq(str_of(key), S("state_dir")))
			warn_state_dir(recipe);
		if (known || field_private(str_of(key)) || field_foreign(str_of(key), &ignored) ||
			field_nearest(str_of(key), DIALECT_NOW).len)
			continue;
		struct place p = {
			.doc = &recipe->file->doc, .up = &recipe->file->place, .key = str_of(key)
		};
		report_warning(
			w, place_key_where_for(w, &p), "unknown member '%s' is ignored", key);
		if (best.len)
			report_hint(w, "did you mean '%.*s'?", STR(best));
		else
			report_hint(w, "a name that begins with x- is for its author alone");
		if (best.len)
			report_slip(w);
	}
}

/* A list of steps. The graph keeps the set, and with it the text that places point into. */
static struct recipe *open_steps(struct recipe_set *set, struct recipe_file *file,
	enum recipe_layer layer, const json_t *given, struct report *r)
{
	struct step_recipe *steps = step_recipe_of(file->path, file->doc.source.name,
		file->doc.source.text, json_incref(file->yaml), &file->yaml_found, given, r);

	if (!steps) {
		recipe_set_free(set);
		return NULL;
	}
	struct recipe *recipe = mem_new(struct recipe);
	recipe->steps = steps;
	recipe->graph = step_graph(steps, &step_ops, set, free_set);
	recipe->set = set;
	recipe->file = file;
	recipe->layer = layer;
	recipe->arguments = public_arguments_steps(
		recipe->graph->steps->context, steps->required, steps->required_count);
	return recipe;
}

/* Takes the set. Continues as long as there is something to find: all mistakes in one go. */
static struct recipe *open_set(struct recipe_set *set, struct str path, struct str name,
	enum recipe_layer layer, const json_t *given, struct report *r)
{
	size_t before = r->errors;
	struct recipe_file *file = recipe_file_load(set, path, name, r);

	if (!file) {
		report_move(r, &set->warnings);
		recipe_set_free(set);
		return NULL;
	}
	if (file->format == RECIPE_YAML)
		return open_steps(set, file, layer, given, r);
	check_artifacts(file, r);
	struct graph *g = recipe_graph(set, file, r);
	if (!g)
		return NULL;
	struct recipe *recipe = mem_new(struct recipe);
	recipe->graph = g;
	recipe->set = set;
	recipe->file = file;
	recipe->layer = layer;
	recipe->arguments = public_arguments_new(g, file->object, &file->doc, &g->warnings);
	warn_unknown_members(recipe);
	if (r->errors == before)
		return recipe;
	recipe_free(recipe);
	return NULL;
}

struct recipe *recipe_open_file(
	const struct recipe_dirs *dirs, struct str path, enum recipe_layer layer, struct report *r)
{
	return open_set(recipe_set_new(dirs), path, path, layer, NULL, r);
}

struct recipe *recipe_open_text(const struct recipe_dirs *dirs, struct str path, struct str name,
	struct str text, const json_t *given, struct report *r)
{
	struct recipe_set *set = recipe_set_new(dirs);

	recipe_set_give(set, path, text);
	return open_set(set, path, name, LAYER_USER, given, r);
}

struct recipe *recipe_open_frozen(const struct recipe_dirs *dirs, const json_t *sources,
	enum recipe_layer layer, const json_t *given, struct report *r)
{
	struct recipe_set *set = recipe_set_new(dirs);
	struct str entry = json_str(json_object_get(json_array_get(sources, 0), "path"));
	json_t *source;
	size_t i;

	set->sealed = true;
	json_array_foreach(sources, i, source)
		recipe_set_give(set, json_str(json_object_get(source, "path")),
			json_str(json_object_get(source, "text")));
	return open_set(set, entry, entry, layer, given, r);
}

/* For a launch: what the broken or disabled recipe keeps from being used. */
static void explain_block(
	struct report *r, size_t first, const char *reason, struct str path, struct str blocked)
{
	AUTO_BUF remark = BUF_INIT;

	if (!blocked.len)
		return;
	buf_printf(&remark, "reason=%s active_path=%.*s blocked_candidate=%.*s", reason, STR(path),
		STR(blocked));
	report_remark(r, first, buf_cstr(&remark), ACTION_DOCTOR);
}

struct recipe *recipe_open(const struct recipe_dirs *dirs, struct str operand, bool launch,
	const json_t *given, struct report *r)
{
	struct arena a = ARENA_INIT;
	struct recipe *recipe = NULL;
	struct recipe_location at;
	size_t first = r->issues.len;

	if (recipe_locate(&a, dirs, operand, &at, r)) {
		/* A file is called as the user called it. */
		recipe = open_set(recipe_set_new(dirs), at.path, at.by_path ? operand : at.path,
			at.layer, given, r);
		if (!recipe && launch)
			explain_block(r, first, "shadowed_invalid", at.path, at.blocked);
	}
	if (recipe && launch && recipe_disabled(recipe)) {
		report_error(r, (struct where){ 0 }, "the recipe %.*s is disabled", STR(at.path));
		report_hint(r, "remove \"disabled\": true from it");
		explain_block(r, first, "shadowed_disabled", at.path, at.blocked);
		recipe_free(recipe);
		recipe = NULL;
	}
	if (recipe)
		recipe->by_path = at.by_path;
	if (recipe && launch && at.packaged.len)
		report_note(&recipe->graph->warnings, (struct where){ 0 },
			"'%.*s' is the project's recipe %.*s, not the packaged one",
			STR(recipe->file->id), STR(at.path));
	arena_done(&a);
	return recipe;
}

void recipe_free(struct recipe *recipe)
{
	if (!recipe)
		return;
	public_arguments_free(recipe->arguments);
	graph_unref(recipe->graph);
	free(recipe);
}
