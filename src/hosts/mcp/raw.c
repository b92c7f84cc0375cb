#include "hosts/mcp/raw.h"

#include <stdlib.h>
#include <string.h>

#include "app/logs.h"
#include "data/json-out.h"
#include "hosts/mcp/log.h"
#include "hosts/mcp/methods.h"
#include "hosts/mcp/result.h"
#include "hosts/mcp/seal.h"

enum { READ_BYTES = 64 * 1024, LINE_MAX_BYTES = 16 << 20 };

struct raw {
	struct log_cursor cursor;
	struct buf rest; /* of a line whose end has not come */
	json_t *result;  /* the last line that is one; NULL: none yet */
	json_t *responses;
	struct buf state;
	json_t *open; /* requests that a legacy client is still to be asked */
	struct buf asking;
};

/* -- its beginning -------------------------------------------------------------------------------
 */

void raw_free(struct raw *raw)
{
	if (!raw)
		return;
	buf_done(&raw->rest);
	buf_done(&raw->state);
	buf_done(&raw->asking);
	json_decref(raw->result);
	json_decref(raw->responses);
	json_decref(raw->open);
	free(raw);
}

bool raw_begin(struct tool_call *c)
{
	const json_t *state = json_object_get(c->x->params, "requestState");
	json_t *responses = json_object_get(c->x->params, "inputResponses");
	AUTO_REPORT issues = REPORT_INIT;

	c->raw = mem_new(struct raw);
	if (json_is_object(responses))
		c->raw->responses = json_incref(responses);
	if (!state)
		return true;
	AUTO_JSON *payload =
		json_is_string(state) ? seal_state_open(c->server, json_str(state), &issues) : NULL;
	if (str_eq(json_text_of(payload, "tool"), c->tool->name)) {
		buf_add(&c->raw->state, json_text_of(payload, "raw"));
		return true;
	}
	exchange_fail(c->x, RPC_PARAMS, NULL, "requestState is not valid for this call");
	call_free(c);
	return false;
}

static void add_variable(json_t *env, const char *name, struct str value)
{
	AUTO_BUF one = BUF_INIT;

	buf_printf(&one, "%s=%.*s", name, STR(value));
	if (str_find(value, '\0', 0) == value.len)
		json_array_append_new(env, json_from_str(buf_str(&one)));
}

void raw_environment(const struct tool_call *c, json_t *env)
{
	AUTO_BUF text = BUF_INIT;

	c->raw->cursor = (struct log_cursor){ .stream = LOG_STDOUT };
	if (c->raw->responses) {
		json_write_typed(&text, c->raw->responses, 0);
		add_variable(env, "MCP_INPUT_RESPONSES", buf_str(&text));
	}
	if (c->raw->state.len)
		add_variable(env, "MCP_REQUEST_STATE", buf_str(&c->raw->state));
	buf_reset(&text);
	if (c->x->capabilities)
		json_write_typed(&text, c->x->capabilities, 0);
	add_variable(env, "MCP_CLIENT_CAPABILITIES", text.len ? buf_str(&text) : S("{}"));
}

/* -- what it prints ------------------------------------------------------------------------------
 */

static void send_progress(struct exchange *x, const json_t *params)
{
	AUTO_BUF text = BUF_INIT;
	struct json_out o = { .b = &text };
	struct str token = x->message.progress_token;

	if (!token.len)
		return;
	AUTO_JSON *rest = json_is_object(params) ? json_copy((json_t *)params) : json_object();
	json_object_del(rest, "progressToken");
	json_out_object(&o, NULL);
	json_out_raw(&o, "progressToken", token);
	json_out_members(&o, rest);
	json_out_object_end(&o);
	/* Each is to arrive: nothing takes the place of another. */
	channel_notify_text(
		x->channel, "notifications/progress", buf_str(&text), SEND_NOTICE, S(""));
}

static void notify(struct exchange *x, const json_t *line)
{
	struct str method = json_text_of(line, "method");
	json_t *params = json_object_get(line, "params");
	AUTO_BUF name = BUF_INIT;

	buf_add(&name, method);
	if (str_eq(method, S("notifications/progress")))
		send_progress(x, params);
	else if (!str_eq(method, S("notifications/message")) ||
		 log_wanted(x, log_level(json_text_of(params, "level"))))
		channel_notify(x->channel, buf_cstr(&name), json_incref(params));
}

static void take_line(struct tool_call *c, struct str line)
{
	AUTO_REPORT ignored = REPORT_INIT;

	line = str_trim(line);
	if (!line.len)
		return;
	json_t *value = json_read(&(struct source){ S("output"), line }, &ignored);
	if (json_text_of(value, "method").len) {
		notify(c->x, value);
		json_decref(value);
		return;
	}
	json_decref(c->raw->result);
	c->raw->result = value;
}

void raw_grown(struct tool_call *c)
{
	struct raw *raw = c->raw;
	size_t before;

	if (!c->run)
		return;
	do {
		before = raw->rest.len;
		if (run_log_read(c->run, &raw->cursor, READ_BYTES, &raw->rest) < 0 ||
			raw->rest.len > LINE_MAX_BYTES)
			return;
		bool more = raw->rest.len > before;
		size_t at = 0, end;

		while ((end = str_find(buf_str(&raw->rest), '\n', at)) < raw->rest.len) {
			take_line(c, str_sub(buf_str(&raw->rest), at, end - at));
			at = end + 1;
		}
		AUTO_BUF left = BUF_INIT;
		buf_add(&left, str_from(buf_str(&raw->rest), at));
		buf_swap(&raw->rest, &left);
		if (!more)
			return;
	} while (true);
}

/* -- its answer ----------------------------------------------------------------------------------
 */

/* What a client has to offer to be asked that. */
static const char *needs(const json_t *request)
{
	static const char *const rows[][2] = { { "elicitation/create", "elicitation" },
		{ "sampling/createMessage", "sampling" }, { "roots/list", "roots" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (str_eq(json_text_of(request, "method"), str_of(rows[i][0])))
			return rows[i][1];
	return NULL;
}

/* Leaves what the client can answer. False: nothing of it, and `*ret_missing` is one thing that it
 * does not offer. */
static bool keep_offered(struct exchange *x, json_t *requests, const char **ret_missing)
{
	const char *key;
	json_t *request;
	void *next;
	size_t asked = json_object_size(requests);

	json_object_foreach_safe(requests, next, key, request)
	{
		const char *need = needs(request);

		if (need && exchange_offers(x, need))
			continue;
		if (!*ret_missing)
			*ret_missing = need ? need : "elicitation";
		json_object_del(requests, key);
	}
	return !asked || json_object_size(requests);
}

static void refuse(struct tool_call *c, const char *missing)
{
	struct exchange *x = c->x;

	if (x->era == ERA_MODERN) {
		exchange_fail(x, RPC_CAPABILITY,
			json_pack("{s:{s:{}}}", "requiredCapabilities", missing),
			"the client does not offer %s", missing);
		call_free(c);
	} else {
		AUTO_BUF text = BUF_INIT;

		buf_printf(&text, "the client does not offer %s", missing);
		call_answer_with(c, result_error(buf_str(&text)));
	}
}

static bool ask_next(struct tool_call *c);

static void on_answered(struct question *q, const json_t *result)
{
	struct tool_call *c = q->data;

	c->question = NULL; /* the session ends it */
	json_object_set_new(c->raw->responses, buf_cstr(&c->raw->asking),
		result ? json_incref((json_t *)result) : json_pack("{s:s}", "action", "cancel"));
	if (!ask_next(c))
		call_repeat(c);
}

/* Asks a legacy client the next question. False: there is none left. */
static bool ask_next(struct tool_call *c)
{
	struct raw *raw = c->raw;
	const char *key = json_object_iter_key(json_object_iter(raw->open));
	json_t *request = json_incref(json_object_get(raw->open, key ? key : ""));
	AUTO_BUF method = BUF_INIT;

	if (!key)
		return false;
	buf_reset(&raw->asking);
	buf_adds(&raw->asking, key);
	buf_add(&method, json_text_of(request, "method"));
	json_object_del(raw->open, buf_cstr(&raw->asking));
	json_t *params = json_object_get(request, "params");
	c->question = session_ask(c->x->session, c->x->channel, buf_cstr(&method),
		params ? json_incref(params) : json_object(), on_answered, c);
	json_decref(request);
	return true;
}

static void ask(struct tool_call *c, json_t *result)
{
	struct raw *raw = c->raw;
	json_t *requests = json_object_get(result, "inputRequests");
	AUTO_REPORT issues = REPORT_INIT;
	AUTO_BUF sealed = BUF_INIT;
	const char *missing = NULL;

	buf_reset(&raw->state);
	buf_add(&raw->state, json_text_of(result, "requestState"));
	if (!keep_offered(c->x, requests, &missing)) {
		json_decref(result);
		refuse(c, missing);
		return;
	}
	if (c->x->era == ERA_LEGACY) {
		raw->open = json_is_object(requests) ? json_incref(requests) : json_object();
		json_decref(raw->responses);
		raw->responses = json_object();
		json_decref(result);
		if (!ask_next(c))
			call_answer(c); /* it waits for nothing */
		return;
	}
	AUTO_JSON *payload = json_pack("{s:o, s:o}", "tool", json_from_str(c->tool->name), "raw",
		json_from_str(buf_str(&raw->state)));
	if (raw->state.len && seal_state(c->server, payload, &sealed, &issues))
		json_object_set_new(result, "requestState", json_from_str(buf_str(&sealed)));
	call_answer_with(c, result);
}

void raw_ended(struct tool_call *c)
{
	struct raw *raw = c->raw;
	struct exchange *x = c->x;

	raw_grown(c);
	take_line(c, buf_str(&raw->rest));
	buf_reset(&raw->rest);
	json_t *result = raw->result;
	const json_t *error = json_object_get(result, "error");

	raw->result = NULL;
	if (json_is_integer(json_object_get(error, "code"))) {
		AUTO_BUF text = BUF_INIT;

		buf_add(&text, json_text_of(error, "message"));
		exchange_fail(x, (enum rpc_error)json_number_of(error, "code"),
			json_incref(json_object_get(error, "data")), "%s", buf_cstr(&text));
		call_free(c);
		json_decref(result);
	} else if (json_is_object(result) && run_status(c->run) == ROUX_DONE) {
		if (str_eq(json_text_of(result, "resultType"), S("input_required"))) {
			ask(c, result);
			return;
		}
		if (x->era == ERA_LEGACY)
			json_object_del(result, "resultType");
		call_answer_with(c, result);
	} else if (x->method->handle == method_prompts_get) {
		json_decref(result);
		exchange_fail(x, RPC_INTERNAL, NULL, "the recipe of the prompt has failed");
		call_free(c);
	} else {
		json_decref(result);
		call_answer(c);
	}
}
