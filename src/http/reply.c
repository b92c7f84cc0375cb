#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hex.h"
#include "data/json-out.h"
#include "http/door.h"

/* -- handing it over -----------------------------------------------------------------------------
 */

static bool has_header(const struct http_request *q, const char *name)
{
	vec_each (f, &q->reply_headers)
		if (str_eq_nocase(f->name, str_of(name)))
			return true;
	return false;
}

void http_add_header(struct http_request *q, const char *name, struct str value)
{
	/* Both end with a NUL: the library wants them so. */
	struct http_field f = { str_of(arena_cstr(&q->arena, str_of(name))),
		str_of(arena_cstr(&q->arena, value)) };

	vec_push(&q->reply_headers, f);
}

static void add_default(struct http_request *q, const char *name, const char *value)
{
	if (!has_header(q, name))
		vec_push(&q->reply_headers, (struct http_field){ str_of(name), str_of(value) });
}

/* What every reply has. */
static void add_common(struct http_request *q)
{
	add_default(q, "X-Content-Type-Options", "nosniff");
	add_default(q, "Referrer-Policy", "same-origin");
	add_default(q, "Cross-Origin-Opener-Policy", "same-origin");
	add_default(q, "Cross-Origin-Resource-Policy", "same-origin");
	if (q->etag.len)
		add_default(q, "ETag", q->etag.p);
	if (q->close)
		add_default(q, "Connection", "close");
}

static void end_audit(struct http_request *q, unsigned status)
{
	AUTO_BUF lost = BUF_INIT;

	if (!q->audit)
		return;
	audit_end(&q->http->audit, q->audit,
		status < 300 || status == 303 ? S("done")
		: status < 500                ? S("refused")
					      : S("failed"),
		&lost);
	if (lost.len)
		door_say(q->http, "%s", buf_cstr(&lost));
	audit_line_free(TAKE(q->audit));
}

void reply_send(struct http_request *q, unsigned status, struct MHD_Response *response)
{
	add_common(q);
	vec_each (f, &q->reply_headers)
		(void)MHD_add_response_header(response, f->name.p, f->value.p);
	end_audit(q, status);
	q->http->refusals += status >= 400;
	q->status = status;
	q->response = response;
	q->phase = PHASE_REPLIED;
	q->gone = NULL;
	watch_stop(&q->conn->left);
	if (!q->inside)
		request_resume(q);
}

enum MHD_Result reply_queue(struct http_request *q)
{
	enum MHD_Result done = MHD_queue_response(q->mhd, q->status, q->response);

	MHD_destroy_response(TAKE(q->response));
	return done;
}

/* -- the same again ------------------------------------------------------------------------------
 */

void reply_kept(struct http_request *q, const struct kept_reply *k)
{
	vec_each (f, &k->headers)
		vec_push(&q->reply_headers, *f);
	reply_send(q, k->status,
		MHD_create_response_from_buffer(
			k->body.len, (void *)buf_cstr(&k->body), MHD_RESPMEM_MUST_COPY));
}

static void keep(struct http_request *q, unsigned status, const struct buf *body)
{
	struct idempotent *one = q->idempotent;

	if (!one || one->first != q)
		return;
	q->idempotent = NULL;
	one->first = NULL;
	one->reply.status = status;
	buf_add(&one->reply.body, buf_str(body));
	vec_each (f, &q->reply_headers) {
		struct http_field kept = { str_of(arena_cstr(&one->reply.arena, f->name)),
			str_of(arena_cstr(&one->reply.arena, f->value)) };

		vec_push(&one->reply.headers, kept);
	}
	vec_each (other, &one->waiting) {
		(*other)->idempotent = NULL;
		reply_kept(*other, &one->reply);
	}
	one->waiting.len = 0;
	/* What the machine refused may work the next time. */
	if (status >= 500 || status == 429)
		idempotent_free(&q->http->idempotency, one);
}

static void send_buf(struct http_request *q, unsigned status, struct buf *body)
{
	keep(q, status, body);
	size_t len = body->len;
	reply_send(q, status,
		MHD_create_response_from_buffer(len, buf_take(body), MHD_RESPMEM_MUST_FREE));
}

/* -- ETags ---------------------------------------------------------------------------------------
 */

/* What replies depend on besides what they show. A form is not given out again once something was
 * done: its key would be answered with what was done then. */
static void begin_etag(struct http_request *q, struct sha256 *sum)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "%s\n%.*s\n", q->http->build, STR(q->target));
	if (q->route && q->route->kind == HTTP_PAGE)
		buf_printf(&text, "%.*s %u %d %" PRIu64 "\n", STR(q->principal.session),
			q->principal.scopes, q->http->options.read_only, q->http->acts);
	sha256_init(sum);
	sha256_update(sum, buf_str(&text));
}

/* True: the client has it, and 304 was replied. */
static bool end_etag(struct http_request *q, struct sha256 *sum)
{
	AUTO_BUF empty = BUF_INIT;
	unsigned char digest[SHA256_BYTES];
	char tag[SHA256_BYTES + 1];

	sha256_final(sum, digest);
	hex_write(digest, sizeof(digest) / 2, tag);
	q->etag = arena_printf(&q->arena, "\"%s\"", tag);
	if (q->post || !decode_etags(http_request_header(q, "If-None-Match"), q->etag))
		return false;
	add_default(q, "Cache-Control", "private, no-cache");
	send_buf(q, 304, &empty);
	return true;
}

bool http_unchanged(struct http_request *q, struct str state)
{
	struct sha256 sum;

	begin_etag(q, &sum);
	sha256_update(&sum, state);
	return end_etag(q, &sum);
}

/* The same of what has no ETag yet, made of its bytes: all but the key of its forms, which is
 * another one each time. */
static bool is_unchanged(struct http_request *q, unsigned status, struct buf *body)
{
	struct str rest = buf_str(body);
	struct sha256 sum;

	if (q->post || status != 200 || q->etag.len || has_header(q, "Cache-Control"))
		return false;
	begin_etag(q, &sum);
	for (const char *at; q->form_key.len &&
			     (at = memmem(rest.p, rest.len, q->form_key.p, q->form_key.len));) {
		size_t before = (size_t)(at - rest.p);

		sha256_update(&sum, str_sub(rest, 0, before));
		rest = str_from(rest, before + q->form_key.len);
	}
	sha256_update(&sum, rest);
	if (!end_etag(q, &sum))
		return false;
	buf_done(body);
	return true;
}

/* -- kinds of replies ----------------------------------------------------------------------------
 */

void http_reply_page(struct http_request *q, unsigned status, struct buf *html)
{
	if (is_unchanged(q, status, html))
		return;
	add_default(q, "Content-Type", "text/html; charset=utf-8");
	add_default(q, "Cache-Control", "private, no-cache");
	add_default(q, "Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
		"require-trusted-types-for 'script'; trusted-types roux");
	send_buf(q, status, html);
}

static void add_json_headers(struct http_request *q)
{
	add_default(q, "Content-Type", "application/json");
	add_default(q, "Cache-Control", "private, no-cache");
	add_default(q, "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
}

void http_reply_json(struct http_request *q, unsigned status, struct buf *json)
{
	if (is_unchanged(q, status, json))
		return;
	add_json_headers(q);
	send_buf(q, status, json);
}

void http_reply_value(struct http_request *q, unsigned status, json_t *document)
{
	AUTO_BUF text = BUF_INIT;

	json_write_typed(&text, document, 0);
	buf_addc(&text, '\n');
	json_decref(document);
	http_reply_json(q, status, &text);
}

/* A name that no browser misreads: ASCII for old ones, and the whole percent-encoded. */
static void add_disposition(struct http_request *q, struct str name, bool show)
{
	AUTO_BUF value = BUF_INIT;

	buf_adds(&value, show ? "inline" : "attachment");
	if (name.len) {
		buf_adds(&value, "; filename=\"");
		for (size_t i = 0; i < name.len; i++) {
			char c = name.p[i];

			buf_addc(&value, c >= ' ' && c <= '~' && !strchr("\"\\/%;", c) ? c : '_');
		}
		buf_adds(&value, "\"; filename*=UTF-8''");
		for (size_t i = 0; i < name.len; i++) {
			unsigned char c = (unsigned char)name.p[i];

			if (ascii_digit((char)c) || (c | 0x20U) - 'a' < 26U ||
				(c && strchr("-._~", c)))
				buf_addc(&value, (char)c);
			else
				buf_printf(&value, "%%%02X", c);
		}
	}
	http_add_header(q, "Content-Disposition", buf_str(&value));
}

void reply_content_headers(struct http_request *q, const struct http_content *c)
{
	add_default(q, "Content-Type", c->type ? c->type : "application/octet-stream");
	if (c->untrusted) {
		add_default(q, "Content-Security-Policy", "sandbox; default-src 'none'");
		add_default(q, "Cache-Control", "no-store");
	} else {
		add_default(q, "Cache-Control",
			c->immutable ? "public, max-age=31536000, immutable" : "private, no-cache");
	}
	if (c->untrusted || c->name.len)
		add_disposition(q, c->name, c->show);
	if (c->gzipped)
		add_default(q, "Content-Encoding", "gzip");
}

void http_reply_bytes(struct http_request *q, const struct http_content *c, struct buf *bytes)
{
	if (c->type || bytes->len)
		reply_content_headers(q, c);
	send_buf(q, c->status ? c->status : 200, bytes);
}

void http_reply_static(struct http_request *q, const struct http_content *c, struct str bytes)
{
	reply_content_headers(q, c);
	reply_send(q, c->status ? c->status : 200,
		MHD_create_response_from_buffer(
			bytes.len, (void *)bytes.p, MHD_RESPMEM_PERSISTENT));
}

void http_redirect(struct http_request *q, unsigned status, struct str location)
{
	AUTO_BUF empty = BUF_INIT;

	http_add_header(q, "Location", location);
	add_default(q, "Cache-Control", "no-store");
	send_buf(q, status, &empty);
}

/* -- refusals ------------------------------------------------------------------------------------
 */

static const char *status_word(unsigned status)
{
	switch (status) {
	case 400:
	case 413:
	case 414:
	case 415:
	case 416:
	case 422:
	case 431:
		return "invalid";
	default:
		return "refused";
	}
}

static void plain_page(const struct http_refusal *r, struct buf *html)
{
	struct str texts[] = { r->error, r->hint };

	buf_printf(html,
		"<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>%u · "
		"roux</title>\n<main><h1>%u</h1>\n",
		r->status, r->status);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		buf_adds(html, "<p>");
		for (size_t k = 0; k < texts[i].len; k++) {
			char c = texts[i].p[k];

			if (c == '<' || c == '>' || c == '&' || c == '"')
				buf_printf(html, "&#%d;", c);
			else
				buf_addc(html, c);
		}
		buf_adds(html, "</p>\n");
	}
	buf_adds(html, "<p><a href=\"/\">Overview</a></p></main></html>\n");
}

static void send_refusal_page(struct http_request *q, const struct http_refusal *r)
{
	AUTO_BUF html = BUF_INIT;

	if (q->http->options.refusal_page)
		q->http->options.refusal_page(q, r, &html);
	else
		plain_page(r, &html);
	if (!has_header(q, "Cache-Control"))
		http_add_header(q, "Cache-Control", S("no-store"));
	http_reply_page(q, r->status, &html);
}

static bool wants_page(const struct http_request *q)
{
	return !q->api && !(q->route && q->route->kind == HTTP_ASSET) && !q->conn->local &&
	       !http_request_header(q, "Authorization").len;
}

static void compose_refusal(const struct http_refusal *r, const char *reason, struct buf *b)
{
	struct json_out o = { .b = b };
	bool invalid = strcmp(status_word(r->status), "invalid") == 0;

	json_out_object(&o, NULL);
	json_out_bool(&o, "ok", false);
	json_out_str(&o, "status", str_of(status_word(r->status)));
	json_out_str(&o, "error", r->error);
	if (reason)
		json_out_str(&o, "reason", str_of(reason));
	if (invalid) {
		json_out_array(&o, "errors");
		json_out_object(&o, NULL);
		json_out_str(&o, "message", r->error);
		json_out_str_or_null(&o, "hint", r->hint);
		json_out_object_end(&o);
		json_out_array_end(&o);
	}
	json_out_str_or_null(&o, "hint", r->hint);
	json_out_object_end(&o);
	buf_addc(b, '\n');
}

/* It was for what is not sent now: a client that keeps it would be told that nothing has changed.
 */
static void forget_etag(struct http_request *q)
{
	q->etag = S("");
}

void http_refuse(struct http_request *q, unsigned status, const char *reason, const char *hint,
	const char *fmt, ...)
{
	AUTO_BUF error = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&error, fmt, args);
	va_end(args);
	struct http_refusal r = {
		.status = status,
		.error = buf_str(&error),
		.reason = reason ? str_of(reason) : S(""),
		.hint = hint ? str_of(hint) : S(""),
	};
	if (reason)
		http_audit_note(q, "refused", str_of(reason));
	forget_etag(q);
	/* What is not read of a body would be taken for the next request. */
	if (q->phase == PHASE_NEW && q->body_length)
		q->close = true;
	if (wants_page(q)) {
		send_refusal_page(q, &r);
		return;
	}
	compose_refusal(&r, reason, &text);
	add_default(q, "Cache-Control", "no-store");
	http_reply_json(q, status, &text);
}

void http_refuse_document(struct http_request *q, unsigned status, struct buf *document)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct source source = { S("the document"), buf_str(document) };

	forget_etag(q);
	if (!wants_page(q)) {
		add_default(q, "Cache-Control", "no-store");
		http_reply_json(q, status, document);
		return;
	}
	AUTO_JSON *root = json_read(&source, &ignored);
	struct http_refusal r = {
		.status = status,
		.error = json_text_of(root, "error"),
		.reason = json_text_of(root, "reason"),
		.hint = json_text_of(root, "hint"),
		.document = root,
	};
	if (r.reason.len)
		http_audit_note(q, "refused", r.reason);
	send_refusal_page(q, &r);
	buf_done(document);
	*document = BUF_INIT;
}
