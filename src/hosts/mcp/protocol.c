/* Sessions and requests: which era a message belongs to, who answers it, and the envelopes. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "data/json-out.h"
#include "data/json-scan.h"
#include "hosts/mcp/server.h"
#include "hosts/mcp/subscriptions.h"
#include "hosts/mcp/text.h"
#include "hosts/mcp/versions.h"

static json_t *no_params;

/* -- envelopes -----------------------------------------------------------------------------------
 */

static void begin(struct json_out *o, struct str id)
{
	json_out_object(o, NULL);
	json_out_str(o, "jsonrpc", S("2.0"));
	if (id.len)
		json_out_raw(o, "id", id);
}

static void send_error(
	struct channel *c, struct str id, enum rpc_error code, const json_t *data, struct str text)
{
	AUTO_BUF line = BUF_INIT;
	struct json_out o = { .b = &line };

	begin(&o, id);
	json_out_object(&o, "error");
	json_out_int(&o, "code", code);
	json_out_str(&o, "message", text);
	if (data)
		json_out_value(&o, "data", data);
	json_out_object_end(&o);
	json_out_object_end(&o);
	c->error = code;
	c->send(c, buf_str(&line), SEND_ANSWER, S(""));
	c->error = 0;
	c->envelope = false;
}

void session_refuse(struct channel *c, enum rpc_error code, struct str id, const char *reason)
{
	c->envelope = true;
	send_error(c, id, code, NULL, str_of(reason));
}

void channel_notify_text(struct channel *c, const char *method, struct str params,
	enum send_weight weight, struct str key)
{
	AUTO_BUF line = BUF_INIT;
	struct json_out o = { .b = &line };

	begin(&o, S(""));
	json_out_str(&o, "method", str_of(method));
	if (params.len)
		json_out_raw(&o, "params", params);
	json_out_object_end(&o);
	c->send(c, buf_str(&line), weight, key);
}

void channel_notify(struct channel *c, const char *method, json_t *params)
{
	AUTO_BUF text = BUF_INIT;

	if (params)
		json_write_typed(&text, params, 0);
	channel_notify_text(c, method, buf_str(&text), SEND_NOTICE, S(""));
	json_decref(params);
}

/* -- the end of a request ------------------------------------------------------------------------
 */

static void exchange_free(struct exchange *x)
{
	struct channel *c = x->channel;

	list_remove(&x->link);
	x->session->in_flight--;
	message_done(&x->message);
	buf_done(&x->text);
	buf_done(&x->key);
	arena_done(&x->arena);
	free(x);
	if (c->over)
		c->over(c);
}

void exchange_drop(struct exchange *x)
{
	exchange_free(x);
}

/* What every modern result has. */
static void complete(const struct exchange *x, json_t *result)
{
	json_t *meta = json_object_get(result, "_meta");

	if (!json_object_get(result, "resultType"))
		json_object_set_new(result, "resultType", json_string("complete"));
	if (!meta) {
		meta = json_object();
		json_object_set_new(result, "_meta", meta);
	}
	json_object_set_new(meta, META_PREFIX "serverInfo", server_info());
	if (!x->method->cached || json_object_get(result, "ttlMs") ||
		strcmp(json_string_value(json_object_get(result, "resultType")), "complete") != 0)
		return;
	json_object_set_new(result, "ttlMs", json_integer(60000));
	json_object_set_new(result, "cacheScope", json_string("private"));
}

void exchange_answer(struct exchange *x, json_t *result)
{
	exchange_answer_meta(x, result, NULL, S(""));
}

void exchange_answer_meta(struct exchange *x, json_t *result, const char *name, struct str value)
{
	AUTO_BUF line = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	struct json_out o = { .b = &line }, inner = { .b = &text };
	json_t *meta;

	if (x->era == ERA_MODERN)
		complete(x, result);
	begin(&o, x->message.id);
	if (name) {
		/* A number of any length stays as it is only as text. */
		meta = json_incref(json_object_get(result, "_meta"));
		json_object_del(result, "_meta");
		json_out_object(&inner, NULL);
		json_out_object(&inner, "_meta");
		json_out_raw(&inner, name, value);
		json_out_members(&inner, meta);
		json_out_object_end(&inner);
		json_out_members(&inner, result);
		json_out_object_end(&inner);
		json_decref(meta);
	} else {
		json_write_typed(&text, result, 0);
	}
	json_out_raw(&o, "result", buf_str(&text));
	json_out_object_end(&o);
	x->channel->send(x->channel, buf_str(&line), SEND_ANSWER, S(""));
	json_decref(result);
	exchange_free(x);
}

void exchange_fail(struct exchange *x, enum rpc_error code, json_t *data, const char *fmt, ...)
{
	AUTO_BUF text = BUF_INIT;
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&text, fmt, args);
	va_end(args);
	send_error(x->channel, x->message.id, code, data, buf_str(&text));
	json_decref(data);
	exchange_free(x);
}

void exchange_fail_report(struct exchange *x, enum rpc_error code, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	vec_each (i, &r->issues) {
		if (i->kind == ISSUE_WARNING)
			continue;
		if (i->kind == ISSUE_SYSTEM)
			code = RPC_INTERNAL;
		buf_printf(&text, "%s%.*s", text.len ? "; " : "", STR(i->message));
	}
	if (code == RPC_INTERNAL) {
		mcp_log("%s", buf_cstr(&text)); /* all of it is for people only */
		text_hide_paths(&text, x->session->server->app);
	}
	exchange_fail(x, code, NULL, "%s", text.len ? buf_cstr(&text) : "internal error");
}

/* -- what a client offers ------------------------------------------------------------------------
 */

json_t *exchange_meta(const struct exchange *x, const char *name)
{
	AUTO_BUF full = BUF_INIT;

	buf_printf(&full, META_PREFIX "%s", name);
	return json_object_get(x->meta, buf_cstr(&full));
}

bool exchange_offers(const struct exchange *x, const char *name)
{
	const json_t *at = x->capabilities;
	AUTO_BUF part = BUF_INIT;

	for (const char *from = name; *from;) {
		size_t len = strcspn(from, ".");

		buf_reset(&part);
		buf_add(&part, (struct str){ from, len });
		at = json_object_get(at, buf_cstr(&part));
		from += len + (from[len] == '.');
	}
	return json_is_object(at);
}

bool exchange_extends(const struct exchange *x, const char *name)
{
	return x->era == ERA_MODERN &&
	       json_is_object(
		       json_object_get(json_object_get(x->capabilities, "extensions"), name));
}

/* -- the era of a request ------------------------------------------------------------------------
 */

static json_t *version_data(const char *requested)
{
	bool legacy = version_is_legacy(str_of(requested));

	return json_pack("{s:o, s:s}", "supported",
		legacy ? json_pack("[s]", PROTOCOL_MODERN) : versions_supported(), "requested",
		requested);
}

/* False: it has been answered. */
static bool check_modern(struct exchange *x)
{
	const json_t *version = exchange_meta(x, "protocolVersion");
	json_t *capabilities = exchange_meta(x, "clientCapabilities");

	x->channel->envelope = true; /* if one of these fails */
	if (!json_is_string(version)) {
		exchange_fail(x, RPC_PARAMS, NULL,
			"_meta[\"" META_PREFIX "protocolVersion\"] has to be a string");
		return false;
	}
	if (strcmp(json_string_value(version), PROTOCOL_MODERN) != 0) {
		exchange_fail(x, RPC_VERSION, version_data(json_string_value(version)),
			"unsupported protocol version");
		return false;
	}
	if (!json_is_object(capabilities)) {
		exchange_fail(x, RPC_PARAMS, NULL,
			"_meta[\"" META_PREFIX
			"clientCapabilities\"] is required and has to be an object");
		return false;
	}
	x->channel->envelope = false;
	x->capabilities = capabilities;
	x->client = json_text_of(exchange_meta(x, "clientInfo"), "name");
	return true;
}

static const struct method *find_method(struct str name, enum era era)
{
	for (size_t i = 0; i < method_count; i++)
		if (str_eq(name, str_of(methods[i].name)) && methods[i].eras & 1U << era)
			return &methods[i];
	return NULL;
}

/* False: it has been answered. */
static bool check_legacy(struct exchange *x, const struct method *m)
{
	struct session *s = x->session;

	x->capabilities = s->capabilities;
	x->client = s->client;
	if (s->initialized || (m && m->before))
		return true;
	x->channel->envelope = true;
	exchange_fail(x, RPC_REQUEST, json_pack("{s:o}", "supported", versions_supported()),
		"the session has to begin with `initialize` (versions 2025-11-25, 2025-06-18, "
		"2025-03-26 and 2024-11-05), or each request has to carry _meta[\"" META_PREFIX
		"protocolVersion\"] (" PROTOCOL_MODERN ")");
	return false;
}

static void dispatch(struct exchange *x)
{
	x->meta = json_object_get(x->params, "_meta");
	x->era =
		x->channel->modern || exchange_meta(x, "protocolVersion") ? ERA_MODERN : ERA_LEGACY;
	const struct method *m = find_method(x->message.method, x->era);
	if (!(x->era == ERA_MODERN ? check_modern(x) : check_legacy(x, m)))
		return;
	if (!m) {
		exchange_fail(x, RPC_METHOD, NULL,
			"there is no method '%.*s' in this era of the protocol",
			STR(x->message.method));
		return;
	}
	x->method = m;
	m->handle(x);
}

/* -- messages ------------------------------------------------------------------------------------
 */

/* Ids that are equal have equal keys, however their strings were escaped. */
static void id_key(struct str raw, struct buf *ret)
{
	if (raw.len && raw.p[0] == '"') {
		buf_addc(ret, '"');
		json_scan_decode(raw, 0, ret);
	} else {
		buf_add(ret, raw);
	}
}

static struct exchange *find_exchange(struct session *s, struct str raw_id)
{
	AUTO_BUF key = BUF_INIT;

	id_key(raw_id, &key);
	list_each (link, &s->exchanges) {
		struct exchange *x = list_entry(link, struct exchange, link);

		if (str_eq(buf_str(&x->key), buf_str(&key)))
			return x;
	}
	return NULL;
}

static void receive_request(
	struct session *s, struct channel *c, struct message *m, struct str text)
{
	if (find_exchange(s, m->id)) {
		session_refuse(c, RPC_REQUEST, m->id, "a request with this id is in flight");
		return;
	}
	if (s->in_flight >= s->server->options.in_flight) {
		session_refuse(c, RPC_REQUEST, m->id, "too many requests are in flight");
		return;
	}
	if (s->server->ending) {
		session_refuse(c, RPC_INTERNAL, m->id, "the server is ending");
		return;
	}
	struct exchange *x = mem_new(struct exchange);
	x->session = s;
	x->channel = c;
	x->since_ms = clock_mono_ms();
	buf_add(&x->text, text);
	/* Texts of the message point into a copy that lives as long. */
	x->message = *m;
	if (m->id.len)
		x->message.id = str_sub(buf_str(&x->text), (size_t)(m->id.p - text.p), m->id.len);
	if (m->progress_token.len)
		x->message.progress_token = str_sub(buf_str(&x->text),
			(size_t)(m->progress_token.p - text.p), m->progress_token.len);
	*m = (struct message){ 0 };
	id_key(x->message.id, &x->key);
	x->params = x->message.params ? x->message.params : no_params;
	list_append(&s->exchanges, &x->link);
	s->in_flight++;
	dispatch(x);
}

static void receive_notification(struct session *s, const struct message *m, struct str text)
{
	if (!str_eq(m->method, S("notifications/cancelled")))
		return; /* notifications/initialized, and what we have no use for */
	struct exchange *x =
		find_exchange(s, message_raw(message_raw(text, S("params")), S("requestId")));
	if (x && x->cancel)
		x->cancel(x);
}

static void receive_response(struct session *s, const struct message *m)
{
	const json_t *result = json_object_get(m->root, "result");
	AUTO_BUF key = BUF_INIT;

	id_key(m->id, &key);
	list_each_safe (link, &s->asked) {
		struct question *q = list_entry(link, struct question, link);

		if (key.len && str_eq(q->id, str_from(buf_str(&key), 1))) {
			list_remove(&q->link);
			q->answered(q, result);
			arena_done(&q->arena);
			free(q);
			return;
		}
	}
}

void session_receive(struct session *s, struct channel *c, struct str text)
{
	struct message m;

	if (!str_trim(text).len)
		return; /* an empty line is not a message */
	message_read(text, &s->server->options.limits, &m);
	switch (m.kind) {
	case MESSAGE_BAD:
		c->envelope = true;
		send_error(c, m.id, m.code, NULL, buf_str(&m.reason));
		break;
	case MESSAGE_REQUEST:
		receive_request(s, c, &m, text);
		break;
	case MESSAGE_NOTIFICATION:
		receive_notification(s, &m, text);
		break;
	case MESSAGE_RESPONSE:
		receive_response(s, &m);
		break;
	}
	message_done(&m);
}

/* -- requests of ours ----------------------------------------------------------------------------
 */

struct question *session_ask(struct session *s, struct channel *c, const char *method,
	json_t *params, void (*answered)(struct question *q, const json_t *result), void *data)
{
	struct question *q = mem_new(struct question);
	AUTO_BUF line = BUF_INIT;
	struct json_out o = { .b = &line };
	uint64_t random[2] = { 0, 0 };

	(void)!getrandom(random, sizeof(random), 0);
	q->id = arena_printf(&q->arena, "roux-%016llx%016llx", (unsigned long long)random[0],
		(unsigned long long)random[1]);
	q->answered = answered;
	q->data = data;
	list_append(&s->asked, &q->link);
	json_out_object(&o, NULL);
	json_out_str(&o, "jsonrpc", S("2.0"));
	json_out_str(&o, "id", q->id);
	json_out_str(&o, "method", str_of(method));
	json_out_value(&o, "params", params);
	json_out_object_end(&o);
	c->send(c, buf_str(&line), SEND_NOTICE, S(""));
	json_decref(params);
	return q;
}

void question_drop(struct question *q)
{
	list_remove(&q->link);
	arena_done(&q->arena);
	free(q);
}

/* -- sessions ------------------------------------------------------------------------------------
 */

void session_init(struct session *s, struct mcp *m, struct channel *c)
{
	if (!no_params)
		no_params = json_object();
	*s = (struct session){ .server = m, .channel = c, .log_level = -1 };
	s->principal = arena_printf(&s->arena, "uid:%u", (unsigned)getuid());
	list_init(&s->exchanges);
	list_init(&s->asked);
	list_append(&m->sessions, &s->link);
}

void session_end(struct session *s)
{
	list_each_safe (link, &s->exchanges) {
		struct exchange *x = list_entry(link, struct exchange, link);

		if (x->closing)
			x->closing(x);
		else if (x->cancel)
			x->cancel(x);
	}
}

void session_done(struct session *s)
{
	session_end(s);
	list_each_safe (link, &s->asked)
		question_drop(list_entry(link, struct question, link));
	listener_free(s->listener);
	list_remove(&s->link);
	json_decref(s->capabilities);
	arena_done(&s->arena);
}
