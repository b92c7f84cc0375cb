/* Texts that an MCP client hands back: addresses of resources, sealed documents and cursors. What
 * was not sealed here is not opened. */
#include "base/utf8.h"
#include "hosts/mcp/resource-uri.h"
#include "hosts/mcp/seal.h"
#include "hosts/mcp/uri.h"

#include "fuzz.h"

/* The path without its query, put together again, is the same address. */
static void check_uri(struct str text)
{
	struct resource_uri u, again;
	AUTO_BUF b = BUF_INIT;

	if (resource_uri_read(text, &u) && u.kind >= RESOURCE_RUN) {
		HOLDS(u.id.len && !str_eq(buf_str(&u.id), S("..")));
		HOLDS(u.kind == RESOURCE_ARTIFACT ? u.name.len > 0 : !u.name.len);
		buf_adds(&b, "roux://runs/");
		uri_escape(&b, buf_str(&u.id));
		buf_adds(&b, u.kind == RESOURCE_LOG      ? "/log"
			     : u.kind == RESOURCE_EVENTS ? "/events"
							 : "");
		if (u.kind == RESOURCE_ARTIFACT) {
			buf_adds(&b, "/artifacts/");
			uri_escape(&b, buf_str(&u.name));
		}
		HOLDS(resource_uri_read(buf_str(&b), &again) && again.kind == u.kind);
		HOLDS(str_eq(buf_str(&again.id), buf_str(&u.id)) &&
			str_eq(buf_str(&again.name), buf_str(&u.name)));
		resource_uri_done(&again);
	}
	resource_uri_done(&u);
}

static void check_state(struct mcp *m, struct str text)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF sealed = BUF_INIT;
	AUTO_JSON *forged = seal_state_open(m, text, &r);
	AUTO_JSON *payload = json_read(&(struct source){ S("payload"), text }, &r);

	HOLDS(!forged);
	if (!payload)
		return;
	HOLDS(seal_state(m, payload, &sealed, &r));
	AUTO_JSON *opened = seal_state_open(m, buf_str(&sealed), &r);
	HOLDS(opened);
	/* Anywhere in it, and in its sum. */
	size_t places[] = { text.len % sealed.len, sealed.len - 2 };
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char *c = &sealed.p[places[i]], was = *c;

		*c = was == 'A' ? 'B' : 'A';
		AUTO_JSON *changed = seal_state_open(m, buf_str(&sealed), &r);
		HOLDS(!changed);
		*c = was;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mcp m = { .has_key = true, .key = "a key that is not a secret" };
	struct str text = fuzz_str(data, size);
	AUTO_BUF cursor = BUF_INIT;
	uint64_t at;

	check_uri(text);
	check_state(&m, text);
	HOLDS(!seal_cursor_open(&m, "tools", text, 1, &at));
	seal_cursor(&m, "tools", size, 1, &cursor);
	HOLDS(seal_cursor_open(&m, "tools", buf_str(&cursor), 1, &at) && at == size);
	HOLDS(!seal_cursor_open(&m, "prompts", buf_str(&cursor), 1, &at));
	HOLDS(!seal_cursor_open(&m, "tools", buf_str(&cursor), 2, &at));
	return 0;
}
