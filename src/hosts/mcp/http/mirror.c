/* Headers that say again what a modern request says in its body, for those who route by them. */
#include "data/base64.h"
#include "hosts/mcp/http/transport.h"

/* "=?base64?…?=" stands for bytes that a header cannot have. */
static bool value_of(struct str header, struct buf *ret)
{
	struct str begin = S("=?base64?"), end = S("?=");

	if (header.len < begin.len + end.len || !str_starts(header, begin) ||
		!str_ends(header, end)) {
		buf_add(ret, header);
		return true;
	}
	return base64_read(str_sub(header, begin.len, header.len - begin.len - end.len), ret);
}

static bool says(const struct http_request *q, const char *name, struct str wanted)
{
	AUTO_BUF value = BUF_INIT;

	return value_of(http_request_header(q, name), &value) && str_eq(buf_str(&value), wanted);
}

/* The member of the parameters that Mcp-Name repeats; NULL: none. */
static const char *named_by(struct str method)
{
	if (str_eq(method, S("tools/call")) || str_eq(method, S("prompts/get")))
		return "name";
	if (str_eq(method, S("resources/read")))
		return "uri";
	return str_starts(method, S("tasks/")) ? "taskId" : NULL;
}

const char *mirror_mismatch(const struct http_request *q, const struct message *m)
{
	const json_t *meta = json_object_get(m->params, "_meta");
	const json_t *version = json_object_get(meta, META_PREFIX "protocolVersion");
	const char *name = named_by(m->method);
	const json_t *named = name ? json_object_get(m->params, name) : NULL;

	/* A body that lacks its own part is refused for that. */
	if (json_is_string(version) && !says(q, "MCP-Protocol-Version", json_str(version)))
		return "MCP-Protocol-Version";
	if (!says(q, "Mcp-Method", m->method))
		return "Mcp-Method";
	if (json_is_string(named) && !says(q, "Mcp-Name", json_str(named)))
		return "Mcp-Name";
	return NULL;
}
