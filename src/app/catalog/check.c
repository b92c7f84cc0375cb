/* Finding every mistake without running anything. */
#include <errno.h>
#include <unistd.h>

#include "app/agents/compose.h"
#include "app/catalog/check-steps.h"
#include "app/catalog/entries.h"
#include "app/catalog/ref.h"
#include "app/catalog/secrets.h"
#include "app/context/context.h"
#include "graph/certain.h"
#include "graph/plan.h"
#include "steps/compile/compile.h"

struct checking {
	struct app *app;
	const struct check_request *q;
	struct steps_check steps;
	struct report *r;
};

/* Those of a step recipe, and of the step recipes that a template imports. */
static void check_steps(struct checking *c, const struct recipe *recipe)
{
	if (!recipe)
		return;
	if (recipe->steps)
		steps_check(recipe->steps, &c->steps, c->r);
	vec_each (g, &recipe->set->calls)
		steps_check(step_graph_recipe(*g), &c->steps, c->r);
}

/* Without values only what can be known without them is checked. `recipe` may be NULL: a template.
 */
static void check_graph(
	const struct checking *all, const struct recipe *recipe, struct graph *g, json_t *values)
{
	struct mask *mask = recipe_mask(recipe, g, values);
	AUTO_REPORT found = REPORT_INIT;
	struct checking c = *all;

	c.r = &found;
	report_move(c.r, &g->warnings);
	if (c.q->portable)
		report_move(c.r, &g->extensions);
	if (values)
		plan_unref(plan_new(g, values, c.r));
	else
		certain_check(g, c.r);
	check_steps(&c, recipe);
	mask_report(mask, &found); /* the line of an issue may have a secret in it */
	mask_free(mask);
	report_move(all->r, &found);
}

/* A file of the settings or of the configuration of prompts. False: it is neither. */
static bool check_configuration(struct checking *c)
{
	const char *path = c->q->operand;

	if (!str_ends(str_of(path), S(".toml")))
		return false;
	if (access(path, F_OK) < 0) {
		report_errno(c->r, errno, "cannot read '%s'", path);
	} else if (settings_names(str_of(path))) {
		settings_check(path, str_of(path), c->r, c->r);
	} else if (!prompts_check_file(path, c->steps.cwd, c->r)) {
		report_error(c->r, (struct where){ 0 }, "'%s' is not a configuration file", path);
		report_hint(c->r, "the files are called config.toml, agents.toml, roles.toml, "
				  "contexts.toml and tasks.toml");
	}
	return true;
}

static void check_operand(struct checking *c)
{
	const char *operand = c->q->operand;
	bool recipe = c->q->open.as == OPERAND_RECIPE ||
		      (c->q->open.as == OPERAND_ANY && !recipes_is_template(c->app, operand));

	if (recipe && check_configuration(c))
		return;
	struct recipe_open open = c->q->open;
	/* Without values it is not known which of them a caller will leave out. */
	open.values = c->q->plan ? open.values : NULL;
	struct recipe_ref *ref = recipes_open(c->app, operand, &open, c->r);
	if (ref)
		check_graph(c, ref->recipe, ref->graph, c->q->plan ? ref->values : NULL);
	recipe_ref_free(ref);
}

static void check_entry(void *data, const struct opened *o)
{
	struct checking *c = data;

	if (!o->recipe) {
		report_move(c->r, (struct report *)&o->issues);
		return;
	}
	/* Those who packaged a recipe have weighed what it warns of, and an agent that is not
	 * configured here is not a fault of it. Named, it is looked at like any other. */
	if (o->active->layer == LAYER_PACKAGED)
		return;
	check_graph(c, o->recipe, o->recipe->graph, NULL);
}

static void check_all(struct checking *c, bool *ret_local)
{
	struct recipe_index *index = recipe_index_new(app_dirs(c->app));
	AUTO_REPORT told = REPORT_INIT;
	struct prompts_files files = { 0 };
	struct settings settings;

	entries_each(index, check_entry, c);
	recipe_index_report(index, c->r);
	recipe_index_free(index);
	/* app_settings() tells its mistakes, and nothing about unknown keys. */
	(void)settings_read(&settings, &told, c->r);
	settings_done(&settings);
	prompts_check(c->steps.cwd, c->r, &files);
	if (ret_local)
		*ret_local = files.local > 0;
}

void recipes_check(struct app *a, const struct check_request *q, bool *ret_local, struct report *r)
{
	struct str cwd = app_cwd(a);
	struct checking c = { .app = a,
		.q = q,
		.steps = { q->with.agents, q->with.collections, cwd.len ? cwd : S("."),
			app_dirs(a) },
		.r = r };

	if (ret_local)
		*ret_local = false;
	if (q->operand)
		check_operand(&c);
	else
		check_all(&c, ret_local);
}
