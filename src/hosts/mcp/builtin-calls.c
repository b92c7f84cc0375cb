/* Built-in tools that answer at once: lists, orders, messages. */
#include "hosts/mcp/builtin-calls.h"

#include "app/gates.h"
#include "app/messages.h"
#include "app/runs.h"
#include "base/clock.h"
#include "base/plain-text.h"
#include "hosts/mcp/audit.h"
#include "hosts/mcp/quota.h"
#include "hosts/mcp/result.h"
#include "hosts/mcp/run-steps.h"
#include "hosts/mcp/words.h"

/* -- what they share -----------------------------------------------------------------------------
 */

static void audit(struct exchange *x, struct str run, struct str outcome)
{
	audit_call(x, &(struct audited_call){ .tool = json_text_of(x->params, "name"),
			      .run = run,
			      .outcome = outcome,
			      .exit = -1 });
}

void builtin_refuse(struct exchange *x, struct report *r)
{
	audit(x, json_text_of(json_object_get(x->params, "arguments"), "run"), S("refused"));
	answer_issues(x, r);
}

struct run_handle *builtin_open(struct exchange *x, const json_t *arguments)
{
	AUTO_REPORT issues = REPORT_INIT;
	struct run_handle *h =
		mcp_open_run(x->session->server, json_text_of(arguments, "run"), &issues);

	if (!h)
		builtin_refuse(x, &issues);
	return h;
}

void builtin_answer(struct exchange *x, struct run_handle *h, struct str text, json_t *more)
{
	json_t *content = h ? run_facts(x->session->server, h) : json_object();

	if (more)
		json_object_update(content, more);
	json_decref(more);
	json_object_set_new(content, "text", json_from_str(text));
	audit(x, h ? run_id(h) : S(""), S("done"));
	exchange_answer(
		x, json_pack("{s:[{s:s, s:o}], s:b, s:o}", "content", "type", "text", "text",
			   json_from_str(text), "isError", 0, "structuredContent", content));
}

/* -- roux_runs -----------------------------------------------------------------------------------
 */

struct listing {
	json_t *runs;
	struct buf text;
	struct str recipe;
	size_t most;
};

static bool list_one(void *data, const struct run_entry *e)
{
	struct listing *l = data;
	AUTO_BUF when = BUF_INIT;
	AUTO_BUF took = BUF_INIT;

	if (l->recipe.len && !str_eq(l->recipe, e->recipe))
		return true;
	clock_rfc3339(&when, e->started);
	clock_duration(&took, e->ms);
	buf_printf(&l->text, "%.*s  %.*s  %.*s  started %s, %s\n", STR(e->id), STR(e->recipe),
		STR(e->status), buf_cstr(&when), buf_cstr(&took));
	json_array_append_new(l->runs,
		json_pack("{s:o, s:o, s:o, s:s, s:I}", "run", json_from_str(e->id), "recipe",
			json_from_str(e->recipe), "status", json_from_str(e->status), "started",
			buf_cstr(&when), "ms", (json_int_t)e->ms));
	return json_array_size(l->runs) < l->most;
}

static void list_again(void *data)
{
	struct listing *l = data;

	json_array_clear(l->runs);
	buf_reset(&l->text);
}

void builtin_runs(struct exchange *x, const json_t *arguments)
{
	AUTO_REPORT issues = REPORT_INIT;
	json_int_t limit = json_number_of(arguments, "limit");
	struct listing l = { .runs = json_array(),
		.recipe = json_text_of(arguments, "recipe"),
		.most = limit ? (size_t)limit : 20 };
	struct run_filter f = { .status = json_text_of(arguments, "status") };

	runs_each(x->session->server->app, &f, list_one, list_again, &l, &issues);
	if (!l.text.len)
		buf_adds(&l.text, "no runs\n");
	builtin_answer(x, NULL, buf_str(&l.text), json_pack("{s:o}", "runs", l.runs));
	buf_done(&l.text);
}

/* -- roux_run_status -----------------------------------------------------------------------------
 */

static const char *next_of(enum roux_status status)
{
	switch (status) {
	case ROUX_RUNNING:
		return "roux_run_wait waits for its end";
	case ROUX_PAUSED:
		return "a person has to answer; then roux_run_wait";
	case ROUX_FAILED:
	case ROUX_TIMEOUT:
	case ROUX_PARTIAL:
		return "roux_run_log shows what it printed; roux_run_retry does it again from the "
		       "failure";
	case ROUX_CANCELLED:
	case ROUX_KILLED:
	case ROUX_EXITED:
		return "roux_run_retry does the rest";
	case ROUX_DONE:
	case ROUX_DENIED:
	case ROUX_INVALID:
	case ROUX_REFUSED:
		break;
	}
	return "roux_run_log shows what it printed";
}

void builtin_status(struct exchange *x, const json_t *arguments)
{
	struct run_handle *h = builtin_open(x, arguments);
	AUTO_BUF text = BUF_INIT;

	if (!h)
		return;
	AUTO_JSON *status = run_status_document(h);
	const json_t *gate = json_object_get(status, "pending_approval");
	json_t *steps = run_steps(h);
	json_t *step;
	size_t i;

	buf_printf(&text, "%.*s: %.*s", STR(run_id(h)), STR(run_status_word(h)));
	AUTO_BUF took = BUF_INIT;
	clock_duration(&took, (uint64_t)json_number_of(status, "ms"));
	buf_printf(&text, ", %s\n", buf_cstr(&took));
	json_array_foreach(steps, i, step)
	{
		buf_printf(&text, "%.*s ", STR(json_text_of(step, "path")));
		text_plain(&text, json_text_of(step, "label"));
		buf_printf(&text, ": %.*s\n", STR(json_text_of(step, "state")));
	}
	if (json_is_object(gate)) {
		buf_adds(&text, "waits for the approval of a person at stage '");
		gate_words(&text, gate);
		buf_addc(&text, '\n');
	}
	buf_printf(&text, "next: %s", next_of(run_status(h)));
	builtin_answer(x, h, buf_str(&text),
		json_pack("{s:o, s:O, s:s}", "steps", steps, "ms", json_object_get(status, "ms"),
			"next", next_of(run_status(h))));
	run_close(h);
}

/* -- orders --------------------------------------------------------------------------------------
 */

void builtin_cancel(struct exchange *x, const json_t *arguments)
{
	AUTO_REPORT issues = REPORT_INIT;
	struct run_handle *h = builtin_open(x, arguments);
	AUTO_BUF text = BUF_INIT;

	if (!h)
		return;
	if (run_order(h, RUN_CANCEL, -1, &issues)) {
		buf_printf(&text,
			"%.*s is being cancelled; roux_run_wait reports when it has ended",
			STR(run_id(h)));
		builtin_answer(x, h, buf_str(&text), NULL);
	} else {
		builtin_refuse(x, &issues);
	}
	run_close(h);
}

/* A run that waits for an answer, or was denied one, is not done again by a client, and none is
 * begun behind a gate: that would be an approval. So one that asks is done again as a whole. */
static bool may_retry(struct exchange *x, struct run_handle *h, const json_t *arguments, bool asks,
	struct report *r)
{
	enum roux_status status = run_status(h);
	AUTO_BUF why = BUF_INIT;

	if (!quota_allows(x->session->server, x->session->principal, &why))
		return report_error(r, (struct where){ 0 }, "%s", buf_cstr(&why));
	if (status == ROUX_PAUSED || status == ROUX_DENIED)
		return report_error(r, (struct where){ 0 },
			"the run '%.*s' is %.*s: only a person decides about it", STR(run_id(h)),
			STR(run_status_word(h)));
	if (json_object_get(arguments, "from") && asks) {
		report_error(r, (struct where){ 0 },
			"the recipe asks for approvals, so a step cannot be chosen");
		return report_hint(r, "without `from` all of it is done again; a person can type "
				      "`roux rerun`");
	}
	return true;
}

void builtin_retry(struct exchange *x, const json_t *arguments)
{
	AUTO_REPORT issues = REPORT_INIT;
	struct run_handle *h = builtin_open(x, arguments), *again = NULL;
	AUTO_BUF name = BUF_INIT;
	AUTO_BUF from = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	struct rerun_request q = { .request = REQUEST_INIT };

	if (!h)
		return;
	bool asks = run_may_ask(h);
	buf_add(&name, run_id(h));
	buf_add(&from, json_text_of(arguments, "from"));
	q.from = from.len ? buf_cstr(&from) : NULL;
	q.only = json_truth_of(arguments, "only");
	q.all = asks;
	q.request.detach = DETACH_ALWAYS;
	q.request.bare = true;
	q.request.sandbox = x->session->server->options.sandbox;
	if (may_retry(x, h, arguments, asks, &issues))
		again = runs_rerun(x->session->server->app, buf_cstr(&name), &q, &issues);
	run_close(h);
	if (!again) {
		builtin_refuse(x, &issues);
		return;
	}
	quota_keep(x->session->server, x->session->principal, run_id(again));
	buf_printf(&text, "started as %.*s%s; call roux_run_wait with it", STR(run_id(again)),
		asks ? ", from its beginning, because the recipe asks for approvals" : "");
	builtin_answer(x, again, buf_str(&text),
		json_pack("{s:o, s:s}", "retry_of", json_from_str(buf_str(&name)), "next",
			"roux_run_wait"));
	run_close(again);
}

/* -- roux_run_message ----------------------------------------------------------------------------
 */

static bool accepts(const json_t *status, struct str action)
{
	const json_t *all = json_object_get(json_object_get(status, "mailbox"), "accepts");
	json_t *one;
	size_t i;

	json_array_foreach(all, i, one)
	{
		const json_t *type = json_is_object(one) ? json_object_get(one, "type") : one;

		if (json_is_string(type) && str_eq(json_str(type), action))
			return true;
	}
	return false;
}

void builtin_message(struct exchange *x, const json_t *arguments)
{
	AUTO_REPORT issues = REPORT_INIT;
	struct run_handle *h = builtin_open(x, arguments);
	struct message_answer answer = { 0 };
	AUTO_BUF name = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	struct str action = json_text_of(arguments, "action");

	if (!h)
		return;
	AUTO_JSON *status = run_status_document(h);
	buf_add(&name, run_id(h));
	bool known = accepts(status, action) && !messages_host_order(action);
	if (!known)
		report_error(&issues, (struct where){ 0 },
			"rejected: the recipe does not declare that it accepts '%.*s' "
			"(mailbox.accepts)",
			STR(action));
	if (known && messages_send(x->session->server->app,
			     &(struct message_request){ .run = buf_cstr(&name),
				     .type = action,
				     .body = json_object_get(arguments, "input") },
			     &answer, &issues)) {
		const char *word = answer.sent ? "delivered" : "queued";

		buf_printf(&text, "%s", word);
		if (!answer.sent && answer.waits_for)
			buf_printf(&text, ": %s", answer.waits_for);
		builtin_answer(x, h, buf_str(&text),
			json_pack("{s:s, s:o}", "delivery", word, "message",
				json_from_str(buf_str(&answer.id))));
	} else {
		builtin_refuse(x, &issues);
	}
	message_answer_done(&answer);
	run_close(h);
}
