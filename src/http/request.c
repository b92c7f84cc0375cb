#include <string.h>

#include "base/clock.h"
#include "data/json-out.h"
#include "http/door.h"

void *http_data(const struct http_request *q)
{
	return q->table ? q->table->data : NULL;
}

struct http *http_door(const struct http_request *q)
{
	return q->http;
}

const struct http_route *http_route(const struct http_request *q)
{
	return q->route;
}

struct arena *http_arena(struct http_request *q)
{
	return &q->arena;
}

const struct http_principal *http_principal(const struct http_request *q)
{
	return &q->principal;
}

struct str http_csrf(struct http_request *q)
{
	return q->csrf;
}

struct str http_idempotency_key(struct http_request *q)
{
	char secret[SECRET_HEX];

	if (!q->form_key.len && secret_make(secret))
		q->form_key = arena_str(&q->arena, (struct str){ secret, 32 });
	return q->form_key;
}

struct str http_target(const struct http_request *q)
{
	return q->target;
}

/* The pattern and the path have the same number of segments. */
struct str http_param(const struct http_request *q, const char *name)
{
	struct str pattern = str_of(q->route->path), wanted = str_of(name);

	for (size_t at = 1, i = 0; i < q->segment_count; i++) {
		size_t end = str_find(pattern, '/', at);
		struct str part = str_sub(pattern, at, end - at);

		if (part.len > 2 && part.p[0] == '{' &&
			str_eq(str_sub(part, 1, part.len - 2), wanted))
			return q->segments[i];
		at = end + 1;
	}
	UNREACHABLE("the route has no such parameter");
}

static bool find_field(const http_field_vec *fields, struct str name, struct str *ret)
{
	vec_each (f, fields)
		if (str_eq(f->name, name)) {
			*ret = f->value;
			return true;
		}
	return false;
}

bool http_query(const struct http_request *q, const char *name, struct str *ret)
{
	struct str value;

	if (!find_field(&q->query, str_of(name), &value) || !value.len)
		return false;
	*ret = value;
	return true;
}

struct http_fields http_query_all(const struct http_request *q)
{
	return (struct http_fields){ q->query.at, q->query.len };
}

struct str http_request_header(const struct http_request *q, const char *name)
{
	for (size_t i = 0; i < q->header_count; i++)
		if (str_eq_nocase(q->headers[i].name, str_of(name)))
			return q->headers[i].value;
	return S("");
}

bool http_accepts(const struct http_request *q, const char *type)
{
	return decode_lists(http_request_header(q, "Accept"), str_of(type));
}

bool http_is_head(const struct http_request *q)
{
	return q->head;
}

struct str http_body(const struct http_request *q)
{
	return buf_str(&q->body);
}

struct http_fields http_form(const struct http_request *q)
{
	return (struct http_fields){ q->form.at, q->form.len };
}

bool http_form_field(const struct http_request *q, const char *name, struct str *ret)
{
	return find_field(&q->form, str_of(name), ret);
}

json_t *http_json(const struct http_request *q)
{
	return q->json;
}

json_t *http_member(struct http_request *q, const char *name)
{
	struct str value;

	if (q->json)
		return json_object_get(q->json, name);
	if (!http_form_field(q, name, &value))
		return NULL;
	/* Kept with the request. */
	if (!q->members)
		q->members = json_object();
	if (!json_object_get(q->members, name))
		(void)json_object_set_new(q->members, name, json_from_str(value));
	return json_object_get(q->members, name);
}

void http_on_gone(struct http_request *q, void (*gone)(void *data), void *data)
{
	q->gone = gone;
	q->gone_data = data;
}

void http_audit_note(struct http_request *q, const char *name, struct str value)
{
	if (q->audit)
		audit_line_note(q->audit, name, value);
}

/* -- logging in ----------------------------------------------------------------------------------
 */

void http_login_url(struct http *h, struct buf *b)
{
	char secret[SECRET_HEX];

	if (!once_make(&h->sessions, clock_mono_ms(), secret))
		secret[0] = 0;
	http_base_url(h, b);
	buf_printf(b, "/login?once=%s", secret);
}

void http_base_url(struct http *h, struct buf *b)
{
	struct str name = http_name(h);

	buf_printf(b, "%s://%.*s", h->options.behind_tls ? "https" : "http", STR(name));
	if (!h->options.behind_tls && str_find(name, ':', 0) == name.len && h->port != 80)
		buf_printf(b, ":%u", h->port);
}

bool http_may_log_in(const struct http_request *q)
{
	return q->canonical;
}

static void set_cookie(struct http_request *q, const char *value, long age)
{
	AUTO_BUF cookie = BUF_INIT;

	buf_printf(&cookie, "roux_%u=%s; HttpOnly; SameSite=Strict; Path=/; Max-Age=%ld%s",
		q->conn->port, value, age, q->http->options.behind_tls ? "; Secure" : "");
	http_add_header(q, "Set-Cookie", buf_str(&cookie));
}

static void audit_login(struct http_request *q, struct str session, struct str outcome)
{
	AUTO_BUF lost = BUF_INIT;
	struct audit_line *l = audit_line_new(S("browser"), "browser", session, S("login"));

	audit_end(&q->http->audit, l, outcome, &lost);
	if (lost.len)
		door_say(q->http, "%s", buf_cstr(&lost));
	audit_line_free(l);
}

bool http_log_in(struct http_request *q, struct str once)
{
	struct http *h = q->http;
	char secret[SECRET_HEX];

	if (!q->canonical || !once_use(&h->sessions, once, clock_mono_ms())) {
		q->delay_ms = wrong_secret_add(&h->wrong, clock_mono_ms());
		audit_login(q, S(""), S("refused"));
		return false;
	}
	struct session *s = sessions_add(&h->sessions, clock_real_ms(), secret);
	if (!s)
		return false;
	(void)sessions_save(&h->sessions);
	set_cookie(q, secret, SESSION_DAYS * 86400L);
	audit_login(q, str_of(s->name), S("done"));
	q->conn->known = true;
	if (h->options.logged_in)
		h->options.logged_in(h->options.data, once);
	return true;
}

void http_log_out(struct http_request *q)
{
	struct http *h = q->http;

	vec_each (one, &h->sessions.at)
		if (str_eq(str_of((*one)->name), q->principal.session)) {
			sessions_remove(&h->sessions, *one);
			break;
		}
	(void)sessions_save(&h->sessions);
	streams_end_session(h, q->principal.session, "expired");
	set_cookie(q, "", 0);
}
