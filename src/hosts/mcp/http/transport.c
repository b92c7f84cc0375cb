#include "hosts/mcp/http/transport.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hex.h"
#include "hosts/mcp/catalog.h"

enum { IDLE_MS = 30 * 60 * 1000, LEGACY_MAX = 256, BODY_BYTES = 16 << 20 };

/* -- sessions of the legacy era ------------------------------------------------------------------
 */

static void drop_message(
	struct channel *c, struct str message, enum send_weight weight, struct str key)
{
	(void)c;
	(void)message;
	(void)weight;
	(void)key;
}

static void legacy_free(struct legacy *l)
{
	timer_stop(&l->idle);
	list_remove(&l->link);
	l->transport->legacy_count--;
	session_done(&l->session);
	free(l);
}

static void legacy_delete(struct legacy *l)
{
	l->deleted = true;
	if (l->posts)
		session_end(&l->session);
	else
		legacy_free(l);
}

static void on_idle(struct timer *t)
{
	legacy_delete(container_of(t, struct legacy, idle));
}

struct legacy *legacy_new(struct mcp_http *t, struct str principal, bool mute)
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return NULL;
	/* The one that was not used for the longest time makes room. */
	if (t->legacy_count >= LEGACY_MAX)
		legacy_delete(list_entry(t->legacy.next, struct legacy, link));
	struct legacy *l = mem_new(struct legacy);
	l->transport = t;
	l->nowhere.send = drop_message;
	l->idle.fire = on_idle;
	hex_write(bytes, sizeof(bytes), l->id);
	session_init(&l->session, t->server, &l->nowhere);
	l->session.principal = arena_printf(&l->session.arena, "%.*s", STR(principal));
	l->session.alone = true;
	l->session.mute = mute;
	list_append(&t->legacy, &l->link);
	t->legacy_count++;
	timer_start(t->loop, &l->idle, IDLE_MS);
	return l;
}

struct legacy *legacy_find(struct mcp_http *t, struct str id, struct str principal)
{
	list_each (link, &t->legacy) {
		struct legacy *l = list_entry(link, struct legacy, link);

		if (str_eq(str_of(l->id), id) && str_eq(l->session.principal, principal) &&
			!l->deleted)
			return l;
	}
	return NULL;
}

void legacy_hold(struct legacy *l)
{
	l->posts++;
	timer_stop(&l->idle);
	list_remove(&l->link);
	list_append(&l->transport->legacy, &l->link);
}

void legacy_release(struct legacy *l)
{
	if (--l->posts)
		return;
	if (l->deleted)
		legacy_free(l);
	else
		timer_start(l->transport->loop, &l->idle, IDLE_MS);
}

/* -- the other methods ---------------------------------------------------------------------------
 */

/* There is no stream that belongs to no request. */
static void handle_get(struct http_request *q)
{
	http_add_header(q, "Allow", S("POST"));
	http_refuse(q, 405, NULL, NULL, "messages are sent with POST");
}

static void handle_delete(struct http_request *q)
{
	struct mcp_http *t = http_data(q);
	struct str id = http_request_header(q, "Mcp-Session-Id");
	struct str version = http_request_header(q, "MCP-Protocol-Version");
	AUTO_BUF empty = BUF_INIT;

	if (!id.len || str_cmp(version, S(PROTOCOL_MODERN)) >= 0) {
		handle_get(q);
		return;
	}
	struct legacy *l = legacy_find(t, id, principal_of(http_principal(q), http_arena(q)));
	if (!l) {
		http_refuse(q, 404, "session", NULL, "there is no such session");
		return;
	}
	legacy_delete(l);
	http_reply_bytes(q, &(struct http_content){ .status = 204 }, &empty);
}

static const struct http_route routes[] = {
	{ "POST", "/mcp", HTTP_MCP, HTTP_SCOPES, HTTP_READS, post_handle,
		"one message of the Model Context Protocol", .body_max = BODY_BYTES },
	{ "GET", "/mcp", HTTP_MCP, HTTP_SCOPES, HTTP_READS, handle_get, "not offered: 405",
		.refuses = true },
	{ "DELETE", "/mcp", HTTP_MCP, HTTP_SCOPES, HTTP_READS, handle_delete,
		"end a session of a protocol revision up to 2025-11-25" },
};

/* -- all of it -----------------------------------------------------------------------------------
 */

struct mcp_http *mcp_http_new(struct mcp *m)
{
	struct mcp_http *t = mem_new(struct mcp_http);

	t->server = m;
	t->loop = app_loop(m->app);
	list_init(&t->legacy);
	list_init(&t->posts);
	t->routes = (struct http_routes){ routes, ARRAY_SIZE(routes), t };
	return t;
}

void mcp_http_end(struct mcp_http *t)
{
	t->server->ending = true;
	list_each_safe (link, &t->server->sessions)
		session_end(list_entry(link, struct session, link));
}

void mcp_http_free(struct mcp_http *t)
{
	if (!t)
		return;
	posts_abort(t);
	while (!list_empty(&t->legacy))
		legacy_free(list_entry(t->legacy.next, struct legacy, link));
	free(t);
}
