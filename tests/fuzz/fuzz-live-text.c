/* Bytes of commands on their way to a terminal: what comes out is one harmless line. */
#include "base/plain-text.h"
#include "base/utf8.h"

#include "fuzz.h"

static void harmless(struct str s)
{
	uint32_t c;

	HOLDS(utf8_valid(s));
	for (size_t i = 0; i < s.len;) {
		i += utf8_decode(s, i, &c);
		HOLDS(c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0));
	}
}

static void put(void *data, uint32_t c)
{
	HOLDS(c == '\n' || c == '\r' || c == '\b' || c >= 0x20);
	HOLDS(c != 0x7f && !(c >= 0x80 && c < 0xa0) && c != UTF8_INVALID);
	utf8_add(data, c);
}

/* However a stream is cut into pieces, the same characters come out. */
static void feed_in_pieces(struct str text, size_t piece, struct buf *ret)
{
	struct text_filter f = { 0 };

	for (size_t at = 0; at < text.len; at += piece)
		text_filter_feed(&f,
			str_sub(text, at, piece < text.len - at ? piece : text.len - at), put, ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = fuzz_str(data, size);
	struct last_line line = { 0 };
	AUTO_BUF plain = BUF_INIT;
	AUTO_BUF whole = BUF_INIT;
	AUTO_BUF pieces = BUF_INIT;

	text_plain(&plain, text);
	harmless(buf_str(&plain));

	feed_in_pieces(text, size ? size : 1, &whole);
	feed_in_pieces(text, 1, &pieces);
	HOLDS(str_eq(buf_str(&whole), buf_str(&pieces)));
	buf_reset(&pieces);
	feed_in_pieces(text, 3, &pieces);
	HOLDS(str_eq(buf_str(&whole), buf_str(&pieces)));

	for (size_t at = 0; at < text.len; at += 7)
		last_line_feed(&line, str_sub(text, at, text.len - at < 7 ? text.len - at : 7));
	harmless(last_line_text(&line));
	HOLDS(line.text.len <= LAST_LINE_BYTES + 4);
	last_line_done(&line);
	return 0;
}
