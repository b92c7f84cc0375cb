/* The checks that need the body, and the call of the handler. */
#include <string.h>

#include "base/clock.h"
#include "data/json-scan.h"
#include "http/door.h"

static bool read_json(struct http_request *q)
{
	struct str text = buf_str(&q->body);
	json_error_t error;

	if (json_scan_depth(text) > JSON_DEPTH_MAX) {
		http_refuse(q, 400, NULL, NULL, "the body is nested more than %d levels deep",
			JSON_DEPTH_MAX);
		return false;
	}
	q->json = json_loadb(text.p, text.len, JSON_REJECT_DUPLICATES, &error);
	if (json_is_object(q->json))
		return true;
	http_refuse(q, 400, NULL, NULL, "the body is not a JSON object%s%s", q->json ? "" : ": ",
		q->json ? "" : error.text);
	return false;
}

static bool read_body(struct http_request *q)
{
	struct str type = decode_media_type(http_request_header(q, "Content-Type"));
	const char *wrong;

	if (q->route->kind == HTTP_MCP || !q->post || q->json || q->form.len)
		return true;
	if (str_eq_nocase(type, S("application/json")) && q->body.len)
		return read_json(q);
	wrong = decode_fields(&q->arena, buf_str(&q->body), DECODE_FORM, &q->form);
	if (!wrong)
		return true;
	http_refuse(q, 400, NULL, NULL, "the form: %s", wrong);
	return false;
}

static bool check_csrf(struct http_request *q)
{
	struct str given = http_request_header(q, "X-Roux-CSRF");

	if (!q->post || q->principal.via != HTTP_VIA_BROWSER || q->route->scope == HTTP_OPEN)
		return true;
	if (!given.len && q->json)
		given = json_text_of(q->json, "csrf");
	else if (!given.len)
		(void)http_form_field(q, "csrf", &given);
	if (given.len == q->csrf.len && hmac_equal((const unsigned char *)given.p,
						(const unsigned char *)q->csrf.p, given.len))
		return true;
	check_audit(q, "csrf");
	http_refuse(q, 403, "csrf", "reload the page and try again",
		"the request was not made by a page of this session");
	return false;
}

/* -- the same answer again -----------------------------------------------------------------------
 */

static struct str idempotency_key(struct http_request *q)
{
	struct str key = http_request_header(q, "Idempotency-Key");

	if (!key.len)
		(void)http_form_field(q, "idempotency_key", &key);
	return key;
}

/* True: the handler is to be called. */
static bool check_idempotency(struct http_request *q)
{
	struct str key = idempotency_key(q);
	AUTO_BUF full = BUF_INIT;
	char sum[SHA256_HEX];

	if (!key.len || q->route->effect < HTTP_STARTS)
		return true;
	if (key.len > IDEMPOTENCY_KEY_MAX || !decode_is_visible(key)) {
		http_refuse(q, 400, NULL, NULL, "an Idempotency-Key has up to %d bytes",
			IDEMPOTENCY_KEY_MAX);
		return false;
	}
	buf_printf(&full, "%d %.*s %.*s %s %.*s %.*s", q->principal.via, STR(q->principal.name),
		STR(q->principal.session), q->route->method, STR(q->path), STR(key));
	sha256_hex(buf_str(&q->body), sum);
	struct idempotent *one =
		idempotency_find(&q->http->idempotency, buf_str(&full), clock_mono_ms());
	if (!one->since_ms) {
		one->since_ms = clock_mono_ms();
		one->first = q;
		memcpy(one->body, sum, sizeof(sum));
		q->idempotent = one;
		return true;
	}
	if (strcmp(one->body, sum) != 0) {
		http_refuse(q, 409, "idempotency-key", NULL,
			"this Idempotency-Key was used for another request");
	} else if (one->first) {
		vec_push(&one->waiting, q);
		q->idempotent = one;
	} else {
		reply_kept(q, &one->reply);
	}
	return false;
}

/* -- the audit -----------------------------------------------------------------------------------
 */

static bool begin_audit(struct http_request *q)
{
	static const char *const vias[] = { "none", "browser", "token", "socket" };
	const struct http_route *r = q->route;

	if (r->effect < HTTP_STARTS)
		return true;
	q->audit = audit_line_new(
		q->principal.name, vias[q->principal.via], q->principal.session, str_of(r->action));
	if (strstr(r->path, "/runs/{id}"))
		audit_line_note(q->audit, "run", http_param(q, "id"));
	q->audit_error = -audit_begin(&q->http->audit, q->audit);
	return r->effect == HTTP_STOPS || http_check_audit(q);
}

bool http_check_audit(struct http_request *q)
{
	if (!q->audit_error)
		return true;
	audit_line_free(TAKE(q->audit));
	http_refuse(
		q, 503, "audit", NULL, "the audit cannot be written: %s", strerror(q->audit_error));
	return false;
}

void checks_and_handle(struct http_request *q)
{
	if (!read_body(q) || !check_csrf(q) || !check_idempotency(q))
		return;
	if (!begin_audit(q))
		return;
	q->http->acts += q->route->effect >= HTTP_STARTS;
	q->route->handle(q);
}
