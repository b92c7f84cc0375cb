/* Bytes of an MCP client: whatever they are, in whichever pieces they come, lines and messages are
 * the same, and what is given back of them is JSON. */
#include "base/utf8.h"
#include "data/json-scan.h"
#include "hosts/mcp/lines.h"
#include "hosts/mcp/message.h"
#include "hosts/mcp/text.h"
#include "hosts/mcp/uri.h"

#include "fuzz.h"

enum { LINE = 256, LIMIT = 1024 };

struct heard {
	struct buf all; /* lines with their ends; '!' for one that is too long */
};

static void see_line(void *data, struct str line)
{
	struct heard *h = data;

	HOLDS(line.len <= LINE && str_find(line, '\n', 0) == line.len);
	buf_add(&h->all, line);
	buf_addc(&h->all, '\n');
}

static void see_long(void *data)
{
	buf_adds(&((struct heard *)data)->all, "!\n");
}

static bool feed(struct str bytes, size_t piece, struct heard *ret)
{
	struct lines l = {
		.max = LINE, .limit = LIMIT, .line = see_line, .too_long = see_long, .data = ret
	};
	bool ok = true;

	for (size_t at = 0; at < bytes.len && ok; at += piece)
		ok = lines_feed(&l, str_sub(bytes, at, MIN(piece, bytes.len - at)));
	if (ok)
		lines_end(&l);
	lines_done(&l);
	return ok;
}

static void check_message(struct str text)
{
	struct message_limits limits = { .depth = 16, .arguments = 64 };
	struct message m;

	message_read(text, &limits, &m);
	HOLDS(m.kind == MESSAGE_BAD || (m.root && json_is_object(m.root)));
	HOLDS(m.kind != MESSAGE_BAD || (m.reason.len && m.code < 0));
	HOLDS(m.kind != MESSAGE_REQUEST || (m.id.len && m.method.p));
	if (m.id.len)
		HOLDS(message_is_id(m.id) && json_scan_value(m.id, 0) == m.id.len);
	if (m.progress_token.len)
		HOLDS(json_scan_value(m.progress_token, 0) == m.progress_token.len);
	message_done(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = fuzz_str(data, size);
	struct heard whole = { 0 }, pieces = { 0 };
	AUTO_BUF coded = BUF_INIT;
	AUTO_BUF plain = BUF_INIT;

	/* A line may be given up earlier or later, by how it came. */
	if (feed(text, size + 1, &whole) && feed(text, 7, &pieces))
		HOLDS(str_eq(buf_str(&whole.all), buf_str(&pieces.all)));
	buf_done(&whole.all);
	buf_done(&pieces.all);
	check_message(text);
	(void)text_whole(text, NULL);
	uri_escape(&coded, text);
	if (uri_unescape(buf_str(&coded), &plain))
		HOLDS(str_eq(buf_str(&plain), text));
	return 0;
}
