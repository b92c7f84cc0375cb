/* The public calls of libroux: each is a few lines over the face that every host uses. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/answers.h"
#include "app/catalog/check-steps.h"
#include "app/catalog/plan.h"
#include "app/catalog/ref.h"
#include "app/catalog/secrets.h"
#include "app/context/context.h"
#include "app/context/run-values.h"
#include "app/runs.h"
#include "data/big.h"
#include "data/json-out.h"

/* A member of a struct that the caller may know in an older, shorter form. */
#define GIVEN(options, member)                                                      \
	((options) && (options)->size >= offsetof(__typeof__(*(options)), member) + \
						 sizeof((options)->member))

struct roux {
	unsigned references;  /* the caller's, and one of each plan and run */
	struct app *app;      /* NULL: the caller has freed it */
	struct report report; /* of the last call */
	struct buf json, text, answer;
};

struct roux_recipe {
	struct recipe_ref *ref;
};

struct roux_plan {
	struct roux *roux;
	struct app *app;        /* a reference */
	struct recipe_ref *ref; /* with the values */
	/* What is shown, where values that only a recorded run has stand for themselves. */
	struct plan *plan;
	struct buf json;
};

struct roux_run {
	struct roux *roux;
	struct run_handle *handle;
	roux_event_fn *on_event;
	void *data;
	struct buf id, result;
};

const char *roux_version(void)
{
	return ROUX_VERSION;
}

/* What could be done next, for people who read an embedder's messages: the program's words. */
static const action_words words = {
	[ACTION_RESUME] = "resume it",
	[ACTION_RERUN] = "run it again",
	[ACTION_RERUN_ALL] = "run all of it again",
	[ACTION_APPROVE] = "approve it",
	[ACTION_DENY] = "deny it",
	[ACTION_WAIT] = "wait for it",
	[ACTION_CANCEL] = "cancel it",
	[ACTION_KILL] = "kill it",
	[ACTION_PRUNE] = "delete it",
	[ACTION_STATUS] = "look at its status",
	[ACTION_NAME_IT] = "give this one another name",
	[ACTION_END_LEFT] = "kill it",
	[ACTION_LIST_RUNS] = "list the runs",
	[ACTION_LIST_PRUNABLE] = "delete runs that are not needed",
	[ACTION_LIST_RECIPES] = "list the recipes",
	[ACTION_SHOW_ARGUMENTS] = "look at its arguments",
	[ACTION_RUN_RECIPE] = "open it as a recipe",
	[ACTION_AS_TEMPLATE] = "or give it as a template",
	[ACTION_CHECK] = "check it",
	[ACTION_STEP_KEYS] = "see the schema of step recipes",
	[ACTION_LIST_AGENTS] = "list the agents",
	[ACTION_OLD_DIALECT] = "or read it in the dialect 0.9",
	[ACTION_GIVE_AGENT] = "or give the run a command for it",
	[ACTION_GIVE_COLLECTION] = "or give the run the directory",
	[ACTION_OTHER_DIR] = "or choose another directory",
	[ACTION_SET_VARIABLE] = "or set a variable",
};

/* -- beginning and end ---------------------------------------------------------------------------
 */

static struct roux *roux_ref(struct roux *r)
{
	r->references++;
	return r;
}

static void roux_unref(struct roux *r)
{
	if (--r->references)
		return;
	report_done(&r->report);
	buf_done(&r->json);
	buf_done(&r->text);
	buf_done(&r->answer);
	free(r);
}

struct roux *roux_new(const struct roux_options *o)
{
	const struct app_options given = {
		.cwd = GIVEN(o, cwd) ? o->cwd : NULL,
		.agent_dir = GIVEN(o, agent_dir) ? o->agent_dir : NULL,
		.packaged_dir = GIVEN(o, packaged_dir) ? o->packaged_dir : NULL,
		.state_dir = GIVEN(o, state_dir) ? o->state_dir : NULL,
		.jobs = GIVEN(o, jobs) ? o->jobs : 0,
		.subreaper = GIVEN(o, subreaper) && o->subreaper,
	};
	struct app *app = app_open(&given);

	if (!app_loop(app)) {
		int error = errno;

		app_close(app);
		errno = error;
		return NULL;
	}
	struct roux *r = mem_new(struct roux);
	r->references = 1;
	r->app = app;
	return r;
}

void roux_free(struct roux *r)
{
	if (!r)
		return;
	app_close(r->app);
	r->app = NULL;
	roux_unref(r);
}

/* -- what went wrong -----------------------------------------------------------------------------
 */

/* A call on `r` begins: what it finds wrong replaces what the last one found. */
static bool begin(struct roux *r)
{
	if (!r || !r->app)
		return false;
	report_reset(&r->report);
	return true;
}

const char *roux_errors_json(const struct roux *r)
{
	struct roux *w = (struct roux *)r;

	if (!r)
		return "[]";
	report_word(&w->report, words);
	buf_reset(&w->json);
	issues_json(&r->report, REPORT_ERRORS, &w->json);
	return buf_cstr(&w->json);
}

const char *roux_errors_text(const struct roux *r)
{
	struct roux *w = (struct roux *)r;

	if (!r)
		return "";
	report_word(&w->report, words);
	buf_reset(&w->text);
	report_text(&r->report, REPORT_ERRORS, &w->text);
	return buf_cstr(&w->text);
}

/* -- recipes -------------------------------------------------------------------------------------
 */

static struct roux_recipe *loaded(struct recipe_ref *ref)
{
	struct roux_recipe *recipe = ref ? mem_new(struct roux_recipe) : NULL;

	if (recipe)
		recipe->ref = ref;
	return recipe;
}

struct roux_recipe *roux_load(struct roux *r, const char *source)
{
	if (!begin(r))
		return NULL;
	if (source)
		return loaded(recipes_open(r->app, source,
			&(struct recipe_open){ .values = json_null() }, &r->report));
	report_error(&r->report, (struct where){ 0 }, "there is nothing to load");
	return NULL;
}

struct roux_recipe *roux_load_text(struct roux *r, const char *name, const char *text, size_t len)
{
	struct str called = str_of(name ? name : "<text>"), all = { text ? text : "", len };

	if (!begin(r))
		return NULL;
	if (text || !len)
		return loaded(recipes_open_text(r->app, called, all,
			&(struct recipe_open){ .values = json_null() }, &r->report));
	report_error(&r->report, (struct where){ 0 }, "there is nothing to load");
	return NULL;
}

void roux_recipe_free(struct roux_recipe *recipe)
{
	if (!recipe)
		return;
	recipe_ref_free(recipe->ref);
	free(recipe);
}

bool roux_check(struct roux *r, const struct roux_recipe *recipe)
{
	if (!recipe || !begin(r))
		return false; /* why there is no recipe has been said */
	if (!recipe_ref_is_steps(recipe->ref))
		return true;
	/* Loading finds every other mistake in one go. */
	struct recipe_ref *again = recipe_ref_with(recipe->ref, NULL, &r->report);
	if (again && app_settings(r->app, &r->report)) {
		AUTO_JSON *collections = app_collections(r->app);

		steps_check(again->recipe->steps,
			&(struct steps_check){ .collections = collections,
				.cwd = app_cwd(r->app),
				.dirs = app_dirs(r->app) },
			&r->report);
	}
	recipe_ref_free(again);
	return !r->report.errors;
}

/* -- plans ---------------------------------------------------------------------------------------
 */

static json_t *read_values(struct roux *r, const char *values)
{
	struct source text = { S("<values>"), str_of(values ? values : "{}") };
	json_t *given = json_read_big(&text, &r->report);

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
	struct graph *g = p->ref->graph;
	AUTO_REPORT without = REPORT_INIT;
	AUTO_JSON *more = json_copy(p->ref->values);

	if (!g->steps && !p->ref->recipe)
		p->plan = plan_new(g, p->ref->values, &without);
	if (p->plan)
		return true;
	if (!g->steps)
		run_add_unknown_values(more);
	p->plan = plan_new(g, more, r);
	return p->plan != NULL;
}

struct roux_plan *roux_plan_new(
	struct roux *r, const struct roux_recipe *recipe, const char *values)
{
	/* Why there is no recipe has been said. */
	if (!recipe || !begin(r))
		return NULL;
	struct roux_plan *p = mem_new(struct roux_plan);
	AUTO_JSON *given = read_values(r, values);
	p->roux = roux_ref(r);
	p->app = app_ref(r->app);
	p->ref = given ? recipe_ref_with(recipe->ref, given, &r->report) : NULL;
	if (p->ref && recipe_ref_check_names(p->ref, false, &r->report) && make_plan(p, &r->report))
		return p;
	roux_plan_free(p);
	return NULL;
}

const char *roux_plan_json(struct roux_plan *plan)
{
	if (!plan)
		return NULL;
	AUTO_JSON *collections = app_collections(plan->app);
	struct str cwd = app_cwd(plan->app);

	buf_reset(&plan->json);
	struct json_out out = { .b = &plan->json };
	const struct planned_host host = { .cwd = cwd.len ? cwd.p : ".",
		.collections = collections };
	struct mask *mask = planned_mask(plan->ref, plan->plan, &host);
	(void)planned_json(plan->plan, &host, mask, NULL, &out, NULL);
	mask_free(mask);
	buf_addc(&plan->json, '\n');
	return buf_cstr(&plan->json);
}

void roux_plan_free(struct roux_plan *plan)
{
	if (!plan)
		return;
	plan_unref(plan->plan);
	recipe_ref_free(plan->ref);
	buf_done(&plan->json);
	app_unref(plan->app);
	roux_unref(plan->roux);
	free(plan);
}

/* -- runs ----------------------------------------------------------------------------------------
 */

static void on_line(void *data, uint64_t seq, const char *type, struct str json)
{
	struct roux_run *run = data;

	run->on_event(run,
		&(struct roux_event){ sizeof(struct roux_event), seq, type, json.p, json.len },
		run->data);
}

static struct roux_run *run_new(struct roux *r, roux_event_fn *fn, void *data)
{
	struct roux_run *run = mem_new(struct roux_run);

	run->roux = roux_ref(r);
	run->on_event = fn;
	run->data = data;
	return run;
}

/* NULL when there is no handle. */
static struct roux_run *with_handle(struct roux_run *run, struct run_handle *h)
{
	run->handle = h;
	if (h) {
		buf_add(&run->id, run_id(h));
		return run;
	}
	roux_run_free(run);
	return NULL;
}

static struct observer observer_of(struct roux_run *run)
{
	return (struct observer){ .line = run->on_event ? on_line : NULL, .data = run };
}

struct roux_run *roux_run_start(
	struct roux_plan *plan, const struct roux_start *how, roux_event_fn *fn, void *data)
{
	struct roux_start all = { .size = sizeof(all), .stdin_fd = -1, .stdout_fd = -1 };

	if (!plan || !begin(plan->roux))
		return NULL; /* why has been said */
	struct roux *r = plan->roux;
	if (how && how->size < sizeof(how->size)) {
		report_error(&r->report, (struct where){ 0 },
			"the size of struct roux_start is %zu", how->size);
		report_hint(&r->report, "set size to sizeof(struct roux_start)");
		return NULL;
	}
	if (how)
		memcpy(&all, how, MIN(how->size, sizeof(all)));
	struct roux_run *run = run_new(r, fn, data);
	struct request q = REQUEST_INIT;
	q.record = all.record;
	q.as = all.as;
	q.owner = all.owner;
	q.how = "library";
	q.model = true; /* checked with the plan, as for a model */
	q.detach = all.detach ? DETACH_ALWAYS : DETACH_NEVER;
	q.grace_ms = all.grace_ms ? all.grace_ms : REQUEST_UNSET;
	q.stdin_fd = all.stdin_fd;
	q.stdout_fd = all.stdout_fd;
	q.observer = observer_of(run);
	return with_handle(run, runs_start(r->app, plan->ref, &q, &r->report));
}

struct roux_run *roux_run_open(struct roux *r, const char *name, roux_event_fn *fn, void *data)
{
	if (!begin(r))
		return NULL;
	if (!name) {
		report_error(&r->report, (struct where){ 0 }, "a run has a name");
		return NULL;
	}
	struct roux_run *run =
		with_handle(run_new(r, fn, data), runs_open(r->app, name, &r->report));
	int e = 0;
	if (run && (fn || run_status(run->handle) == ROUX_RUNNING))
		e = run_observe(run->handle, (const struct observer[]){ observer_of(run) });
	if (e == 0)
		return run;
	run_unobserved(run->handle, e, &r->report);
	roux_run_free(run);
	return NULL;
}

enum roux_status roux_run_status(const struct roux_run *run)
{
	return run ? run_status(run->handle) : ROUX_INVALID;
}

const char *roux_run_id(const struct roux_run *run)
{
	return run && run->id.len ? buf_cstr((struct buf *)&run->id) : NULL;
}

const char *roux_run_result(struct roux_run *run)
{
	if (!run || run_status(run->handle) == ROUX_RUNNING)
		return NULL;
	if (!run->result.len)
		(void)run_result_text(run->handle, &run->result);
	return buf_cstr(&run->result);
}

static bool order(struct roux_run *run, enum run_order what)
{
	if (!run || run_status(run->handle) != ROUX_RUNNING)
		return false;
	report_reset(&run->roux->report);
	return run_order(run->handle, what, -1, &run->roux->report);
}

bool roux_run_cancel(struct roux_run *run)
{
	return order(run, RUN_CANCEL);
}

bool roux_run_kill(struct roux_run *run)
{
	return order(run, RUN_KILL);
}

void roux_run_free(struct roux_run *run)
{
	if (!run)
		return;
	run_close(run->handle);
	buf_done(&run->id);
	buf_done(&run->result);
	roux_unref(run->roux);
	free(run);
}

const char *roux_runs_json(struct roux *r)
{
	if (!begin(r))
		return NULL;
	buf_reset(&r->answer);
	runs_list_document(r->app, NULL, &r->answer, &r->report);
	return r->report.errors ? NULL : buf_cstr(&r->answer);
}

const char *roux_status_json(struct roux *r, const char *name)
{
	if (!begin(r) || !name)
		return NULL;
	struct run_handle *h = runs_open(r->app, name, &r->report);
	if (!h)
		return NULL;
	AUTO_JSON *document = run_status_document(h);
	buf_reset(&r->answer);
	json_write(&r->answer, document, 0);
	buf_addc(&r->answer, '\n');
	run_close(h);
	return buf_cstr(&r->answer);
}

/* -- driving it ----------------------------------------------------------------------------------
 */

enum roux_status roux_run_wait(struct roux_run *run)
{
	if (!run)
		return ROUX_INVALID;
	while (run_status(run->handle) == ROUX_RUNNING && run->roux->app)
		if (app_turn(run->roux->app, -1) < 0 || loop_woken(app_loop(run->roux->app)))
			break;
	return run_status(run->handle);
}

int roux_fd(const struct roux *r)
{
	return r && r->app ? loop_fd(app_loop(r->app)) : -1;
}

int roux_turn(struct roux *r, int timeout_ms)
{
	return r && r->app ? app_turn(r->app, timeout_ms) : -EINVAL;
}

void roux_wake(struct roux *r)
{
	if (r && r->app)
		loop_wake(app_loop(r->app));
}
