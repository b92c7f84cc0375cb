#include "app/catalog/ref.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/catalog/secrets.h"
#include "app/catalog/source.h"
#include "app/context/context.h"
#include "base/path.h"

/* -- references ----------------------------------------------------------------------------------
 */

static json_t *known_values(json_t *values)
{
	return json_is_object(values) ? json_incref(values) : NULL;
}

/* Takes the graph and the recipe. NULL without a graph. */
static struct recipe_ref *ref_new(
	struct app *a, struct graph *g, struct recipe *recipe, json_t *values)
{
	if (!g)
		return NULL;
	struct recipe_ref *ref = mem_new(struct recipe_ref);

	ref->app = app_ref(a);
	ref->references = 1;
	ref->graph = g;
	ref->recipe = recipe;
	ref->values = known_values(values);
	return ref;
}

static struct recipe_ref *ref_to_recipe(struct app *a, struct recipe *recipe, json_t *values)
{
	return ref_new(a, recipe ? graph_ref(recipe->graph) : NULL, recipe, values);
}

struct recipe_ref *ref_to_opened(struct app *a, struct recipe *recipe)
{
	return ref_to_recipe(a, recipe, NULL);
}

struct recipe_ref *recipe_ref_share(struct recipe_ref *ref)
{
	ref->references++;
	return ref;
}

void recipe_ref_free(struct recipe_ref *ref)
{
	if (!ref || --ref->references)
		return;
	graph_unref(ref->graph);
	if (!ref->of)
		recipe_free(ref->recipe);
	recipe_ref_free(ref->of);
	json_decref(ref->values);
	app_unref(ref->app);
	free(ref);
}

struct str recipe_ref_id(const struct recipe_ref *ref)
{
	return ref->recipe ? ref->recipe->file->id : S("");
}

bool recipe_ref_async(const struct recipe_ref *ref)
{
	return ref->recipe && recipe_async(ref->recipe);
}

bool recipe_ref_is_steps(const struct recipe_ref *ref)
{
	return ref->graph->steps != NULL;
}

bool recipe_ref_declares(const struct recipe_ref *ref)
{
	return ref->recipe && ref->recipe->arguments->declared;
}

struct report *recipe_ref_warnings(const struct recipe_ref *ref)
{
	struct report *found = &ref->graph->warnings;
	/* They show the line that they are about. */
	struct mask *mask =
		found->issues.len ? recipe_mask(ref->recipe, ref->graph, ref->values) : NULL;

	mask_report(mask, found);
	mask_free(mask);
	return found;
}

bool recipe_ref_check_names(const struct recipe_ref *ref, bool person, struct report *r)
{
	return !ref->recipe || !ref->values ||
	       public_arguments_check(ref->recipe->arguments, recipe_called(ref->recipe),
		       ref->values, person ? CALLER_PERSON : CALLER_MODEL, r);
}

/* -- what an operand means -----------------------------------------------------------------------
 */

static bool is_here(const struct app *a)
{
	char *cwd = getcwd(NULL, 0);
	bool same = cwd && str_eq(str_of(cwd), a->cwd);

	free(cwd);
	return same;
}

/* The process may be elsewhere than the app. Where it is not, a file is called as the user called
 * it. */
static const char *opened_path(const struct app *a, struct arena *arena, const char *path)
{
	if (path[0] == '/' || strncmp(path, "~/", 2) == 0 || !a->cwd.len || is_here(a))
		return path;
	return path_below(arena, a->cwd, str_of(path)).p;
}

/* The operand with its path as this process has to open it. */
static const char *template_from(const struct app *a, struct arena *arena, const char *operand)
{
	/* @- is standard input, and @ alone is a mistake. */
	if (operand[0] != '@' || !operand[1] || strcmp(operand + 1, "-") == 0)
		return operand;
	return arena_printf(arena, "@%s", opened_path(a, arena, operand + 1)).p;
}

/* As recipe_locate() tells files from ids. */
static const char *recipe_from(const struct app *a, struct arena *arena, const char *operand)
{
	const char *path = opened_path(a, arena, operand);
	enum recipe_format format;
	struct stat st;
	bool file = strchr(operand, '/') || (recipe_format_of(str_of(operand), &format) &&
						    stat(path, &st) == 0 && S_ISREG(st.st_mode));

	return file ? path : operand;
}

static bool reads_template(const struct app *a, struct arena *arena, const char *operand)
{
	return source_reads_template(operand, opened_path(a, arena, operand));
}

bool recipes_is_template(struct app *a, const char *operand)
{
	struct arena arena = ARENA_INIT;
	bool template = reads_template(a, &arena, operand);

	arena_done(&arena);
	return template;
}

struct str recipes_path(struct app *a, const char *operand, struct arena *arena, struct report *r)
{
	struct recipe_location found;
	struct str from = str_of(recipe_from(a, arena, operand));

	return recipe_locate(arena, app_dirs(a), from, &found, r) ? found.path : S("");
}

bool recipes_has(struct app *a, const char *operand)
{
	struct arena arena = ARENA_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	bool there = recipes_path(a, operand, &arena, &ignored).len > 0;

	arena_done(&arena);
	return there;
}

static enum dialect dialect_of(const struct recipe_open *o)
{
	return o->dialect_0_9 ? DIALECT_0_9 : DIALECT_NOW;
}

/* A word that names no recipe may be meant as a command. */
static void offer_template(struct report *r, size_t first)
{
	struct issue *i = first < r->issues.len ? &r->issues.at[first] : NULL;

	if (i && i->actions[0].what == ACTION_LIST_RECIPES)
		i->actions[1] = (struct issue_action){ ACTION_AS_TEMPLATE, S("") };
}

static void hide_written(struct app *a, struct str from, struct report *r)
{
	struct arena arena = ARENA_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	struct recipe_location at;

	if (recipe_locate(&arena, app_dirs(a), from, &at, &ignored))
		secrets_hide_written(app_dirs(a), at.path, (struct str){ 0 }, r);
	arena_done(&arena);
}

struct recipe_ref *recipes_open(
	struct app *a, const char *operand, const struct recipe_open *given, struct report *r)
{
	const struct recipe_open o = given ? *given : (struct recipe_open){ 0 };
	struct arena arena = ARENA_INIT;
	size_t first = r->issues.len;
	struct recipe_ref *ref;

	if (o.as == OPERAND_TEMPLATE ||
		(o.as == OPERAND_ANY && reads_template(a, &arena, operand))) {
		const char *from = template_from(a, &arena, operand);

		ref = ref_new(a, source_template(from, dialect_of(&o), r), NULL, o.values);
	} else {
		struct str from = str_of(recipe_from(a, &arena, operand));

		ref = ref_to_recipe(
			a, recipe_open(app_dirs(a), from, o.launch, o.values, r), o.values);
		if (!ref)
			hide_written(a, from, r);
		if (!ref && o.as == OPERAND_ANY)
			offer_template(r, first);
	}
	arena_done(&arena);
	return ref;
}

/* -- texts and other values ----------------------------------------------------------------------
 */

static struct recipe *read_text(
	struct app *a, struct str name, struct str text, const json_t *values, struct report *r)
{
	struct arena arena = ARENA_INIT;
	struct str path = name.len && name.p[0] == '/' ? name : path_below(&arena, a->cwd, name);
	struct recipe *recipe =
		recipe_open_text(app_dirs(a), path_absolute(&arena, path), name, text, values, r);

	if (recipe)
		recipe->layer = LAYER_ADHOC;
	else
		secrets_hide_written(app_dirs(a), path_absolute(&arena, path), text, r);
	arena_done(&arena);
	return recipe;
}

struct recipe_ref *recipes_open_text(struct app *a, struct str name, struct str text,
	const struct recipe_open *given, struct report *r)
{
	const struct recipe_open o = given ? *given : (struct recipe_open){ 0 };
	enum recipe_format format;

	if (recipe_format_of(name, &format) && format != RECIPE_JSON)
		return ref_to_recipe(a, read_text(a, name, text, o.values, r), o.values);
	return ref_new(a, secrets_graph_read(name, text, dialect_of(&o), r), NULL, o.values);
}

/* A step recipe is read again: its variables begin with the values. */
static struct recipe *read_again(
	const struct recipe *recipe, const json_t *values, struct report *r)
{
	AUTO_JSON *sources = json_array();

	vec_each (f, &recipe->set->files)
		json_array_append_new(
			sources, json_pack("{s:o, s:o}", "path", json_from_str((*f)->path), "text",
					 json_from_str((*f)->doc.source.text)));
	return recipe_open_frozen(&recipe->set->dirs, sources, recipe->layer, values, r);
}

struct recipe_ref *recipe_ref_with(struct recipe_ref *ref, json_t *values, struct report *r)
{
	if (ref->recipe && ref->recipe->steps)
		return ref_to_recipe(ref->app, read_again(ref->recipe, values, r), values);
	struct recipe_ref *with = ref_new(ref->app, graph_ref(ref->graph), ref->recipe, values);
	with->of = recipe_ref_share(ref);
	return with;
}
