#include "http/door.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* Of one connection: headers, target and what is made of them. A client that does not take its
 * reply is dropped after REPLY_S of silence. */
enum { MEMORY = 64 * 1024, REPLY_S = 60 };

void door_say(struct http *h, const char *fmt, ...)
{
	AUTO_BUF line = BUF_INIT;
	va_list args;

	if (!h->options.say)
		return;
	va_start(args, fmt);
	buf_vprintf(&line, fmt, args);
	va_end(args);
	h->options.say(buf_cstr(&line));
}

/* -- libmicrohttpd's turn ------------------------------------------------------------------------
 */

void door_kick(struct http *h)
{
	if (!list_linked(&h->again.link))
		deferred_start(h->loop, &h->again);
}

static void run(struct http *h)
{
	MHD_UNSIGNED_LONG_LONG ms;

	timer_stop(&h->timeout);
	(void)MHD_run(h->daemon);
	if (MHD_get_timeout(h->daemon, &ms) != MHD_YES)
		return;
	if (ms == 0)
		door_kick(h);
	else
		timer_start(h->loop, &h->timeout, ms);
}

static void on_ready(struct watch *w, uint32_t events)
{
	(void)events;
	run(container_of(w, struct http, ready));
}

static void on_timeout(struct timer *t)
{
	run(container_of(t, struct http, timeout));
}

static void on_again(struct deferred *d)
{
	run(container_of(d, struct http, again));
}

/* -- being idle ----------------------------------------------------------------------------------
 */

void door_busy(struct http *h)
{
	if (h->options.idle_ms && !h->stopping)
		timer_start(h->loop, &h->idle, h->options.idle_ms);
}

static void on_idle(struct timer *t)
{
	struct http *h = container_of(t, struct http, idle);

	list_each (link, &h->conns)
		if (list_entry(link, struct conn, link)->request) {
			door_busy(h);
			return;
		}
	h->options.idle(h->options.data);
}

static void on_audit_due(struct timer *t)
{
	audit_flush(&container_of(t, struct http, audit_due)->audit);
}

/* -- connections ---------------------------------------------------------------------------------
 */

void conn_free(struct conn *c)
{
	timer_stop(&c->deadline);
	watch_stop(&c->left);
	list_remove(&c->link);
	c->http->conn_count--;
	free(c);
}

void conn_shut(struct conn *c)
{
	struct http_request *q = c->request;

	c->closing = true;
	timer_stop(&c->deadline);
	(void)shutdown(c->fd, SHUT_RDWR);
	if (q && q->stream) {
		stream_abort(q->stream);
	} else if (q && q->suspended) {
		q->phase = PHASE_ABORTED;
		request_resume(q);
	}
	door_kick(c->http);
}

static void on_connection(void *data, struct MHD_Connection *mhd, void **context,
	enum MHD_ConnectionNotificationCode code)
{
	struct http *h = data;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		h->accepting->mhd = mhd;
		*context = h->accepting;
	} else if (*context) {
		conn_free(*context);
		*context = NULL;
		door_busy(h);
	}
}

/* -- requests ------------------------------------------------------------------------------------
 */

/* The request line is there. */
static void *on_target(void *data, const char *target, struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct http *h = data;
	struct conn *c = info->socket_context;
	struct http_request *q = mem_new(struct http_request);

	q->http = h;
	q->conn = c;
	q->mhd = mhd;
	q->since_ms = loop_now(h->loop);
	q->target = arena_str(&q->arena, str_of(target));
	c->request = q;
	if (c->again)
		timer_start(h->loop, &c->deadline, HEADERS_MS);
	c->again = true;
	h->requests++;
	door_busy(h);
	return q;
}

static void request_free(struct http_request *q)
{
	timer_stop(&q->delay);
	json_decref(q->json);
	json_decref(q->members);
	buf_done(&q->body);
	vec_done(&q->query);
	vec_done(&q->form);
	vec_done(&q->reply_headers);
	if (q->response)
		MHD_destroy_response(q->response);
	arena_done(&q->arena);
	free(q);
}

/* The entry of a request that ends without a reply: those that wait for it begin anew. */
static void give_up_first(struct http_request *q)
{
	struct idempotent *one = q->idempotent;

	if (one->first != q) {
		idempotent_forget(one, q);
		return;
	}
	one->first = NULL;
	vec_each (other, &one->waiting) {
		(*other)->idempotent = NULL;
		(*other)->phase = PHASE_BODY;
		request_resume(*other);
	}
	idempotent_free(&q->http->idempotency, one);
}

static void on_completed(void *data, struct MHD_Connection *mhd, void **context,
	enum MHD_RequestTerminationCode code)
{
	struct http_request *q = *context;
	struct http *h = data;

	(void)mhd;
	(void)code;
	*context = NULL;
	if (!q)
		return;
	q->conn->request = NULL;
	watch_stop(&q->conn->left);
	if (q->idempotent)
		give_up_first(q);
	if (q->audit) {
		AUTO_BUF lost = BUF_INIT;

		audit_end(&h->audit, q->audit, S("left"), &lost);
		audit_line_free(q->audit);
	}
	if (q->stream)
		stream_over(q->stream);
	else if (q->gone && q->phase != PHASE_REPLIED)
		q->gone(q->gone_data);
	if (!q->conn->closing)
		timer_start(h->loop, &q->conn->deadline, IDLE_MS);
	if (h->stopping)
		conn_shut(q->conn);
	request_free(q);
}

/* The client of a suspended connection has gone, or has said that it sends nothing more: of a
 * client that waits for an answer which may never come that is the same. */
static void on_left(struct watch *w, uint32_t events)
{
	struct conn *c = container_of(w, struct conn, left);
	struct http_request *q = c->request;

	(void)events;
	watch_stop(w);
	if (q && q->stream)
		stream_left(q->stream);
	else if (q && q->gone && q->suspended)
		conn_shut(c);
}

void request_suspend(struct http_request *q)
{
	struct conn *c = q->conn;

	q->suspended = true;
	MHD_suspend_connection(q->mhd);
	if (!c->left.loop && (q->stream || q->gone)) {
		c->left.ready = on_left;
		(void)watch_start(q->http->loop, &c->left, c->fd, EPOLLRDHUP);
	}
}

void request_resume(struct http_request *q)
{
	if (!q->suspended)
		return;
	q->suspended = false;
	MHD_resume_connection(q->mhd);
	door_kick(q->http);
}

static void on_delay(struct timer *t)
{
	struct http_request *q = container_of(t, struct http_request, delay);

	q->delay_ms = 0;
	request_resume(q);
}

static void begin(struct http_request *q, const char *method)
{
	struct str length;

	q->method = str_of(method);
	q->head = str_eq(q->method, S("HEAD"));
	q->post = !q->head && !str_eq(q->method, S("GET"));
	checks_before_body(q);
	if (q->phase != PHASE_NEW)
		return;
	q->phase = PHASE_BODY;
	length = http_request_header(q, "Content-Length");
	if (length.len && !str_eq(length, S("0")))
		timer_start(q->http->loop, &q->conn->deadline, BODY_MS);
	else
		timer_stop(&q->conn->deadline);
}

/* What is to be done about a request now that libmicrohttpd asks. */
static enum MHD_Result settle(struct http_request *q, bool first)
{
	if (q->phase == PHASE_ABORTED)
		return MHD_NO;
	/* A reply that is given at the first call ends the connection. Without a body there is a
	 * second call at once. */
	if (first && q->phase == PHASE_REPLIED && !q->close && !q->body_length)
		return MHD_YES;
	if (q->phase == PHASE_HANDLER) {
		request_suspend(q);
	} else if (q->phase == PHASE_REPLIED && q->delay_ms) {
		q->delay.fire = on_delay;
		timer_start(q->http->loop, &q->delay, q->delay_ms);
		request_suspend(q);
	} else if (q->phase == PHASE_REPLIED) {
		return reply_queue(q);
	}
	return MHD_YES;
}

static enum MHD_Result on_access(void *data, struct MHD_Connection *mhd, const char *url,
	const char *method, const char *version, const char *piece, size_t *size, void **context)
{
	struct http_request *q = *context;
	bool first = q->phase == PHASE_NEW;

	(void)data;
	(void)mhd;
	(void)url;
	(void)version;
	q->inside = true;
	if (q->phase == PHASE_NEW) {
		begin(q, method);
	} else if (q->phase == PHASE_BODY && *size) {
		buf_add(&q->body, (struct str){ piece, *size });
		*size = 0;
	} else if (q->phase == PHASE_BODY) {
		timer_stop(&q->conn->deadline);
		q->phase = PHASE_HANDLER;
		checks_and_handle(q);
	}
	q->inside = false;
	return settle(q, first);
}

/* -- the door ------------------------------------------------------------------------------------
 */

/* Paths and queries are decoded by us, once and strictly. */
static size_t keep_escapes(void *data, struct MHD_Connection *mhd, char *text)
{
	(void)data;
	(void)mhd;
	return strlen(text);
}

/* It reports every client that has left, and options that Unix sockets do not have. */
static void drop_log(void *data, const char *fmt, va_list args)
{
	(void)data;
	(void)fmt;
	(void)args;
}

static bool start(struct http *h)
{
	/* Without a listening socket of its own: we accept. */
	h->daemon = MHD_start_daemon(MHD_USE_NO_LISTEN_SOCKET | MHD_USE_EPOLL |
					     MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG,
		0, NULL, NULL, on_access, h, MHD_OPTION_EXTERNAL_LOGGER, drop_log, NULL,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
		MHD_OPTION_URI_LOG_CALLBACK, on_target, h, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)CONNECTIONS_MAX + 8, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)REPLY_S,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
	if (!h->daemon)
		return false;
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	return watch_start(h->loop, &h->ready, info->epoll_fd, EPOLLIN) == 0;
}

/* What replies are made by: another program may write other pages. */
static void sum_build(struct http *h)
{
	AUTO_BUF text = BUF_INIT;
	struct stat st = { 0 };

	(void)stat("/proc/self/exe", &st);
	buf_printf(&text, "%s %llu %lld %ld", ROUX_VERSION, (unsigned long long)st.st_size,
		(long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	sha256_hex(buf_str(&text), h->build);
}

static void guard(struct http *h)
{
	h->guarded = h->guarded || h->tokens.at.len;
}

struct http *http_new(const struct http_options *o, struct report *r)
{
	struct http *h = mem_new(struct http);
	char label[17];

	h->options = *o;
	h->loop = o->loop;
	h->diag = -1;
	h->ready.ready = on_ready;
	h->timeout.fire = on_timeout;
	h->again.call = on_again;
	h->idle.fire = on_idle;
	h->audit_due.fire = on_audit_due;
	list_init(&h->listeners);
	list_init(&h->conns);
	list_init(&h->streams);
	h->options.dir = arena_str(&h->arena, o->dir);
	sum_build(h);
	struct str own = o->borrowed ? S("") : h->options.dir;
	sessions_init(&h->sessions, own);
	audit_init(
		&h->audit, own.len ? arena_printf(&h->arena, "%.*s/audit.jsonl", STR(own)) : own);
	idempotency_init(&h->idempotency);
	bool ok = secret_key(own, h->key, label, r) && tokens_open(&h->tokens, h->options.dir, r);
	if (ok && !start(h))
		ok = report_errno(r, errno, "cannot start the server");
	if (!ok) {
		http_free(h);
		return NULL;
	}
	guard(h);
	h->name = arena_printf(&h->arena, "roux-%s.localhost", label);
	door_busy(h);
	return h;
}

static void stop_daemon(struct http *h)
{
	/* libmicrohttpd does not end with suspended connections. */
	list_each (link, &h->conns)
		conn_shut(list_entry(link, struct conn, link));
	(void)MHD_run(h->daemon);
	watch_stop(&h->ready);
	MHD_stop_daemon(h->daemon);
}

void http_free(struct http *h)
{
	if (!h)
		return;
	h->stopping = true;
	listeners_close(h);
	if (h->daemon)
		stop_daemon(h);
	timer_stop(&h->timeout);
	timer_stop(&h->idle);
	timer_stop(&h->accept_again);
	timer_stop(&h->audit_due);
	deferred_stop(&h->again);
	audit_done(&h->audit);
	(void)sessions_save(&h->sessions);
	sessions_done(&h->sessions);
	if (!h->options.borrowed)
		tokens_save_seen(&h->tokens);
	tokens_close(&h->tokens);
	idempotency_done(&h->idempotency);
	vec_done(&h->tables);
	close_fd(&h->diag);
	arena_done(&h->arena);
	free(h);
}

void http_stop(struct http *h)
{
	h->stopping = true;
	timer_stop(&h->idle);
	listeners_close(h);
	streams_bye(h, "stop");
	list_each (link, &h->conns) {
		struct conn *c = list_entry(link, struct conn, link);

		if (!c->request)
			conn_shut(c);
	}
}

bool http_quiet(const struct http *h)
{
	return h->stopping && !h->conn_count;
}

void http_reload(struct http *h)
{
	AUTO_REPORT r = REPORT_INIT;

	/* The list of tokens says when each was used. */
	if (!h->options.borrowed)
		tokens_save_seen(&h->tokens);
	if (!tokens_reload(&h->tokens, &r))
		door_say(h, "the tokens stay as they were: %.*s", STR(r.issues.at[0].message));
	guard(h);
	streams_end_tokens(h, "expired");
}

void door_refresh(struct http *h)
{
	if (h->options.borrowed && tokens_are_stale(&h->tokens))
		http_reload(h);
}

void http_add_token(struct http *h, struct str name, struct str secret, unsigned scopes)
{
	tokens_add_given(&h->tokens, name, secret, scopes);
	guard(h);
}

struct http_counts http_counts(const struct http *h)
{
	return (struct http_counts){
		.connections = h->conn_count,
		.streams = h->stream_count,
		.sessions = h->sessions.at.len,
		.tokens = h->tokens.at.len,
		.requests = h->requests,
		.refusals = h->refusals,
	};
}

void http_add_routes(struct http *h, const struct http_routes *t)
{
	vec_push(&h->tables, *t);
}

uint16_t http_port(const struct http *h)
{
	return h->port;
}

bool http_read_only(const struct http *h)
{
	return h->options.read_only;
}

bool http_exposed(const struct http *h)
{
	return h->options.exposed;
}

struct str http_name(const struct http *h)
{
	bool given = h->options.exposed || h->options.behind_tls;

	return given && h->options.name_count ? str_of(h->options.names[0]) : h->name;
}
