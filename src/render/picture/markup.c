#include "render/picture/markup.h"

#include "base/plain-text.h"
#include "base/utf8.h"
#include "render/picture/text.h"

enum {
	HEX_ROW = 16,
	HEX_ROWS = 16, /* more of them tell nothing */
};

void markup_char(struct buf *b, uint32_t c)
{
	switch (c) {
	case '&':
		buf_adds(b, "&amp;");
		break;
	case '<':
		buf_adds(b, "&lt;");
		break;
	case '>':
		buf_adds(b, "&gt;");
		break;
	case '"':
		buf_adds(b, "&quot;");
		break;
	case '\'':
		buf_adds(b, "&#39;");
		break;
	default:
		utf8_add(b, c);
	}
}

static void write_text(struct buf *b, struct str s, bool lines)
{
	uint32_t c;

	for (size_t at = 0; at < s.len;) {
		at += utf8_decode(s, at, &c);
		markup_char(b, picture_clean(c, lines));
	}
}

void markup_text(struct buf *b, struct str s)
{
	write_text(b, s, false);
}

void markup_lines(struct buf *b, struct str s)
{
	write_text(b, s, true);
}

/* -- output --------------------------------------------------------------------------------------
 */

struct printed {
	struct buf *b;
	bool returned; /* a carriage return came: the next line feed ends the same line */
};

static void put_printed(void *data, uint32_t c)
{
	struct printed *p = data;

	if (c == '\b')
		return;
	if (p->returned && c != '\n')
		buf_addc(p->b, '\n'); /* a terminal would write over the line; both are shown */
	p->returned = c == '\r';
	if (!p->returned)
		markup_char(p->b, picture_clean(c, true));
}

static bool is_binary(struct str s)
{
	size_t bad = 0;
	uint32_t c;

	if (memchr(s.p, 0, s.len))
		return true;
	for (size_t at = 0; at < s.len;) {
		at += utf8_decode(s, at, &c);
		bad += c == UTF8_INVALID;
	}
	return bad > s.len / 8 + 3; /* an excerpt may begin or end within a character */
}

static void write_hex(struct buf *b, struct str s)
{
	size_t shown = MIN(s.len, (size_t)HEX_ROW * HEX_ROWS);

	for (size_t row = 0; row < shown; row += HEX_ROW) {
		size_t n = MIN(shown - row, (size_t)HEX_ROW);

		buf_printf(b, "%06zx ", row);
		for (size_t i = 0; i < HEX_ROW; i++) {
			if (i < n)
				buf_printf(b, " %02x", (unsigned char)s.p[row + i]);
			else
				buf_adds(b, "   ");
		}
		buf_adds(b, "  ");
		for (size_t i = 0; i < n; i++) {
			unsigned char c = (unsigned char)s.p[row + i];

			markup_char(b, c >= 0x20 && c < 0x7f ? c : '.');
		}
		buf_addc(b, '\n');
	}
	if (shown < s.len)
		buf_printf(b, "… %zu more bytes that are not text\n", s.len - shown);
}

void markup_output(struct buf *b, struct str s)
{
	struct text_filter filter = { 0 };
	struct printed p = { .b = b };

	if (is_binary(s)) {
		write_hex(b, s);
		return;
	}
	/* The filter makes a space of a tab; here columns should stay columns. */
	for (size_t at = 0; at < s.len;) {
		size_t tab = str_find(s, '\t', at);

		text_filter_feed(&filter, str_sub(s, at, tab - at), put_printed, &p);
		if (tab < s.len)
			buf_addc(b, '\t');
		at = tab + 1;
	}
}
