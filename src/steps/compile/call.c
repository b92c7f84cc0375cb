#include <inttypes.h>

#include "base/path.h"
#include "graph/call.h"
#include "graph/graph.h"
#include "graph/plan.h"
#include "steps/compile/compile.h"
#include "steps/compile/ops.h"
#include "steps/compile/sub-recipe.h"
#include "steps/language/reference.h"
#include "steps/language/text.h"

/* Recipes that are steps of others (docs/steps.md, "Recipes that call recipes"). */

/* -- what is passed ------------------------------------------------------------------------------
 */

/* Every text in a value with its references replaced; one that is nothing but a reference becomes
 * the value itself. A new reference, NULL with an issue added. */
static json_t *resolved(const json_t *value, const struct place *place, const struct scope *s,
	struct arena *a, struct report *r)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value)) {
		const struct text *t = step_text(a, json_str(value), place);

		return t->ops->value(t, s, r);
	}
	if (json_is_object(value)) {
		json_t *all = json_object();

		json_object_foreach((json_t *)value, key, item)
		{
			json_t *one = resolved(item, place_member(a, place, str_of(key)), s, a, r);

			if (!one) {
				json_decref(all);
				return NULL;
			}
			json_object_set_new_nocheck(all, key, one);
		}
		return all;
	}
	if (json_is_array(value)) {
		json_t *all = json_array();

		json_array_foreach(value, i, item)
		{
			json_t *one = resolved(item, place_element(a, place, i), s, a, r);

			if (!one) {
				json_decref(all);
				return NULL;
			}
			json_array_append_new(all, one);
		}
		return all;
	}
	return json_deep_copy(value);
}

/* -- which recipe --------------------------------------------------------------------------------
 */

static bool check_depth(const struct step *step, const struct step_call *call, struct report *r)
{
	if (call->depth <= call->max_depth)
		return true;
	report_error(r, place_where(step->called.recipe.place),
		"step '%.*s': recipes call each other more than max_depth (%" PRIu64 ") deep",
		STR(step->id), call->max_depth);
	return report_hint(r, "raise recursion.max_depth, or call fewer");
}

static struct graph *load(const struct node *n, struct str path, const json_t *passed,
	const struct step_host *host, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	if (!host->load) {
		report_error(r, (struct where){ 0 }, "recipes cannot be called here");
		return NULL;
	}
	if (!host->load(host->data, path, &text, r))
		return NULL;
	AUTO_BUF shown = BUF_INIT;
	path_plain(&shown, path);
	struct step_recipe *recipe =
		step_recipe_read(path, buf_str(&shown), buf_str(&text), passed, r);
	if (!recipe)
		return NULL;
	if (!host->keep || host->keep(host->data, path, buf_str(&text), r))
		return step_graph(recipe, n->step->ops, NULL, NULL);
	step_recipe_free(recipe);
	return NULL;
}

/* A recipe of commands: its arguments are what it is given. */
static struct graph *open_template(struct str path, const json_t *passed,
	const struct step_host *host, struct step_call *ret, struct report *r)
{
	if (!host->open) {
		report_error(r, (struct where){ 0 }, "recipes cannot be called here");
		return NULL;
	}
	ret->plan = host->open(host->data, path, passed, r);
	return ret->plan ? graph_ref(ret->plan->graph) : NULL;
}

/* What the called recipe says about its variables holds for what it was given, too. */
static void hide_secrets(
	const struct step_recipe *recipe, const json_t *vars, const struct step_host *host)
{
	for (size_t i = 0; host->set && i < recipe->secret_count; i++) {
		struct str name = recipe->secrets[i];

		host->set(host->data, name, json_object_getn(vars, name.p, name.len), true);
	}
}

/* The variables of a step recipe that begins. Takes the reference and what is passed. */
static void enter(struct step_call *ret, struct graph *g, json_t *passed, json_t *session,
	const struct step_host *host)
{
	ret->graph = g;
	ret->dir = g->steps->dir;
	ret->passed = passed;
	ret->vars = json_deep_copy(g->steps->context);
	json_object_update(ret->vars, passed);
	hide_secrets(step_graph_recipe(g), ret->vars, host);
	json_object_set(ret->vars, "recipe", g->steps->metadata);
	if (session)
		json_object_set(ret->vars, "session", session);
}

enum step_made call_open(const struct node *n, const struct scope *s, const struct step_call *up,
	const struct step_host *host, struct step_call *ret, struct report *r)
{
	const struct step *step = step_of(n);
	struct arena a = ARENA_INIT;
	AUTO_BUF word = BUF_INIT;
	AUTO_BUF path = BUF_INIT;

	*ret = (struct step_call){ .up = up,
		.depth = up->depth + 1,
		.max_depth = up->max_depth,
		.max_agents = up->max_agents };
	if (step->called.recursion.given) {
		ret->max_depth = (uint64_t)step->called.recursion.max_depth;
		ret->max_agents = (uint64_t)step->called.recursion.max_total_steps;
	}
	json_t *passed = step->called.context.value ? resolved(step->called.context.value,
							      step->called.context.place, s, &a, r)
						    : json_object();
	arena_done(&a);
	if (!passed)
		return STEP_MISTAKE;
	enum step_made made = STEP_MISTAKE;
	struct graph *g = NULL;
	if (step_text_substitute(
		    step->called.recipe.text, step->called.recipe.place, scope_vars(s), &word, r) &&
		check_depth(step, ret, r)) {
		struct sub_recipe sub = { .step = step,
			.word = buf_str(&word),
			.dir = up->dir,
			.collections = host->collections,
			.find = host->find,
			.find_data = host->data };

		AUTO_REPORT found = REPORT_INIT;

		made = STEP_CANNOT;
		if (sub_recipe_path(&sub, &path, &found))
			g = sub_recipe_is_template(buf_str(&path))
				    ? open_template(buf_str(&path), passed, host, ret, &found)
				    : load(n, buf_str(&path), passed, host, &found);
		if (!g && report_has_system(&found))
			made = STEP_FAULT;
		sub_recipe_blame(step, passed, &found, r);
	}
	if (!g) {
		json_decref(passed);
		return made;
	}
	if (ret->plan) {
		ret->graph = g;
		ret->passed = passed;
		ret->dir = S("");
		return STEP_MADE;
	}
	enter(ret, g, passed, json_object_get(scope_vars(s), "session"), host);
	return STEP_MADE;
}

bool call_import(const struct node *n, const struct scope *s, const struct step_call *up,
	const struct step_host *host, json_t *session, struct step_call *ret, struct report *r)
{
	const struct step_graph *g = n->call->steps;
	struct step_call call = { .up = up->depth ? up : NULL,
		.depth = up->depth + 1,
		.max_depth = up->depth ? up->max_depth : g->max_depth,
		.max_agents = up->depth ? up->max_agents : g->max_agents };

	if (call.depth > call.max_depth) {
		report_error(r, place_where(n->place),
			"'%.*s': recipes call each other more than max_depth (%" PRIu64 ") deep",
			STR(n->line), call.max_depth);
		return report_hint(r, "raise recursion.max_depth, or call fewer");
	}
	json_t *passed = call_values(n, s, r);
	if (!passed)
		return false;
	*ret = call;
	enter(ret, graph_ref(n->call), passed, session, host);
	return true;
}

/* -- what comes back -----------------------------------------------------------------------------
 */

json_t *call_returned(const struct step_call *call)
{
	static const char *const internal[] = { "recipe", "session", "step", "stage", "_loop_index",
		"_loop_iteration", "_approval_message" };
	json_t *result = json_object(), *value;
	const char *name;

	json_object_foreach(call->vars, name, value)
	{
		bool left_out = json_object_get(call->passed, name) != NULL;

		for (size_t i = 0; i < ARRAY_SIZE(internal); i++)
			left_out |= str_eq(str_of(name), str_of(internal[i]));
		if (!left_out)
			json_object_set_nocheck(result, name, value);
	}
	return result;
}
