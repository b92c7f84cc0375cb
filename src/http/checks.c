/* What is asked of every request before a handler sees it, in this order: faults of form, method
 * and target, Host, Origin and Sec-Fetch-Site, who asks, what they may. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hex.h"
#include "http/door.h"

/* -- faults of form ------------------------------------------------------------------------------
 */

static bool PRINTF(4, 5)
	refuse(struct http_request *q, unsigned status, const char *reason, const char *fmt, ...)
{
	AUTO_BUF text = BUF_INIT;
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&text, fmt, args);
	va_end(args);
	http_refuse(q, status, reason, NULL, "%s", buf_cstr(&text));
	return false;
}

/* The connection is not used again: what follows could be taken for another request. */
static bool PRINTF(3, 4) fault(struct http_request *q, unsigned status, const char *fmt, ...)
{
	AUTO_BUF text = BUF_INIT;
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&text, fmt, args);
	va_end(args);
	q->close = true;
	return refuse(q, status, NULL, "%s", buf_cstr(&text));
}

struct walk {
	struct http_request *q;
	size_t count, bytes;
	bool bad;
};

static enum MHD_Result on_header(void *data, enum MHD_ValueKind kind, const char *name,
	size_t name_len, const char *value, size_t value_len)
{
	struct walk *w = data;
	struct http_field f = { { name, name_len }, { value ? value : "", value ? value_len : 0 } };

	f.value = str_trim(f.value); /* spaces around a value are not part of it */

	(void)kind;
	w->count++;
	w->bytes += name_len + value_len + strlen(": \r\n");
	if (!decode_is_token(f.name) || !decode_is_visible(f.value))
		w->bad = true;
	if (w->q->header_count < HEADERS_MAX)
		w->q->headers[w->q->header_count++] = f;
	return MHD_YES;
}

static size_t count_header(const struct http_request *q, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < q->header_count; i++)
		n += str_eq_nocase(q->headers[i].name, str_of(name));
	return n;
}

static bool check_length(struct http_request *q)
{
	struct str length = http_request_header(q, "Content-Length");
	uint64_t bytes = 0;

	if (count_header(q, "Transfer-Encoding"))
		return count_header(q, "Content-Length")
			       ? fault(q, 400, "a body has a length or a coding, not both")
			       : fault(q, 411, "a body needs Content-Length");
	if (!count_header(q, "Content-Length"))
		return true;
	for (size_t i = 0; i < length.len; i++)
		if (!ascii_digit(length.p[i]))
			return fault(q, 400, "Content-Length is not a number");
	if (!str_to_uint(length, &bytes))
		return fault(q, 400, "Content-Length is not a number");
	q->body_length = bytes;
	if (bytes && !q->post)
		return fault(q, 400, "a request of this method has no body");
	return true;
}

static bool check_form(struct http_request *q)
{
	static const char *const once[] = { "Host", "Content-Length", "Cookie", "Authorization",
		"Origin", "Content-Type", "Transfer-Encoding", "Sec-Fetch-Site", "Idempotency-Key",
		"X-Roux-CSRF" };
	struct walk w = { .q = q };

	(void)MHD_get_connection_values_n(q->mhd, MHD_HEADER_KIND, on_header, &w);
	if (w.count > HEADERS_MAX || w.bytes > HEADER_BYTES_MAX)
		return fault(q, 431, "the headers are too large or too many");
	if (w.bad)
		return fault(q, 400, "a header is malformed");
	for (size_t i = 0; i < ARRAY_SIZE(once); i++)
		if (count_header(q, once[i]) > 1)
			return fault(q, 400, "there is more than one %s", once[i]);
	return check_length(q);
}

/* -- method and target ---------------------------------------------------------------------------
 */

/* Before anything can be wrong: whether the answer is a page depends on it. */
static void split_target(struct http_request *q)
{
	size_t mark = str_find(q->target, '?', 0);

	q->path = str_sub(q->target, 0, mark);
	q->query_text = mark < q->target.len ? str_from(q->target, mark + 1) : S("");
	q->api = str_starts(q->path, S("/api/")) || str_eq(q->path, S("/mcp"));
}

static bool check_target(struct http_request *q)
{
	const char *wrong;

	if (q->target.len > TARGET_MAX)
		return fault(q, 414, "the address is longer than %d bytes", TARGET_MAX);
	if (!q->target.len || q->target.p[0] != '/')
		return fault(q, 400, "the address does not begin with a slash");
	if (!decode_path(&q->arena, q->path, q->segments, &q->segment_count))
		return refuse(q, 400, NULL, "the path of the address is not properly encoded");
	wrong = decode_fields(&q->arena, q->query_text, DECODE_QUERY, &q->query);
	if (wrong)
		return refuse(q, 400, NULL, "the query of the address: %s", wrong);
	return true;
}

static bool check_method(struct http_request *q)
{
	static const char *const known[] = { "GET", "HEAD", "POST" };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (str_eq(q->method, str_of(known[i])))
			return true;
	/* Sessions of legacy clients end with it. */
	if (str_eq(q->path, S("/mcp")) && str_eq(q->method, S("DELETE")))
		return true;
	struct str allow = S("GET, HEAD, POST");
	if (!routes_find(q, &allow) || !allow.len)
		allow = S("GET, HEAD, POST");
	q->route = NULL;
	http_add_header(q, "Allow", allow);
	return fault(q, 405, "the method is not one of %.*s", STR(allow));
}

/* -- Host ----------------------------------------------------------------------------------------
 */

/* Splits "name:port", "[::1]:port" and "name". False: it is none of them. */
static bool split_host(struct str text, struct str *name, struct str *port)
{
	size_t end =
		text.len && text.p[0] == '[' ? str_find(text, ']', 0) + 1 : str_find(text, ':', 0);

	if (!text.len || end > text.len)
		return false;
	*name = str_sub(text, 0, end);
	*port = S("");
	if (end == text.len)
		return true;
	if (text.p[end] != ':' || end + 1 == text.len)
		return false;
	*port = str_from(text, end + 1);
	return true;
}

enum host_kind { HOST_FOREIGN, HOST_LOOPBACK, HOST_OWN };

static bool is_port(const struct http_request *q, struct str port)
{
	char own[8];

	(void)snprintf(own, sizeof(own), "%u", q->conn->port);
	return str_eq(port.len ? port : S("80"), str_of(own));
}

/* `--name HOST` may say a port; without one it stands for that of a proxy, or ours. */
static bool is_given_name(const struct http_request *q, struct str text, struct str name)
{
	const struct http_options *o = &q->http->options;

	for (size_t i = 0; i < o->name_count; i++)
		if (str_eq_nocase(str_of(o->names[i]), text) ||
			str_eq_nocase(str_of(o->names[i]), name))
			return true;
	return false;
}

static enum host_kind kind_of_host(const struct http_request *q, struct str text)
{
	static const char *const loopback[] = { "roux.localhost", "localhost", "127.0.0.1",
		"[::1]" };
	struct str name, port;

	if (!split_host(text, &name, &port))
		return HOST_FOREIGN;
	if (is_given_name(q, text, name))
		return HOST_OWN;
	if (!is_port(q, port))
		return HOST_FOREIGN;
	if (str_eq_nocase(name, q->http->name))
		return HOST_OWN;
	for (size_t i = 0; i < ARRAY_SIZE(loopback); i++)
		if (str_eq_nocase(name, str_of(loopback[i])))
			return HOST_LOOPBACK;
	return HOST_FOREIGN;
}

static bool check_host(struct http_request *q)
{
	struct str host = http_request_header(q, "Host");

	if (q->conn->local)
		return true;
	enum host_kind kind = kind_of_host(q, host);
	if (kind == HOST_FOREIGN) {
		q->close = true;
		check_audit(q, "host");
		return refuse(q, 403, "host", "this server is not called '%.*s'",
			STR(str_sub(host, 0, MIN(host.len, 200))));
	}
	q->canonical = kind == HOST_OWN;
	return true;
}

/* -- where a request comes from ------------------------------------------------------------------
 */

static bool is_own_origin(const struct http_request *q, struct str origin)
{
	struct str scheme = q->http->options.behind_tls ? S("https://") : S("http://");
	struct str host = http_request_header(q, "Host");

	if (!str_starts(origin, scheme))
		return false;
	origin = str_from(origin, scheme.len);
	return str_eq_nocase(origin, host) ||
	       (!q->conn->local && kind_of_host(q, origin) != HOST_FOREIGN);
}

static bool is_navigation(const struct http_request *q)
{
	return !q->post && str_eq(http_request_header(q, "Sec-Fetch-Mode"), S("navigate")) &&
	       str_eq(http_request_header(q, "Sec-Fetch-Dest"), S("document"));
}

static bool is_page(const struct http_request *q)
{
	return q->route ? q->route->kind == HTTP_PAGE || q->route->kind == HTTP_ASSET : !q->api;
}

static bool check_origin(struct http_request *q)
{
	struct str origin = http_request_header(q, "Origin");
	struct str site = http_request_header(q, "Sec-Fetch-Site");
	bool own = str_eq(site, S("same-origin"));

	if (count_header(q, "Origin") && !is_own_origin(q, origin)) {
		q->close = true;
		check_audit(q, "origin");
		return refuse(q, 403, "origin", "the request comes from another site");
	}
	if (!count_header(q, "Sec-Fetch-Site") || own)
		return true;
	if (!q->post && is_page(q) && (str_eq(site, S("none")) || is_navigation(q)))
		return true;
	q->close = true;
	check_audit(q, "origin");
	return refuse(q, 403, "origin", "the request comes from another site");
}

/* -- who asks ------------------------------------------------------------------------------------
 */

/* A refusal whose cause is worth a line. */
void check_audit(struct http_request *q, const char *cause)
{
	static const char *const vias[] = { "none", "browser", "token", "socket" };
	struct http *h = q->http;
	struct str action = q->route && q->route->action ? str_of(q->route->action) : q->path;
	struct audit_line *l = audit_line_new(q->principal.name, vias[q->principal.via],
		q->principal.session, str_sub(action, 0, MIN(action.len, 200)));

	if (audit_refused(&h->audit, l, str_of(cause)) && !timer_running(&h->audit_due))
		timer_start(h->loop, &h->audit_due, 1000);
}

static void become(struct http_request *q, enum http_via via, unsigned scopes, struct str name,
	struct str session)
{
	q->principal = (struct http_principal){
		.via = via,
		.scopes = scopes,
		.name = arena_str(&q->arena, name),
		.session = arena_str(&q->arena, session),
	};
	q->conn->known = true;
}

static bool by_token(struct http_request *q, struct str header)
{
	struct http *h = q->http;
	struct str secret;

	if (header.len > 7 && str_eq_nocase(str_sub(header, 0, 7), S("Bearer "))) {
		secret = str_trim(str_from(header, 7));
		struct token *t = tokens_find(&h->tokens, secret, clock_real_ms());

		if (t) {
			q->requests = &t->requests;
			q->mutations = &t->mutations;
			q->token = arena_str(&q->arena, str_of(t->sum));
			become(q, HTTP_VIA_TOKEN, t->scopes, t->name, S(""));
			return true;
		}
	}
	q->delay_ms = wrong_secret_add(&h->wrong, clock_mono_ms());
	check_audit(q, "token");
	http_add_header(q, "WWW-Authenticate", S("Bearer"));
	return refuse(q, 401, "token", "the token is not known");
}

static void make_csrf(struct http_request *q, const struct session *s)
{
	unsigned char mac[SHA256_BYTES];
	char *hex = arena_alloc(&q->arena, 2 * sizeof(mac) + 1);

	hmac_sha256(q->http->key, str_of(s->sum), mac);
	hex_write(mac, sizeof(mac), hex);
	q->csrf = (struct str){ hex, 2 * sizeof(mac) };
}

static void by_cookie(struct http_request *q)
{
	char name[16];
	struct str value;

	(void)snprintf(name, sizeof(name), "roux_%u", q->conn->port);
	if (!decode_cookie(http_request_header(q, "Cookie"), str_of(name), &value))
		return;
	struct session *s = sessions_find(&q->http->sessions, value, clock_real_ms());
	if (!s)
		return;
	q->requests = &s->requests;
	q->mutations = &s->mutations;
	become(q, HTTP_VIA_BROWSER, HTTP_SCOPES, S("browser"), str_of(s->name));
	make_csrf(q, s);
}

/* False: it has been refused. */
static bool find_principal(struct http_request *q)
{
	char uid[24];

	door_refresh(q->http);
	if (count_header(q, "Authorization") && !(q->route && q->route->scope == HTTP_OPEN))
		return by_token(q, http_request_header(q, "Authorization"));
	if (q->conn->local) {
		(void)snprintf(uid, sizeof(uid), "uid:%u", (unsigned)q->conn->uid);
		become(q, HTTP_VIA_SOCKET, HTTP_SCOPES | HTTP_SOCKET, str_of(uid), S(""));
	} else if (!q->route || q->route->kind != HTTP_MCP) {
		by_cookie(q);
	} else if (q->http->options.open_mcp && !q->http->guarded) {
		become(q, HTTP_VIA_NONE, HTTP_READ | HTTP_RUN, S("anyone"), S(""));
	}
	return true;
}

/* A page that continues by itself: a redirect would be part of the chain that another site began,
 * and the cookie would not be sent. */
static void send_hop(struct http_request *q)
{
	AUTO_BUF html = BUF_INIT;
	AUTO_BUF url = BUF_INIT;

	for (size_t i = 0; i < q->target.len; i++) {
		char c = q->target.p[i];

		if (c == '&')
			buf_adds(&url, "&amp;");
		else if (c == '"' || c == '<' || c == '>' || c == '\'')
			buf_printf(&url, "%%%02X", c);
		else
			buf_addc(&url, c);
	}
	buf_adds(&url, q->query_text.len             ? "&amp;hop=1"
		       : q->path.len < q->target.len ? "hop=1"
						     : "?hop=1");
	buf_printf(&html,
		"<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>roux</title>\n"
		"<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n"
		"<p><a href=\"%s\">Continue to roux</a></p></html>\n",
		buf_cstr(&url), buf_cstr(&url));
	http_add_header(q, "Cache-Control", S("no-store")); /* it is not the page of this address */
	http_reply_page(q, 200, &html);
}

#define LOGIN "/login"

/* A door without pages has no place to send a browser to. */
static bool no_session(struct http_request *q)
{
	struct str site = http_request_header(q, "Sec-Fetch-Site"), hop;
	bool page = q->route ? q->route->kind == HTTP_PAGE : !q->api;

	if (!page || q->post) {
		if (q->route && q->route->kind == HTTP_MCP)
			http_add_header(q, "WWW-Authenticate", S("Bearer"));
		return refuse(q, 401, "session", "a session or a token is needed");
	}
	if (!routes_have(q->http, LOGIN))
		return refuse(q, 404, NULL, "there is nothing at this address");
	if (is_navigation(q) && (str_eq(site, S("cross-site")) || str_eq(site, S("same-site"))) &&
		!http_query(q, "hop", &hop)) {
		send_hop(q);
		return false;
	}
	AUTO_BUF to = BUF_INIT;
	buf_adds(&to, LOGIN "?next=");
	for (size_t i = 0; i < q->target.len; i++) {
		unsigned char c = (unsigned char)q->target.p[i];

		if (ascii_digit((char)c) || (c | 0x20U) - 'a' < 26U || strchr("/-._~", c))
			buf_addc(&to, (char)c);
		else
			buf_printf(&to, "%%%02X", c);
	}
	http_redirect(q, 303, buf_str(&to));
	return false;
}

/* -- what they may -------------------------------------------------------------------------------
 */

enum { REQUESTS_A_SECOND = 50, REQUESTS_AT_ONCE = 200, MCP_A_SECOND = 1000 };

static bool check_rate(struct http_request *q)
{
	bool mcp = q->route->kind == HTTP_MCP;
	uint64_t now = clock_mono_ms();
	bool ok =
		!q->requests || rate_take(q->requests, now, mcp ? MCP_A_SECOND : REQUESTS_A_SECOND,
					mcp ? MCP_A_SECOND : REQUESTS_AT_ONCE);

	if (ok && q->mutations && q->route->effect != HTTP_READS && !mcp)
		ok = rate_take(q->mutations, now, 5, 20);
	if (ok)
		return true;
	http_add_header(q, "Retry-After", S("1"));
	return refuse(q, 429, "rate", "there are too many requests");
}

static bool check_scope(struct http_request *q)
{
	const struct http_route *r = q->route;

	if (r->scope && !(q->principal.scopes & r->scope)) {
		check_audit(q, "scope");
		return refuse(q, 403, "scope",
			r->scope == HTTP_SOCKET ? "this is for the server's socket only"
						: "the token does not allow this");
	}
	if (q->http->options.read_only && r->effect > HTTP_SERVER)
		return refuse(q, 403, "read-only", "the server is read-only");
	return true;
}

/* Other names of this machine lead to the one that has the cookie. */
static bool check_name(struct http_request *q)
{
	AUTO_BUF to = BUF_INIT;

	bool page = q->route ? q->route->kind == HTTP_PAGE : !q->api;

	if (q->conn->local || q->canonical || q->post || !page ||
		count_header(q, "Authorization") ||
		!decode_lists(http_request_header(q, "Accept"), S("text/html")))
		return true;
	buf_printf(&to, "http://%.*s:%u%.*s", STR(q->http->name), q->conn->port, STR(q->target));
	http_redirect(q, 307, buf_str(&to));
	return false;
}

static bool check_type(struct http_request *q)
{
	struct str type = decode_media_type(http_request_header(q, "Content-Type"));

	if (!q->post || q->route->kind == HTTP_MCP || (!type.len && !q->body_length) ||
		str_eq_nocase(type, S("application/json")) ||
		str_eq_nocase(type, S("application/x-www-form-urlencoded")))
		return true;
	q->close = true;
	return refuse(
		q, 415, NULL, "a body is application/json or application/x-www-form-urlencoded");
}

static bool check_route(struct http_request *q, bool found, struct str allow)
{
	if (q->route)
		return true;
	if (!found)
		return refuse(q, 404, NULL, "there is nothing at this address");
	http_add_header(q, "Allow", allow);
	return refuse(q, 405, NULL, "the method is not one of %.*s", STR(allow));
}

static bool check_peer(struct http_request *q)
{
	if (!q->conn->foreign && !q->conn->unsure)
		return true;
	q->close = true;
	q->api = true;
	http_refuse(q, 403, "user", q->http->options.user_hint,
		q->conn->foreign ? "the connection comes from another user"
				 : "it cannot be found out which user the connection comes from");
	return false;
}

static bool is_stopping(struct http_request *q)
{
	if (!q->http->stopping)
		return false;
	q->close = true;
	http_add_header(q, "Retry-After", S("2"));
	return !refuse(q, 503, "stopping", "the server is stopping");
}

static bool check_size(struct http_request *q)
{
	size_t most = q->route->body_max ? q->route->body_max : BODY_MAX;

	if (q->body_length <= most)
		return true;
	q->close = true;
	return refuse(q, 413, NULL, "the body is longer than %zu bytes", most);
}

void checks_before_body(struct http_request *q)
{
	struct str allow = S("");

	split_target(q);
	if (!check_peer(q) || !check_form(q) || !check_target(q) || !check_method(q) ||
		!check_host(q))
		return;
	bool found = routes_find(q, &allow);
	if (q->route)
		q->api = q->route->kind == HTTP_API || q->route->kind == HTTP_MCP;
	if (!check_origin(q) || is_stopping(q) || !check_name(q) || !find_principal(q))
		return;
	if (!q->principal.scopes && !(q->route && q->route->scope == HTTP_OPEN) && !no_session(q))
		return;
	if (check_route(q, found, allow) && check_type(q) && check_size(q) && check_scope(q))
		(void)check_rate(q);
}
