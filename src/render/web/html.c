#include "render/web/html.h"

#include <inttypes.h>

#include "base/bidi.h"
#include "base/clock.h"
#include "base/utf8.h"

void shown_char(struct buf *b, uint32_t c)
{
	if (c == UTF8_INVALID)
		utf8_add(b, 0xfffd);
	else if (c < 0x20 && c != '\n' && c != '\t')
		utf8_add(b, 0x2400 + c); /* the picture of that control character */
	else if (c == 0x7f)
		utf8_add(b, 0x2421);
	else if ((c >= 0x80 && c < 0xa0) || bidi_mark(c) || c == 0x2028 || c == 0x2029 ||
		 c == 0xfeff || (c & 0xfffe) == 0xfffe)
		buf_printf(b, "⟦U+%04" PRIX32 "⟧", c);
	else
		utf8_add(b, c);
}

void shown_text(struct buf *b, struct str s)
{
	uint32_t c;

	for (size_t at = 0; at < s.len;) {
		at += utf8_decode(s, at, &c);
		shown_char(b, c);
	}
}

static bool escape(struct buf *b, uint32_t c)
{
	switch (c) {
	case '&':
		buf_adds(b, "&amp;");
		return true;
	case '<':
		buf_adds(b, "&lt;");
		return true;
	case '>':
		buf_adds(b, "&gt;");
		return true;
	case '"':
		buf_adds(b, "&quot;");
		return true;
	case '\'':
		buf_adds(b, "&#39;");
		return true;
	default:
		return false;
	}
}

static bool is_plain(char c)
{
	return c >= ' ' && c <= '~' && c != '&' && c != '<' && c != '>' && c != '"' && c != '\'';
}

static void write_escaped(struct buf *b, struct str s, bool one_line)
{
	uint32_t c;

	for (size_t at = 0; at < s.len;) {
		size_t plain = at;

		while (plain < s.len && is_plain(s.p[plain]))
			plain++;
		if (plain > at) {
			buf_add(b, str_sub(s, at, plain - at));
			at = plain;
			continue;
		}
		at += utf8_decode(s, at, &c);
		if (one_line && (c == '\n' || c == '\t'))
			buf_addc(b, ' ');
		else if (!escape(b, c))
			shown_char(b, c);
	}
}

void html_text(struct buf *b, struct str s)
{
	write_escaped(b, s, false);
}

void html_attr(struct buf *b, struct str s)
{
	write_escaped(b, s, true);
}

void html_url(struct buf *b, struct str s)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			c == '-' || c == '.' || c == '_' || c == '~') {
			buf_addc(b, (char)c);
			continue;
		}
		buf_addc(b, '%');
		buf_addc(b, hex[c >> 4]);
		buf_addc(b, hex[c & 15]);
	}
}

void html_cut(struct buf *b, struct str s, size_t max)
{
	struct str head = utf8_head(s, max);

	html_attr(b, head);
	if (head.len < s.len)
		buf_adds(b, "…");
}

void html_time(struct buf *b, uint64_t real_ms)
{
	AUTO_BUF text = BUF_INIT;

	if (!real_ms) {
		buf_adds(b, "–");
		return;
	}
	clock_rfc3339(&text, real_ms);
	if (text.len < 19)
		return;
	buf_printf(
		b, "<time datetime=\"%s\">%.10s %.8s</time>", buf_cstr(&text), text.p, text.p + 11);
}
