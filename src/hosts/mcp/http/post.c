/* One POST: a message comes in, its answer goes out as one document, or as the last event of a
 * stream when something has to be sent before it. */
#include <stdlib.h>
#include <string.h>

#include "hosts/mcp/http/transport.h"
#include "hosts/mcp/versions.h"

/* A progress that comes earlier waits: most calls are over by then. */
enum { EARLY_MS = 200, QUEUE_MAX = 8 << 20 };

struct post {
	struct list link;
	struct channel channel;
	struct mcp_http *transport;
	struct http_request *q; /* waits for its reply; NULL: replied, or it is a stream */
	struct http_stream *stream;
	struct session own;    /* of a modern request, which belongs to no session */
	struct legacy *legacy; /* of a legacy one; NULL: modern */
	bool request;          /* the core has it and has not let go of it */
	bool answered;
	bool forbidden;  /* the answer is 403 */
	struct buf held; /* a progress that waits */
	struct timer early;
	uint64_t began_ms;
	struct deferred over;
};

/* -- the end -------------------------------------------------------------------------------------
 */

static void post_free(struct post *p)
{
	if (p->legacy)
		legacy_release(p->legacy);
	else if (p->own.server)
		session_done(&p->own);
	timer_stop(&p->early);
	deferred_stop(&p->over);
	list_remove(&p->link);
	buf_done(&p->held);
	free(p);
}

static void on_over(struct deferred *d)
{
	post_free(container_of(d, struct post, over));
}

/* Not from here: one of its calls may be under way. */
static void end_if_over(struct post *p)
{
	if (!p->request && !p->q && !p->stream && !list_linked(&p->over.link))
		deferred_start(p->transport->loop, &p->over);
}

static struct session *session_of(struct post *p)
{
	return p->legacy ? &p->legacy->session : &p->own;
}

/* The client has gone: that is how it cancels. */
static void cancel(struct post *p)
{
	if (p->request)
		list_each_safe (link, &session_of(p)->exchanges) {
			struct exchange *x = list_entry(link, struct exchange, link);

			if (x->channel == &p->channel && x->cancel) {
				x->cancel(x);
				break;
			}
		}
	end_if_over(p);
}

static void on_request_gone(void *data)
{
	struct post *p = data;

	p->q = NULL;
	cancel(p);
}

static void on_stream_gone(void *data)
{
	struct post *p = data;

	p->stream = NULL;
	cancel(p);
}

/* -- sending -------------------------------------------------------------------------------------
 */

static void push(struct post *p, struct str message)
{
	AUTO_BUF text = BUF_INIT;

	buf_reserve(&text, message.len + 32);
	buf_adds(&text, "event: message\ndata: ");
	buf_add(&text, message);
	buf_adds(&text, "\n\n");
	http_stream_push(p->stream, buf_str(&text));
}

static bool open_stream(struct post *p)
{
	if (p->stream || !p->q)
		return p->stream != NULL;
	struct http_request *q = TAKE(p->q);
	p->stream = http_stream_open(q,
		&(struct http_stream_options){ .quiet = true, .gone = on_stream_gone, .data = p });
	if (!p->stream)
		cancel(p);
	return p->stream != NULL;
}

static void send_progress(struct post *p, struct str message)
{
	if (!p->stream && loop_now(p->transport->loop) - p->began_ms < EARLY_MS) {
		buf_reset(&p->held);
		buf_add(&p->held, message);
		if (!timer_running(&p->early))
			timer_start(p->transport->loop, &p->early, EARLY_MS);
		return;
	}
	if (open_stream(p) && http_stream_queued(p->stream) < HTTP_STREAM_QUEUE)
		push(p, message);
}

static void on_early(struct timer *t)
{
	struct post *p = container_of(t, struct post, early);

	if (p->held.len && !p->answered && open_stream(p))
		push(p, buf_str(&p->held));
}

static unsigned status_of(const struct post *p)
{
	bool modern = !p->legacy;

	if (p->forbidden)
		return 403;
	switch (p->channel.error) {
	case RPC_PARSE:
	case RPC_REQUEST:
	case RPC_HEADER:
	case RPC_VERSION:
		return 400;
	case RPC_CAPABILITY:
		return modern ? 400 : 200;
	case RPC_METHOD:
		return modern ? 404 : 200;
	case RPC_PARAMS:
		return p->channel.envelope ? 400 : 200;
	case RPC_INTERNAL:
	case RPC_NOT_FOUND:
		break;
	}
	return 200;
}

static void send_answer(struct post *p, struct str message)
{
	AUTO_BUF text = BUF_INIT;

	p->answered = true;
	timer_stop(&p->early);
	if (p->stream) {
		push(p, message);
		http_stream_end(p->stream);
	} else if (p->q) {
		unsigned status = status_of(p);

		buf_add(&text, message);
		http_add_header(p->q, "Cache-Control", S("no-store"));
		http_reply_json(TAKE(p->q), status, &text);
	}
}

static void on_send(struct channel *c, struct str message, enum send_weight weight, struct str key)
{
	struct post *p = container_of(c, struct post, channel);

	(void)key;
	if (p->answered)
		return;
	if (weight == SEND_ANSWER)
		send_answer(p, message);
	else if (weight == SEND_PROGRESS)
		send_progress(p, message);
	else if (open_stream(p) && http_stream_queued(p->stream) < QUEUE_MAX)
		push(p, message);
}

/* Nothing has to be said: a notification, or a request that its client has taken back. */
static void accept_silently(struct post *p)
{
	AUTO_BUF empty = BUF_INIT;

	p->answered = true;
	if (p->stream)
		http_stream_end(p->stream);
	else if (p->q)
		http_reply_bytes(TAKE(p->q), &(struct http_content){ .status = 202 }, &empty);
}

static void on_exchange_over(struct channel *c)
{
	struct post *p = container_of(c, struct post, channel);

	p->request = false;
	if (!p->answered)
		accept_silently(p);
	end_if_over(p);
}

/* -- receiving -----------------------------------------------------------------------------------
 */

static bool is_modern_version(struct str version)
{
	return str_cmp(version, S(PROTOCOL_MODERN)) >= 0;
}

/* False: it has been refused. */
static bool check_headers(struct http_request *q)
{
	struct str accept = http_request_header(q, "Accept");
	struct str type = http_request_header(q, "Content-Type");

	type = str_trim(str_sub(type, 0, str_find(type, ';', 0)));
	if (!str_eq_nocase(type, S("application/json")))
		http_refuse(q, 415, NULL, NULL, "a message is application/json");
	else if (!http_accepts(q, "application/json") || !http_accepts(q, "text/event-stream"))
		http_refuse(q, 406, NULL, NULL,
			"Accept has to list application/json and text/event-stream%s%.*s",
			accept.len ? ", found " : "",
			STR(str_sub(accept, 0, MIN(accept.len, 200))));
	else
		return true;
	return false;
}

static void refuse(struct post *p, enum rpc_error code, const struct message *m, const char *reason)
{
	session_refuse(&p->channel, code, m->id, reason);
}

/* The session of a legacy message. False: it has been refused. */
static bool find_legacy(struct post *p, const struct message *m)
{
	struct http_request *q = p->q;
	const struct http_principal *who = http_principal(q);
	struct str id = http_request_header(q, "Mcp-Session-Id");
	struct str version = http_request_header(q, "MCP-Protocol-Version");
	struct str principal = principal_of(who, http_arena(q));

	if (version.len && !version_is_legacy(version)) {
		refuse(p, RPC_REQUEST, m,
			"MCP-Protocol-Version names a version that is not spoken");
		return false;
	}
	if (id.len) {
		p->legacy = legacy_find(p->transport, id, principal);
		if (!p->legacy)
			http_refuse(TAKE(p->q), 404, "session", "begin again with initialize",
				"there is no such session");
	} else if (m->kind == MESSAGE_REQUEST && str_eq(m->method, S("initialize"))) {
		p->legacy = legacy_new(p->transport, principal, !(who->scopes & HTTP_ANSWER));
		if (p->legacy)
			http_add_header(q, "Mcp-Session-Id", str_of(p->legacy->id));
	} else {
		refuse(p, RPC_REQUEST, m,
			"a request needs the header Mcp-Session-Id of its session, which begins "
			"with "
			"initialize, or the _meta of revision " PROTOCOL_MODERN);
	}
	if (p->legacy)
		legacy_hold(p->legacy);
	return p->legacy != NULL;
}

static void begin_modern(struct post *p)
{
	const struct http_principal *who = http_principal(p->q);

	session_init(&p->own, p->transport->server, &p->channel);
	p->own.principal =
		arena_printf(&p->own.arena, "%.*s", STR(principal_of(who, http_arena(p->q))));
	p->own.mute = !(who->scopes & HTTP_ANSWER);
	p->channel.modern = true;
}

/* What is said of a message before the core sees it. False: it has been answered. */
static bool check_message(struct post *p, const struct message *m)
{
	AUTO_BUF reason = BUF_INIT;
	const char *wrong = NULL;

	if (m->kind == MESSAGE_REQUEST) {
		wrong = scope_lacking(p->transport, http_principal(p->q), m);
		if (wrong)
			buf_printf(&reason, "the token does not have the scope '%s'", wrong);
		p->forbidden = wrong != NULL;
	}
	if (wrong) {
		refuse(p, RPC_REQUEST, m, buf_cstr(&reason));
		return false;
	}
	if (!p->legacy && (m->kind == MESSAGE_REQUEST || m->kind == MESSAGE_NOTIFICATION))
		wrong = mirror_mismatch(p->q, m);
	if (!wrong)
		return true;
	buf_printf(&reason, "the header %s does not say what the body says", wrong);
	refuse(p, RPC_HEADER, m, buf_cstr(&reason));
	return false;
}

static bool has_exchange(struct post *p)
{
	list_each (link, &session_of(p)->exchanges)
		if (list_entry(link, struct exchange, link)->channel == &p->channel)
			return true;
	return false;
}

static void receive(struct post *p, struct str text)
{
	struct http_request *q = p->q;
	struct message m;

	message_read(text, &p->transport->server->options.limits, &m);
	const json_t *meta = json_object_get(m.params, "_meta");
	bool modern = is_modern_version(http_request_header(q, "MCP-Protocol-Version")) ||
		      json_object_get(meta, META_PREFIX "protocolVersion") != NULL;
	bool known = true;

	if (modern || m.kind == MESSAGE_BAD)
		begin_modern(p);
	else
		known = find_legacy(p, &m);
	if (m.kind == MESSAGE_BAD) {
		refuse(p, m.code, &m, buf_cstr(&m.reason));
	} else if (known && check_message(p, &m)) {
		/* The core may be done with it before it returns. */
		p->request = m.kind == MESSAGE_REQUEST;
		if (p->request)
			http_on_gone(q, on_request_gone, p);
		session_receive(session_of(p), &p->channel, text);
		if (!p->answered && m.kind != MESSAGE_REQUEST)
			accept_silently(p);
		/* Refused without becoming an exchange. */
		p->request = p->request && has_exchange(p);
	}
	message_done(&m);
}

void post_handle(struct http_request *q)
{
	struct mcp_http *t = http_data(q);

	if (!check_headers(q))
		return;
	struct post *p = mem_new(struct post);
	AUTO_BUF text = BUF_INIT;

	p->transport = t;
	p->q = q;
	p->channel.send = on_send;
	p->channel.over = on_exchange_over;
	p->early.fire = on_early;
	p->over.call = on_over;
	p->began_ms = loop_now(t->loop);
	list_append(&t->posts, &p->link);
	/* The request is gone when it is answered. */
	buf_add(&text, http_body(q));
	receive(p, buf_str(&text));
	end_if_over(p);
}

void posts_abort(struct mcp_http *t)
{
	list_each_safe (link, &t->posts) {
		struct post *p = list_entry(link, struct post, link);

		p->q = NULL;
		p->stream = NULL;
		cancel(p);
		post_free(p);
	}
}
