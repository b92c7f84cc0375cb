#include "hosts/mcp/call.h"

#include <stdlib.h>
#include <string.h>

#include "app/recipes.h"
#include "base/run-status.h"
#include "hosts/mcp/approvals.h"
#include "hosts/mcp/arguments.h"
#include "hosts/mcp/audit.h"
#include "hosts/mcp/builtins.h"
#include "hosts/mcp/log.h"
#include "hosts/mcp/methods.h"
#include "hosts/mcp/quota.h"
#include "hosts/mcp/raw.h"
#include "hosts/mcp/result.h"
#include "hosts/mcp/tasks.h"

static void start_next(struct mcp *m);

/* -- its end -------------------------------------------------------------------------------------
 */

void call_free(struct tool_call *c)
{
	struct mcp *m = c->server;
	bool counted = c->counted;

	timer_stop(&c->budget);
	deferred_stop(&c->ending);
	progress_stop(&c->progress);
	if (c->question)
		question_drop(c->question);
	list_remove(&c->link);
	run_close(c->run); /* the run continues, if it has not ended */
	tool_unref(c->tool);
	json_decref(c->values);
	buf_done(&c->task);
	buf_done(&c->asked);
	json_decref(c->labels);
	raw_free(c->raw);
	free(c);
	m->running -= counted;
	if (counted)
		start_next(m);
}

static void audit(struct tool_call *c, struct str outcome)
{
	audit_call(c->x, &(struct audited_call){ .tool = c->tool->name,
				 .run = c->run ? run_id(c->run) : S(""),
				 .outcome = outcome,
				 .exit = c->run ? run_exit_code(c->run) : -1 });
}

void call_answer_with(struct tool_call *c, json_t *result)
{
	struct exchange *x = c->x;

	progress_stop(&c->progress);
	audit(c, c->run ? run_status_word(c->run) : S("refused"));
	exchange_answer(x, result);
	call_free(c);
}

void call_refuse(struct tool_call *c, struct report *r)
{
	progress_stop(&c->progress);
	audit(c, S("refused"));
	answer_issues(c->x, r);
	call_free(c);
}

void call_answer(struct tool_call *c)
{
	call_answer_with(c, result_of_run(c->server, c->tool, c->run));
}

/* As a task when the client can take one. */
/* The run continues without the call. */
static void call_promote(struct tool_call *c)
{
	AUTO_REPORT issues = REPORT_INIT;

	if (run_status(c->run) == ROUX_RUNNING)
		quota_keep(c->server, c->x->session->principal, run_id(c->run));
	if (run_status(c->run) == ROUX_PAUSED)
		call_answer(c);
	else if (c->task.len &&
		 task_register(c->x->session, buf_str(&c->task), run_id(c->run), &issues))
		call_answer_with(c, task_created(c->server, buf_str(&c->task), c->run));
	else
		call_answer_with(c, result_running(c->server, c->run));
}

/* The client wants no answer any more: nothing is sent, and everything that the run has started is
 * ended by its supervisor. */
static void on_cancel(struct exchange *x)
{
	struct tool_call *c = x->data;
	AUTO_REPORT ignored = REPORT_INIT;

	if (c->run)
		(void)run_order(c->run, RUN_CANCEL, -1, &ignored);
	progress_stop(&c->progress);
	audit(c, S("cancelled"));
	exchange_drop(x);
	call_free(c);
}

static void on_budget(struct timer *t)
{
	call_promote(container_of(t, struct tool_call, budget));
}

void call_wait_until(struct tool_call *c, uint64_t ms)
{
	struct loop *loop = app_loop(c->server->app);

	if (!timer_running(&c->budget) || c->budget.due_ms > loop_now(loop) + ms)
		timer_start(loop, &c->budget, ms);
}

/* -- while it runs -------------------------------------------------------------------------------
 */

static void on_line(void *data, uint64_t seq, const char *type, struct str json)
{
	struct tool_call *c = data;

	(void)seq;
	progress_event(&c->progress, type, json);
	if (c->run)
		log_event(c->x, run_id(c->run), &c->labels, type, json);
}

static void on_changed(void *data)
{
	raw_grown(data);
}

static void on_ended(void *data)
{
	struct tool_call *c = data;

	/* Not from here: the handle is telling others. */
	deferred_start(app_loop(c->server->app), &c->ending);
}

static void on_ending(struct deferred *d)
{
	struct tool_call *c = container_of(d, struct tool_call, ending);

	if (c->raw)
		raw_ended(c);
	else if (run_status(c->run) != ROUX_PAUSED || !approvals_ask(c))
		call_answer(c);
}

static uint64_t budget_of(const struct tool_call *c)
{
	const struct tool *t = c->tool;
	const struct mcp_options *o = &c->server->options;
	bool told = c->x->message.progress_token.len > 0;

	if (told && t->progress_ms != BUDGET_UNSET)
		return t->progress_ms;
	if (t->sync_ms != BUDGET_UNSET)
		return t->sync_ms;
	return told ? o->progress_ms : o->sync_ms;
}

static struct observer observer_of(struct tool_call *c)
{
	bool told = c->x->message.progress_token.len || log_wanted(c->x, -1);

	return (struct observer){ .line = told && !c->raw ? on_line : NULL,
		.changed = c->raw ? on_changed : NULL,
		.ended = on_ended,
		.data = c };
}

/* It has a run: what follows comes from the loop. */
static void watch(struct tool_call *c)
{
	uint64_t budget = budget_of(c);

	if (!c->raw)
		progress_start(&c->progress, c->x, c->tool->commands);
	if (budget && !timer_running(&c->budget))
		timer_start(app_loop(c->server->app), &c->budget, budget);
}

/* -- its beginning -------------------------------------------------------------------------------
 */

static json_t *environment(const struct exchange *x)
{
	static const char *const names[][2] = { { "traceparent", "TRACEPARENT" },
		{ "tracestate", "TRACESTATE" } };
	json_t *env = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct str value = json_text_of(x->meta, names[i][0]);
		AUTO_BUF one = BUF_INIT;

		buf_printf(&one, "%s=%.*s", names[i][1], STR(value));
		if (value.len && str_find(value, '\0', 0) == value.len)
			json_array_append_new(env, json_from_str(buf_str(&one)));
	}
	return env;
}

static struct run_handle *launch(struct tool_call *c, struct report *r)
{
	AUTO_JSON *env = environment(c->x);
	struct request q = REQUEST_INIT;
	struct recipe_ref *ref = recipe_ref_with(c->tool->ref, c->values, r);
	struct run_handle *run = NULL;

	q.record = true;
	q.how = "mcp";
	q.detach = DETACH_ALWAYS;
	q.fresh = true;
	q.bare = true;
	q.sandbox = c->server->options.sandbox;
	q.offline = q.sandbox && json_is_false(recipe_ref_member(c->tool->ref, "network"));
	q.env = env;
	q.secret_env = c->tool->secrets;
	if (c->raw)
		raw_environment(c, env);
	if (exchange_extends(c->x, TASKS_EXTENSION) && !c->task.len)
		task_id_make(&c->task);
	q.task = c->task.len ? buf_cstr(&c->task) : NULL;
	q.observer = observer_of(c);
	if (ref)
		run = runs_start(c->server->app, ref, &q, r);
	recipe_ref_free(ref);
	return run;
}

static void execute(struct tool_call *c)
{
	AUTO_REPORT issues = REPORT_INIT;
	AUTO_BUF why = BUF_INIT;

	if (!quota_allows(c->server, c->x->session->principal, &why)) {
		call_answer_with(c, result_error(buf_str(&why)));
		return;
	}
	c->run = launch(c, &issues);
	if (!c->run) {
		call_refuse(c, &issues);
	} else if (c->tool->async) {
		call_promote(c);
	} else {
		watch(c);
	}
}

static void start(struct tool_call *c)
{
	list_remove(&c->link);
	list_append(&c->server->calls, &c->link);
	c->counted = true;
	c->server->running++;
	execute(c);
}

void call_repeat(struct tool_call *c)
{
	run_close(c->run);
	c->run = NULL;
	timer_stop(&c->budget);
	execute(c);
}

static void start_next(struct mcp *m)
{
	while (m->running < m->options.jobs && !list_empty(&m->waiting) && !m->ending)
		start(list_entry(m->waiting.next, struct tool_call, link));
}

static struct tool_call *call_new(struct exchange *x, struct tool *t)
{
	struct tool_call *c = mem_new(struct tool_call);

	c->server = x->session->server;
	c->x = x;
	c->tool = tool_ref(t);
	c->budget.fire = on_budget;
	c->ending.call = on_ending;
	x->data = c;
	x->cancel = on_cancel;
	return c;
}

void call_begin(struct exchange *x, struct tool *t)
{
	struct mcp *m = x->session->server;
	AUTO_BUF wrong = BUF_INIT;
	const json_t *arguments = json_object_get(x->params, "arguments");

	if (!approvals_possible(x, t))
		return;
	json_t *values = arguments_values(m, t, arguments, &wrong);

	if (!values && x->method->handle == method_prompts_get) {
		exchange_fail(x, RPC_PARAMS, NULL, "%s", buf_cstr(&wrong));
		return;
	}
	if (!values) {
		audit_call(x, &(struct audited_call){
				      .tool = t->name, .outcome = S("refused"), .exit = -1 });
		exchange_answer(x, result_error(buf_str(&wrong)));
		return;
	}
	struct tool_call *c = call_new(x, t);
	c->values = values;
	if (m->options.raw_results && !raw_begin(c))
		return;
	if (m->running < m->options.jobs) {
		start(c);
		return;
	}
	list_append(&m->waiting, &c->link);
	progress_start(&c->progress, x, t->commands);
	progress_say(&c->progress, "queued");
}

void call_adopt(struct exchange *x, struct tool *t, struct run_handle *run)
{
	struct tool_call *c = call_new(x, t);
	struct observer o = observer_of(c);

	c->run = run;
	if (exchange_extends(x, TASKS_EXTENSION))
		run_task(run, &c->task);
	list_append(&c->server->calls, &c->link);
	(void)run_observe(run, &o);
	watch(c);
}

/* Takes the handle in place of the one that the call has. */
static void take_run(struct tool_call *c, struct run_handle *run)
{
	struct observer o = observer_of(c);

	run_close(c->run);
	c->run = run;
	(void)run_observe(run, &o);
	timer_stop(&c->budget);
	watch(c);
}

bool call_follow(struct tool_call *c, struct report *r)
{
	AUTO_BUF id = BUF_INIT;

	buf_add(&id, run_id(c->run));
	struct run_handle *now = runs_open(c->server->app, buf_cstr(&id), r);
	if (now)
		take_run(c, now);
	return now != NULL;
}

bool call_continue(struct tool_call *c, struct report *r)
{
	struct resume_request q = { .request = REQUEST_INIT };
	AUTO_BUF id = BUF_INIT;
	bool over;

	buf_add(&id, run_id(c->run));
	q.request.detach = DETACH_ALWAYS;
	q.request.sandbox = c->server->options.sandbox;
	struct run_handle *again = runs_resume(c->server->app, buf_cstr(&id), &q, &over, r);
	if (again)
		take_run(c, again);
	return again != NULL;
}

/* -- the method ----------------------------------------------------------------------------------
 */

void method_tools_call(struct exchange *x)
{
	struct catalog *catalog = x->session->server->catalog;
	const json_t *name = json_object_get(x->params, "name");
	const json_t *arguments = json_object_get(x->params, "arguments");

	if (!json_is_string(name)) {
		exchange_fail(x, RPC_PARAMS, NULL, "\"name\" has to be a string");
		return;
	}
	if (arguments && !json_is_object(arguments)) {
		exchange_fail(x, RPC_PARAMS, NULL, "\"arguments\" has to be an object, found %s",
			json_kind(arguments));
		return;
	}
	struct tool *t = catalog_find(catalog, json_str(name));
	if (!t)
		exchange_fail(x, RPC_PARAMS, NULL, "unknown tool '%.*s'", STR(json_str(name)));
	else if (t->builtin)
		builtin_call(x, t);
	else if (x->era == ERA_MODERN && json_object_get(x->params, "requestState") &&
		 !x->session->server->options.raw_results)
		approvals_retry(x, t);
	else
		call_begin(x, t);
}
