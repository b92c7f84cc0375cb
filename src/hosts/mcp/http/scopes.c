/* Who asks, and what they may. */
#include <string.h>

#include "hosts/mcp/catalog.h"
#include "hosts/mcp/http/transport.h"

struct str principal_of(const struct http_principal *p, struct arena *a)
{
	if (p->via == HTTP_VIA_SOCKET)
		return p->name; /* "uid:1000", as over standard input and output */
	return p->via == HTTP_VIA_TOKEN ? arena_printf(a, "token:%.*s", STR(p->name)) : S("http");
}

static bool is_read_only(struct mcp_http *t, const struct message *m)
{
	const struct tool *tool = catalog_find(t->server->catalog, json_text_of(m->params, "name"));

	return tool && tool->builtin && tool->effects == EFFECTS_READ;
}

const char *scope_lacking(
	struct mcp_http *t, const struct http_principal *p, const struct message *m)
{
	bool runs = str_eq(m->method, S("prompts/get")) || str_eq(m->method, S("tasks/cancel")) ||
		    (str_eq(m->method, S("tools/call")) && !is_read_only(t, m));

	if (runs && !(p->scopes & HTTP_RUN))
		return "run";
	bool reads = !runs && strchr(m->method.p, '/') && !str_eq(m->method, S("server/discover"));

	return reads && !(p->scopes & HTTP_READ) ? "read" : NULL;
}
