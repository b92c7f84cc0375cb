/* Recipes and plans as an embedder has them. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/catalog/check-steps.h"
#include "app/catalog/plan.h"
#include "app/catalog/source.h"
#include "app/context.h"
#include "app/run.h"
#include "base/path.h"
#include "data/json-out.h"
#include "recipe/recipe.h"

/* -- recipes -------------------------------------------------------------------------------------
 */

static struct roux_recipe *recipe_of(struct graph *g, struct recipe *recipe)
{
	if (!g)
		return NULL;
	struct roux_recipe *loaded = mem_new(struct roux_recipe);
	loaded->references = 1;
	loaded->graph = g;
	loaded->recipe = recipe;
	return loaded;
}

static struct roux_recipe *recipe_of_file(struct recipe *recipe)
{
	return recipe ? recipe_of(graph_ref(recipe->graph), recipe) : NULL;
}

struct roux_recipe *recipe_share(struct roux_recipe *recipe)
{
	recipe->references++;
	return recipe;
}

void roux_recipe_free(struct roux_recipe *recipe)
{
	if (!recipe || --recipe->references)
		return;
	graph_unref(recipe->graph);
	recipe_free(recipe->recipe);
	free(recipe);
}

/* The process may be elsewhere than the context. Where it is not, a file is called as the user
 * called it. */
static bool is_here(const struct roux *r)
{
	char cwd[4096];

	return getcwd(cwd, sizeof(cwd)) && str_eq(str_of(cwd), r->cwd);
}

static const char *from_cwd(struct roux *r, struct arena *a, const char *path)
{
	if (path[0] == '/' || strncmp(path, "~/", 2) == 0 || !r->cwd.len || is_here(r))
		return path;
	return path_below(a, r->cwd, str_of(path)).p;
}

static struct graph *load_template(struct roux *r, struct arena *a, const char *source)
{
	const char *path = source + 1;

	/* @- is the standard input, and @ alone a mistake. */
	if (source[0] == '@' && *path && strcmp(path, "-") != 0)
		source = arena_printf(a, "@%s", from_cwd(r, a, path)).p;
	return source_template(source, DIALECT_NOW, &r->report);
}

static struct recipe *load_recipe(
	struct roux *r, struct arena *a, const char *source, const char *path)
{
	enum recipe_format format;
	struct stat st;
	/* As recipe_locate() tells files from ids. */
	bool file = strchr(source, '/') || (recipe_format_of(str_of(source), &format) &&
						   stat(path, &st) == 0 && S_ISREG(st.st_mode));

	context_places(r);
	(void)a;
	return recipe_open(&r->dirs, str_of(file ? path : source), false, json_null(), &r->report);
}

struct roux_recipe *roux_load(struct roux *r, const char *source)
{
	struct arena a = ARENA_INIT;
	struct roux_recipe *loaded;

	if (!r)
		return NULL;
	report_reset(&r->report);
	if (!source) {
		report_error(&r->report, (struct where){ 0 }, "there is nothing to load");
		return NULL;
	}
	const char *path = from_cwd(r, &a, source);
	if (source_reads_template(source, path))
		loaded = recipe_of(load_template(r, &a, source), NULL);
	else
		loaded = recipe_of_file(load_recipe(r, &a, source, path));
	arena_done(&a);
	return loaded;
}

/* Markdown and YAML are told by the name; what it imports is looked for beside it. */
static struct recipe *read_recipe(struct roux *r, struct str name, struct str text)
{
	struct arena a = ARENA_INIT;

	context_places(r);
	struct str path = name.len && name.p[0] == '/' ? name : path_below(&a, r->cwd, name);
	struct recipe *recipe = recipe_open_text(
		&r->dirs, path_absolute(&a, path), name, text, json_null(), &r->report);
	if (recipe)
		recipe->layer = LAYER_ADHOC;
	arena_done(&a);
	return recipe;
}

struct roux_recipe *roux_load_text(struct roux *r, const char *name, const char *text, size_t len)
{
	struct str called = str_of(name ? name : "<text>"), all = { text ? text : "", len };
	enum recipe_format format;

	if (!r)
		return NULL;
	report_reset(&r->report);
	if (!text && len) {
		report_error(&r->report, (struct where){ 0 }, "there is nothing to load");
		return NULL;
	}
	if (recipe_format_of(called, &format) && format != RECIPE_JSON)
		return recipe_of_file(read_recipe(r, called, all));
	return recipe_of(graph_read(called, all, DIALECT_NOW, &r->report), NULL);
}

/* A step recipe as it was read, with other values that it may count on. */
static struct recipe *read_again(struct roux *r, const struct recipe *recipe, const json_t *given)
{
	AUTO_JSON *sources = json_array();

	vec_each (f, &recipe->set->files)
		json_array_append_new(
			sources, json_pack("{s:o, s:o}", "path", json_from_str((*f)->path), "text",
					 json_from_str((*f)->doc.source.text)));
	return recipe_open_frozen(&recipe->set->dirs, sources, recipe->layer, given, &r->report);
}

/* Loading finds every other mistake in one go. */
static bool check_steps(struct roux *r, const struct recipe *recipe)
{
	struct recipe *again = read_again(r, recipe, NULL);

	if (!again || !context_settings(r)) {
		recipe_free(again);
		return false;
	}
	steps_check(again->steps,
		&(struct steps_check){ .collections = r->collections, .cwd = r->cwd }, &r->report);
	recipe_free(again);
	return !r->report.errors;
}

bool roux_check(struct roux *r, const struct roux_recipe *recipe)
{
	if (!r || !recipe)
		return false;
	report_reset(&r->report);
	return !recipe->recipe || !recipe->recipe->steps || check_steps(r, recipe->recipe);
}

/* -- plans ---------------------------------------------------------------------------------------
 */

static json_t *read_values(struct roux *r, const char *values)
{
	struct source text = { S("<values>"), str_of(values ? values : "{}") };
	json_t *given = json_read(&text, &r->report);

	if (!given || json_is_object(given))
		return given;
	report_error(&r->report, (struct where){ &text, 0, text.text.len },
		"found %s, expected an object of names and values", json_kind(given));
	json_decref(given);
	return NULL;
}

/* A template is planned as it is, and only if that fails with the values that a recorded run has: a
 * mistake is then told without them. */
static bool make_plan(struct roux_plan *p, struct report *r)
{
	struct graph *g = p->recipe->graph;
	AUTO_REPORT without = REPORT_INIT;
	AUTO_JSON *more = json_copy(p->values);

	if (g->steps) {
		p->plan = plan_new(g, p->values, r);
		return p->plan != NULL;
	}
	if (!p->recipe->recipe) {
		p->plan = p->bare = plan_new(g, p->values, &without);
		if (p->plan) {
			(void)plan_ref(p->bare);
			return true;
		}
	}
	run_add_unknown_values(more);
	p->plan = plan_new(g, more, r);
	return p->plan != NULL;
}

static bool read_plan(struct roux_plan *p, const struct roux_recipe *recipe, const char *values)
{
	struct roux *r = p->roux;

	p->values = read_values(r, values);
	if (!p->values)
		return false;
	if (recipe->recipe && recipe->recipe->steps)
		p->recipe = recipe_of_file(read_again(r, recipe->recipe, p->values));
	else
		p->recipe = recipe_share((struct roux_recipe *)recipe);
	if (!p->recipe)
		return false;
	if (p->recipe->recipe && !public_arguments_check(p->recipe->recipe->arguments, p->values,
					 CALLER_MODEL, &r->report))
		return false;
	return make_plan(p, &r->report);
}

struct roux_plan *roux_plan_new(
	struct roux *r, const struct roux_recipe *recipe, const char *values)
{
	/* Why there is no recipe has been said. */
	if (!r || !recipe)
		return NULL;
	report_reset(&r->report);
	struct roux_plan *p = mem_new(struct roux_plan);
	p->roux = roux_ref(r);
	if (read_plan(p, recipe, values))
		return p;
	roux_plan_free(p);
	return NULL;
}

const char *roux_plan_json(struct roux_plan *plan)
{
	if (!plan)
		return NULL;
	struct roux *r = plan->roux;

	buf_reset(&plan->json);
	struct json_out out = { .b = &plan->json };
	planned_json(plan->plan,
		&(struct planned_host){
			.cwd = r->cwd.len ? r->cwd.p : ".", .collections = r->collections },
		&out);
	buf_addc(&plan->json, '\n');
	return buf_cstr(&plan->json);
}

void roux_plan_free(struct roux_plan *plan)
{
	if (!plan)
		return;
	plan_unref(plan->bare);
	plan_unref(plan->plan);
	roux_recipe_free(plan->recipe);
	json_decref(plan->values);
	buf_done(&plan->json);
	roux_unref(plan->roux);
	free(plan);
}
