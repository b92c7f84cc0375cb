/* Routes about the server itself. */
#include "hosts/serve/server.h"

#include <unistd.h>

#include "base/clock.h"
#include "data/json-out.h"
#include "hosts/serve/serve.h"
#include "http/tokens.h"

void server_health(struct http_request *q)
{
	http_add_header(q, "Cache-Control", S("no-store"));
	http_reply_static(
		q, &(struct http_content){ .type = "text/plain; charset=utf-8" }, S("ok\n"));
}

void server_openapi(struct http_request *q)
{
	AUTO_BUF text = BUF_INIT;

	if (http_unchanged(q, S("")))
		return;
	http_openapi(http_door(q), &text);
	http_reply_json(q, 200, &text);
}

static void add_scopes(struct json_out *o, unsigned mask)
{
	AUTO_BUF names = BUF_INIT;
	struct str list;

	scopes_write(&names, mask);
	list = buf_str(&names);
	json_out_array(o, "scopes");
	for (size_t at = 0; at < list.len;) {
		size_t end = str_find(list, ',', at);

		json_out_str(o, NULL, str_sub(list, at, end - at));
		at = end + 1;
	}
	json_out_array_end(o);
}

void server_api(struct http_request *q)
{
	const struct http_principal *p = http_principal(q);
	AUTO_BUF text = BUF_INIT;
	struct json_out o = { .b = &text };

	json_out_object(&o, NULL);
	json_out_int(&o, "api", 1);
	json_out_str(&o, "version", S(ROUX_VERSION));
	json_out_bool(&o, "read_only", http_read_only(http_door(q)));
	add_scopes(&o, p->scopes);
	json_out_object(&o, "limits");
	json_out_uint(&o, "body", 1 << 20);
	json_out_uint(&o, "fields", 256);
	json_out_uint(&o, "depth", 64);
	json_out_uint(&o, "requests_per_second", 50);
	json_out_uint(&o, "mutations_per_second", 5);
	json_out_uint(&o, "streams", p->via == HTTP_VIA_BROWSER ? 4 : 256);
	json_out_object_end(&o);
	if (p->via == HTTP_VIA_BROWSER)
		json_out_str(&o, "csrf", http_csrf(q));
	json_out_object_end(&o);
	buf_addc(&text, '\n');
	http_reply_json(q, 200, &text);
}

void server_link(struct http_request *q)
{
	AUTO_BUF url = BUF_INIT;

	http_login_url(http_door(q), &url);
	http_add_header(q, "Cache-Control", S("no-store"));
	http_reply_value(q, 200, json_pack("{s:b, s:s}", "ok", 1, "url", buf_cstr(&url)));
}

void server_status(struct http_request *q)
{
	struct serve *s = http_data(q);
	struct http_counts n = http_counts(s->http);
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF url = BUF_INIT;
	struct json_out o = { .b = &text };

	http_base_url(s->http, &url);
	json_out_object(&o, NULL);
	json_out_bool(&o, "ok", true);
	json_out_str(&o, "url", buf_str(&url));
	json_out_uint(&o, "port", http_port(s->http));
	json_out_str(&o, "socket", s->socket);
	json_out_uint(&o, "pid", (uint64_t)getpid());
	json_out_str(&o, "version", S(ROUX_VERSION));
	json_out_bool(&o, "read_only", http_read_only(s->http));
	json_out_time(&o, "since", s->since_ms);
	json_out_uint(&o, "connections", n.connections);
	json_out_uint(&o, "streams", n.streams);
	json_out_uint(&o, "sessions", n.sessions);
	json_out_uint(&o, "tokens", n.tokens);
	json_out_uint(&o, "requests", n.requests);
	json_out_uint(&o, "refusals", n.refusals);
	json_out_object_end(&o);
	buf_addc(&text, '\n');
	http_reply_json(q, 200, &text);
}

void server_stop(struct http_request *q)
{
	struct serve *s = http_data(q);

	http_reply_value(q, 202, json_pack("{s:b, s:s}", "ok", 1, "status", "stopping"));
	serve_stop(s);
}

void server_reload(struct http_request *q)
{
	http_reload(http_door(q));
	http_reply_value(q, 200, json_pack("{s:b}", "ok", 1));
}
