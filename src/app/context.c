#include "app/context.h"

#include <stdlib.h>
#include <string.h>

#include "app/issues.h"
#include "app/planned.h"
#include "app/source.h"
#include "app/start.h"
#include "loop/tree.h"

const char *roux_version(void)
{
	return ROUX_VERSION;
}

/* A member of a struct that the caller may know in an older, shorter form. */
#define GIVEN(options, member)                                                      \
	((options) && (options)->size >= offsetof(__typeof__(*(options)), member) + \
						 sizeof((options)->member))

struct roux *roux_new(const struct roux_options *o)
{
	struct roux *r = mem_new(struct roux);

	list_init(&r->runs);
	r->jobs = GIVEN(o, jobs) && o->jobs ? o->jobs : DEFAULT_JOBS;
	r->cwd = GIVEN(o, cwd) && o->cwd ? mem_strdup(o->cwd) : NULL;
	r->subreaper = GIVEN(o, subreaper) && o->subreaper && tree_become_subreaper();
	r->loop = loop_new();
	if (r->loop)
		return r;
	roux_free(r);
	return NULL;
}

void roux_free(struct roux *r)
{
	if (!r)
		return;
	while (!list_empty(&r->runs)) {
		/* Waiting takes it off the list; the caller still owns it. */
		struct roux_run *run = start_first(r);

		(void)roux_run_cancel(run);
		(void)roux_run_wait(run);
	}
	loop_free(r->loop);
	report_done(&r->report);
	buf_done(&r->json);
	buf_done(&r->text);
	free(r->cwd);
	free(r);
}

const char *roux_errors_json(const struct roux *r)
{
	struct roux *w = (struct roux *)r;

	buf_reset(&w->json);
	issues_json(&r->report, REPORT_ERRORS, &w->json);
	return buf_cstr(&w->json);
}

const char *roux_errors_text(const struct roux *r)
{
	struct roux *w = (struct roux *)r;

	buf_reset(&w->text);
	report_text(&r->report, REPORT_ERRORS, &w->text);
	return buf_cstr(&w->text);
}

static struct roux_recipe *recipe_of(struct graph *g)
{
	if (!g)
		return NULL;
	struct roux_recipe *recipe = mem_new(struct roux_recipe);
	recipe->graph = g;
	return recipe;
}

struct roux_recipe *roux_load(struct roux *r, const char *source)
{
	report_reset(&r->report);
	return recipe_of(source_any(source, DIALECT_NOW, &r->report));
}

struct roux_recipe *roux_load_text(struct roux *r, const char *name, const char *text, size_t len)
{
	report_reset(&r->report);
	return recipe_of(
		graph_read(str_of(name), (struct str){ text, len }, DIALECT_NOW, &r->report));
}

void roux_recipe_free(struct roux_recipe *recipe)
{
	if (!recipe)
		return;
	graph_unref(recipe->graph);
	free(recipe);
}

bool roux_check(struct roux *r, const struct roux_recipe *recipe)
{
	/* A recipe that could be loaded has been checked: loading finds every mistake in one go. */
	report_reset(&r->report);
	return recipe != NULL;
}

struct roux_plan *roux_plan_new(
	struct roux *r, const struct roux_recipe *recipe, const char *values)
{
	AUTO_JSON *given = NULL;

	report_reset(&r->report);
	if (values) {
		struct source text = { S("<values>"), str_of(values) };

		given = json_read(&text, &r->report);
		if (!given)
			return NULL;
		if (!json_is_object(given)) {
			report_error(&r->report, (struct where){ &text, 0, text.text.len },
				"found %s, expected an object of names and values",
				json_kind(given));
			return NULL;
		}
	}
	struct plan *p = plan_new(recipe->graph, given, &r->report);
	if (!p)
		return NULL;
	struct roux_plan *plan = mem_new(struct roux_plan);
	plan->roux = r;
	plan->plan = p;
	return plan;
}

const char *roux_plan_json(struct roux_plan *plan)
{
	buf_reset(&plan->json);
	planned_json(plan->plan,
		&(struct planned_host){ .cwd = plan->roux->cwd ? plan->roux->cwd : "." },
		&plan->json);
	return buf_cstr(&plan->json);
}

void roux_plan_free(struct roux_plan *plan)
{
	if (!plan)
		return;
	plan_unref(plan->plan);
	buf_done(&plan->json);
	free(plan);
}

int roux_fd(const struct roux *r)
{
	return loop_fd(r->loop);
}

int roux_turn(struct roux *r, int timeout_ms)
{
	int n = loop_turn(r->loop, timeout_ms);
	int live = 0;

	if (n < 0)
		return n;
	list_each (link, &r->runs)
		live++;
	return live;
}

void roux_wake(struct roux *r)
{
	loop_wake(r->loop);
}
