#include "hosts/mcp/approvals.h"

#include <string.h>

#include "app/gates.h"
#include "app/recipes.h"
#include "app/settings.h"
#include "base/clock.h"
#include "base/plain-text.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "data/canonical.h"
#include "hosts/mcp/audit.h"
#include "hosts/mcp/result.h"
#include "hosts/mcp/seal.h"

enum { STATE_VERSION = 1, STATE_MS = 10 * 60 * 1000, COMMENT_MAX = 2000 };

/* -- questions -----------------------------------------------------------------------------------
 */

/* An open gate, copied. */
struct open_gate {
	struct arena arena;
	bool found;
	struct str path, stage, prompt;
	uint64_t since_ms, timeout_ms;
};

static bool take_first(void *data, const struct gate *g)
{
	struct open_gate *o = data;

	o->found = true;
	o->path = arena_str(&o->arena, g->path);
	o->stage = arena_str(&o->arena, g->stage);
	o->prompt = arena_str(&o->arena, str_trim(g->prompt));
	o->since_ms = g->since_ms;
	o->timeout_ms = g->timeout_ms;
	return false;
}

/* The caller ends the arena. */
static bool find_gate(struct mcp *m, const char *run, struct open_gate *ret)
{
	AUTO_REPORT ignored = REPORT_INIT;

	*ret = (struct open_gate){ 0 };
	(void)gates_each(m->app, run, take_first, ret, &ignored);
	return ret->found;
}

/* Never used twice in a run: a gate is asked at its path once. */
static void gate_key(const struct open_gate *g, struct buf *b)
{
	buf_printf(b, "%.*s@%.*s#1", STR(g->stage), STR(g->path));
}

static json_t *form_of(const struct open_gate *g, const char *run)
{
	AUTO_BUF message = BUF_INIT;

	text_plain_lines(&message, g->prompt.len ? g->prompt : S("Approve?"));
	buf_adds(&message, "\n(stage '");
	text_plain(&message, g->stage);
	buf_printf(&message, "' of run %s)", run);
	return json_pack(
		"{s:o, s:{s:s, s:{s:{s:s, s:s, s:[s, s], s:[s, s]}, s:{s:s, s:s, s:i}}, s:[s]}}",
		"message", json_from_str(buf_str(&message)), "requestedSchema", "type", "object",
		"properties", "decision", "type", "string", "title", "Decision", "enum", "approve",
		"reject", "enumNames", "Approve", "Reject", "comment", "type", "string", "title",
		"Comment", "maxLength", COMMENT_MAX, "required", "decision");
}

json_t *approvals_requests(struct mcp *m, const char *run)
{
	json_t *requests = json_object();
	AUTO_BUF key = BUF_INIT;
	struct open_gate g;

	if (find_gate(m, run, &g)) {
		json_t *params = form_of(&g, run);

		gate_key(&g, &key);
		json_object_set_new(params, "mode", json_string("form"));
		json_object_set_new(requests, buf_cstr(&key),
			json_pack("{s:s, s:o}", "method", "elicitation/create", "params", params));
	}
	arena_done(&g.arena);
	return requests;
}

/* Whether answers of this client count. */
static bool approvals_count(const struct session *who)
{
	AUTO_REPORT ignored = REPORT_INIT;
	const struct settings *s = app_settings(who->server->app, &ignored);

	return !who->mute && (!s || s->approvals_mcp == SETTINGS_APPROVALS_ALLOW);
}

static bool client_can_ask(const struct exchange *x)
{
	const json_t *offered = json_object_get(x->capabilities, "elicitation");

	/* An empty object stands for forms. */
	return json_is_object(offered) &&
	       (json_object_get(offered, "form") || !json_object_get(offered, "url"));
}

/* -- answers -------------------------------------------------------------------------------------
 */

static enum decision decision_of(const json_t *response, struct str *ret_comment)
{
	struct str action = json_text_of(response, "action");
	const json_t *content = json_object_get(response, "content");
	struct str decision = json_text_of(content, "decision");
	const json_t *comment = json_object_get(content, "comment");

	*ret_comment = json_is_string(comment) ? utf8_head(json_str(comment), COMMENT_MAX) : S("");
	if (str_eq(action, S("decline")) || str_eq(action, S("cancel")))
		return DECISION_LATER;
	if (!str_eq(action, S("accept")) || (comment && !json_is_string(comment)))
		return DECISION_NONE;
	if (str_eq(decision, S("approve")))
		return DECISION_APPROVE;
	return str_eq(decision, S("reject")) ? DECISION_REJECT : DECISION_NONE;
}

/* False with an issue: another answer came first, for example. */
static bool decide(struct exchange *x, const char *run, const struct open_gate *g, bool approve,
	struct str comment, struct report *r)
{
	AUTO_BUF by = BUF_INIT;
	AUTO_BUF path = BUF_INIT;
	struct gate_decided decided;

	buf_printf(&by, "MCP client %.*s", STR(x->client.len ? x->client : S("without a name")));
	buf_add(&path, g->path);
	bool ok = gate_decide(x->session->server->app,
		&(struct gate_decision){ .run = run,
			.stage = buf_cstr(&path),
			.approve = approve,
			.text = comment,
			.by = buf_str(&by) },
		&decided, r);
	audit_call(x, &(struct audited_call){ .action = S("answer"),
			      .tool = json_text_of(x->params, "name"),
			      .run = str_of(run),
			      .decision = approve ? S("approve") : S("reject"),
			      .outcome = ok ? S("done") : S("refused"),
			      .exit = -1 });
	return ok;
}

bool approvals_apply(struct exchange *x, const char *run, const json_t *responses, struct report *r)
{
	struct mcp *m = x->session->server;
	AUTO_BUF key = BUF_INIT;
	struct open_gate g;
	struct str comment;
	bool decided = false;

	if (approvals_count(x->session) && find_gate(m, run, &g)) {
		gate_key(&g, &key);
		enum decision d = decision_of(json_object_get(responses, buf_cstr(&key)), &comment);

		if (d == DECISION_APPROVE || d == DECISION_REJECT)
			decided = decide(x, run, &g, d == DECISION_APPROVE, comment, r);
		arena_done(&g.arena);
	}
	return decided;
}

/* -- what the client hands back ------------------------------------------------------------------
 */

/* Which call it belongs to: tool and arguments. */
static void call_digest(const struct exchange *x, char hex[SHA256_HEX])
{
	AUTO_BUF text = BUF_INIT;
	const json_t *arguments = json_object_get(x->params, "arguments");

	buf_add(&text, json_text_of(x->params, "name"));
	buf_addc(&text, '\n');
	if (json_object_size(arguments))
		json_canonical(&text, arguments);
	sha256_hex(buf_str(&text), hex);
}

/* {"resultType":"input_required", …}; NULL with an issue. */
static json_t *input_required(struct exchange *x, const char *run, struct report *r)
{
	struct mcp *m = x->session->server;
	AUTO_BUF state = BUF_INIT;
	char digest[SHA256_HEX];

	call_digest(x, digest);
	AUTO_JSON *payload = json_pack("{s:i, s:s, s:s, s:s, s:I}", "v", STATE_VERSION, "run", run,
		"call", digest, "who", x->session->principal.p, "until",
		(json_int_t)(clock_real_ms() + STATE_MS));
	if (!seal_state(m, payload, &state, r))
		return NULL;
	return json_pack("{s:s, s:o, s:o}", "resultType", "input_required", "inputRequests",
		approvals_requests(m, run), "requestState", json_from_str(buf_str(&state)));
}

/* The run that the state names, for this call; empty: it is not valid. *ret_fresh: it has not
 * expired. */
static bool state_run(struct exchange *x, struct buf *run, bool *ret_fresh, struct report *r)
{
	const json_t *text = json_object_get(x->params, "requestState");
	char digest[SHA256_HEX];

	AUTO_JSON *payload = json_is_string(text)
				     ? seal_state_open(x->session->server, json_str(text), r)
				     : NULL;
	call_digest(x, digest);
	if (!payload || json_number_of(payload, "v") != STATE_VERSION ||
		!str_eq(json_text_of(payload, "call"), str_of(digest)) ||
		!str_eq(json_text_of(payload, "who"), x->session->principal))
		return false;
	buf_add(run, json_text_of(payload, "run"));
	*ret_fresh = (uint64_t)json_number_of(payload, "until") > clock_real_ms();
	return true;
}

/* -- modern --------------------------------------------------------------------------------------
 */

static void answer_present(struct exchange *x, struct tool *t, const char *run)
{
	AUTO_REPORT issues = REPORT_INIT;
	struct run_handle *h = runs_open(x->session->server->app, run, &issues);

	if (!h) {
		answer_issues(x, &issues);
	} else if (run_status(h) == ROUX_RUNNING) {
		call_adopt(x, t, h);
	} else {
		exchange_answer(x, result_of_run(x->session->server, t, h));
		run_close(h);
	}
}

/* The answer was written down: the run continues, and the call waits for it. */
static void continue_run(struct exchange *x, struct tool *t, const char *run)
{
	AUTO_REPORT issues = REPORT_INIT;
	struct resume_request q = { .request = REQUEST_INIT };
	bool over;

	q.request.detach = DETACH_ALWAYS;
	q.request.sandbox = x->session->server->options.sandbox;
	struct run_handle *h = runs_resume(x->session->server->app, run, &q, &over, &issues);
	if (h)
		call_adopt(x, t, h);
	else if (report_has_system(&issues))
		answer_issues(x, &issues);
	else
		answer_present(x, t, run); /* another process has it, and hears the answer */
}

static void ask_again(struct exchange *x, const char *run)
{
	AUTO_REPORT issues = REPORT_INIT;
	json_t *result = input_required(x, run, &issues);

	if (result)
		exchange_answer(x, result);
	else
		exchange_fail_report(x, RPC_INTERNAL, &issues);
}

void approvals_retry(struct exchange *x, struct tool *t)
{
	struct mcp *m = x->session->server;
	const json_t *responses = json_object_get(x->params, "inputResponses");
	AUTO_REPORT issues = REPORT_INIT;
	AUTO_BUF run = BUF_INIT;
	AUTO_BUF key = BUF_INIT;
	struct open_gate g = { 0 };
	struct str comment;
	bool fresh = false;

	if (!state_run(x, &run, &fresh, &issues)) {
		if (issues.errors)
			exchange_fail_report(x, RPC_INTERNAL, &issues);
		else
			exchange_fail(
				x, RPC_PARAMS, NULL, "requestState is not valid for this call");
		return;
	}
	const char *name = buf_cstr(&run);
	if (!find_gate(m, name, &g)) {
		answer_present(x, t, name); /* answered, by whichever door */
		arena_done(&g.arena);
		return;
	}
	gate_key(&g, &key);
	enum decision d =
		fresh && approvals_count(x->session)
			? decision_of(json_object_get(responses, buf_cstr(&key)), &comment)
			: DECISION_NONE;
	if (d == DECISION_LATER || !approvals_count(x->session) || !client_can_ask(x))
		answer_present(x, t, name);
	else if (d == DECISION_NONE)
		ask_again(x, name);
	else if (decide(x, name, &g, d == DECISION_APPROVE, comment, &issues))
		continue_run(x, t, name);
	else
		answer_present(x, t, name); /* another answer was faster */
	arena_done(&g.arena);
}

/* -- legacy --------------------------------------------------------------------------------------
 */

/* Whether the question of the call is that of the gate: another door may have answered it and
 * continued the run, which waits at its next gate then. */
static bool was_asked(const struct tool_call *c, const struct open_gate *g)
{
	AUTO_BUF key = BUF_INIT;

	gate_key(g, &key);
	return str_eq(buf_str(&key), buf_str(&c->asked));
}

static void on_answered(struct question *q, const json_t *result)
{
	struct tool_call *c = q->data;
	AUTO_REPORT issues = REPORT_INIT;
	AUTO_BUF run = BUF_INIT;
	struct open_gate g;
	struct str comment;
	enum decision d = result ? decision_of(result, &comment) : DECISION_LATER;
	bool ok = true;

	c->question = NULL; /* the session ends it */
	buf_add(&run, run_id(c->run));
	if (!find_gate(c->server, buf_cstr(&run), &g) || !was_asked(c, &g))
		ok = call_follow(c, &issues);
	else if (d == DECISION_LATER || (d == DECISION_NONE && !approvals_ask(c)))
		call_answer(c);
	else if (d != DECISION_NONE)
		ok = decide(c->x, buf_cstr(&run), &g, d == DECISION_APPROVE, comment, &issues) &&
		     call_continue(c, &issues);
	arena_done(&g.arena);
	if (!ok)
		call_refuse(c, &issues);
}

/* -- both ----------------------------------------------------------------------------------------
 */

/* The answer to a modern call is the question. */
static bool answer_with_question(struct tool_call *c, const char *run)
{
	AUTO_REPORT issues = REPORT_INIT;
	json_t *result = input_required(c->x, run, &issues);

	if (!result)
		return false;
	call_answer_with(c, result);
	return true;
}

bool approvals_ask(struct tool_call *c)
{
	AUTO_BUF run = BUF_INIT;
	struct open_gate g = { 0 };
	uint64_t now = clock_real_ms();

	buf_add(&run, run_id(c->run));
	if (!client_can_ask(c->x) || !approvals_count(c->x->session) ||
		!find_gate(c->server, buf_cstr(&run), &g)) {
		arena_done(&g.arena);
		return false;
	}
	if (c->x->era == ERA_MODERN) {
		arena_done(&g.arena);
		return answer_with_question(c, buf_cstr(&run));
	}
	buf_reset(&c->asked);
	gate_key(&g, &c->asked);
	c->question = session_ask(c->x->session, c->x->channel, "elicitation/create",
		form_of(&g, buf_cstr(&run)), on_answered, c);
	if (g.timeout_ms)
		call_wait_until(
			c, g.since_ms + g.timeout_ms > now ? g.since_ms + g.timeout_ms - now : 0);
	arena_done(&g.arena);
	return true;
}

/* Whether a stage of the recipe insists on being answered within the call. */
static bool wants_inline(const struct tool *t)
{
	const json_t *stages = recipe_ref_member(t->ref, "stages");
	json_t *stage;
	size_t i;

	json_array_foreach(stages, i, stage)
	{
		const json_t *approval = json_object_get(stage, "approval");

		if (str_eq(json_text_of(approval, "inline"), S("required")))
			return true;
	}
	return false;
}

bool approvals_possible(struct exchange *x, const struct tool *t)
{
	if ((client_can_ask(x) && approvals_count(x->session)) || !wants_inline(t))
		return true;
	if (x->era == ERA_MODERN)
		exchange_fail(x, RPC_CAPABILITY,
			json_pack("{s:{s:{}}}", "requiredCapabilities", "elicitation"),
			"this recipe asks a person for approval within the call, and the client "
			"does not "
			"offer elicitation");
	else
		exchange_answer(
			x, result_error(S("this recipe asks a person for approval within the "
					  "call, and the client does not offer elicitation")));
	return false;
}
