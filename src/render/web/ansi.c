#include "render/web/ansi.h"

#include <limits.h>
#include <string.h>

#include "base/lang.h"
#include "base/utf8.h"
#include "render/web/html.h"

enum { ESC = 0x1b, BEL = 0x07, PARAMETERS_MAX = 32 };

/* -- colours -------------------------------------------------------------------------------------
 */

static const uint8_t palette[16][3] = { { 0, 0, 0 }, { 205, 0, 0 }, { 0, 205, 0 }, { 205, 205, 0 },
	{ 0, 0, 238 }, { 205, 0, 205 }, { 0, 205, 205 }, { 229, 229, 229 }, { 127, 127, 127 },
	{ 255, 0, 0 }, { 0, 255, 0 }, { 255, 255, 0 }, { 92, 92, 255 }, { 255, 0, 255 },
	{ 0, 255, 255 }, { 255, 255, 255 } };

static uint8_t nearest(int red, int green, int blue)
{
	int best = INT_MAX;
	uint8_t found = 0;

	for (uint8_t i = 0; i < 16; i++) {
		int r = red - palette[i][0], g = green - palette[i][1], b = blue - palette[i][2];
		int distance = r * r + g * g + b * b;

		if (distance < best) {
			best = distance;
			found = i;
		}
	}
	return (uint8_t)(found + 1);
}

static uint8_t of_256(unsigned n)
{
	static const int steps[] = { 0, 95, 135, 175, 215, 255 };

	if (n < 16)
		return (uint8_t)(n + 1);
	if (n >= 232) {
		int grey = 8 + (int)(n - 232) * 10;

		return nearest(grey, grey, grey);
	}
	n -= 16;
	return nearest(steps[n / 36], steps[n / 6 % 6], steps[n % 6]);
}

/* 38;5;N and 38;2;R;G;B. Returns how many parameters it took behind the first. */
static size_t extended(const unsigned *p, size_t count, uint8_t *ret)
{
	if (count >= 3 && p[1] == 5) {
		*ret = of_256(p[2] & 255);
		return 2;
	}
	if (count >= 5 && p[1] == 2) {
		*ret = nearest((int)(p[2] & 255), (int)(p[3] & 255), (int)(p[4] & 255));
		return 4;
	}
	return count;
}

static void set_flag(struct ansi_style *s, unsigned n)
{
	static const uint8_t on[10] = { [1] = ANSI_BOLD,
		[2] = ANSI_DIM,
		[3] = ANSI_ITALIC,
		[4] = ANSI_UNDERLINE,
		[7] = ANSI_INVERSE };

	if (n == 0)
		*s = (struct ansi_style){ 0 };
	else if (n < 10)
		s->flags |= on[n];
	else if (n == 22)
		s->flags &= (uint8_t) ~(ANSI_BOLD | ANSI_DIM);
	else if (n == 23 || n == 24 || n == 27)
		s->flags &= (uint8_t)~on[n - 20];
}

static void apply(struct ansi_style *s, const unsigned *p, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned n = p[i];

		if (n < 30)
			set_flag(s, n);
		else if (n < 38)
			s->fg = (uint8_t)(n - 30 + 1);
		else if (n == 38)
			i += extended(p + i, count - i, &s->fg);
		else if (n == 39)
			s->fg = 0;
		else if (n < 48)
			s->bg = (uint8_t)(n - 40 + 1);
		else if (n == 48)
			i += extended(p + i, count - i, &s->bg);
		else if (n == 49)
			s->bg = 0;
		else if (n >= 90 && n < 98)
			s->fg = (uint8_t)(n - 90 + 9);
		else if (n >= 100 && n < 108)
			s->bg = (uint8_t)(n - 100 + 9);
	}
}

/* -- sequences -----------------------------------------------------------------------------------
 */

/* From `at`, behind ESC [. Returns the offset behind the sequence. */
static size_t read_csi(struct ansi_style *style, struct str s, size_t at)
{
	unsigned p[PARAMETERS_MAX] = { 0 };
	size_t count = 1;
	bool plain = true;

	for (; at < s.len; at++) {
		unsigned char c = (unsigned char)s.p[at];

		if (ascii_digit((char)c)) {
			if (p[count - 1] < 100000)
				p[count - 1] = p[count - 1] * 10 + (c - '0');
		} else if (c == ';' || c == ':') {
			count += count < PARAMETERS_MAX;
		} else if (c >= 0x40 && c <= 0x7e) {
			if (c == 'm' && plain)
				apply(style, p, count);
			return at + 1;
		} else if (c >= 0x20 && c < 0x40) {
			plain = false;
		} else {
			return at; /* not a sequence after all */
		}
	}
	return at;
}

/* A string up to BEL or ESC \: titles, hyperlinks. */
static size_t skip_string(struct str s, size_t at)
{
	for (; at < s.len; at++) {
		if (s.p[at] == BEL)
			return at + 1;
		if (s.p[at] == ESC)
			return at + 1 < s.len && s.p[at + 1] == '\\' ? at + 2 : at;
	}
	return at;
}

static size_t read_escape(struct ansi_style *style, struct str s, size_t at)
{
	if (++at == s.len)
		return at;
	unsigned char c = (unsigned char)s.p[at];
	if (c == '[')
		return read_csi(style, s, at + 1);
	if (c == ']' || c == 'P' || c == '_' || c == '^' || c == 'X')
		return skip_string(s, at + 1);
	while (at < s.len && s.p[at] >= 0x20 && s.p[at] < 0x30)
		at++;
	return at < s.len && s.p[at] >= 0x30 && s.p[at] < 0x7f ? at + 1 : at;
}

/* Where the part of the line begins that a terminal would show in the end. */
static size_t last_writing(struct str line)
{
	size_t end = line.len;

	while (end && line.p[end - 1] == '\r')
		end--;
	for (size_t i = end; i; i--)
		if (line.p[i - 1] == '\r')
			return i;
	return 0;
}

void ansi_read(struct ansi_style *style, struct str line, ansi_fn *piece, void *data)
{
	size_t from = last_writing(line);
	AUTO_BUF text = BUF_INIT;
	struct ansi_style of_text = *style;

	while (line.len && line.p[line.len - 1] == '\r')
		line.len--;
	for (size_t at = 0; at < line.len;) {
		uint32_t c;

		if (line.p[at] == ESC) {
			size_t behind = read_escape(style, line, at);

			at = MAX(behind, at + 1);
			continue;
		}
		if (at < from) {
			at++;
			continue;
		}
		if (text.len && memcmp(&of_text, style, sizeof(of_text)) != 0) {
			piece(data, buf_str(&text), of_text);
			buf_reset(&text);
		}
		of_text = *style;
		at += utf8_decode(line, at, &c);
		shown_char(&text, c);
	}
	if (text.len)
		piece(data, buf_str(&text), of_text);
}

/* -- writers -------------------------------------------------------------------------------------
 */

static void class_names(struct buf *b, struct ansi_style s)
{
	static const char *const names[] = { "bo", "di", "it", "un", "in" };
	size_t from = b->len;

	if (s.fg)
		buf_printf(b, "f%d", s.fg - 1);
	if (s.bg)
		buf_printf(b, "%sb%d", b->len > from ? " " : "", s.bg - 1);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (s.flags & (1 << i))
			buf_printf(b, "%s%s", b->len > from ? " " : "", names[i]);
}

static bool is_styled(struct ansi_style s)
{
	return s.fg || s.bg || s.flags;
}

static void piece_html(void *data, struct str text, struct ansi_style style)
{
	struct buf *b = data;

	if (is_styled(style)) {
		buf_adds(b, "<span class=\"");
		class_names(b, style);
		buf_adds(b, "\">");
	}
	html_text(b, text);
	if (is_styled(style))
		buf_adds(b, "</span>");
}

void ansi_html(struct buf *b, struct ansi_style *style, struct str line)
{
	ansi_read(style, line, piece_html, b);
}

/* Of a text that is valid UTF-8 without control characters but tabs. */
static void json_text(struct buf *b, struct str s)
{
	buf_addc(b, '"');
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (c == '"' || c == '\\')
			buf_addc(b, '\\');
		if (c == '\t')
			buf_adds(b, "\\t");
		else if (c == '\n')
			buf_adds(b, "\\n");
		else
			buf_addc(b, c);
	}
	buf_addc(b, '"');
}

static void piece_json(void *data, struct str text, struct ansi_style style)
{
	struct buf *b = data;

	if (b->p[b->len - 1] != '[')
		buf_addc(b, ',');
	buf_addc(b, '[');
	json_text(b, text);
	buf_adds(b, ",\"");
	class_names(b, style);
	buf_adds(b, "\"]");
}

void ansi_json(struct buf *b, struct ansi_style *style, struct str line)
{
	buf_addc(b, '[');
	ansi_read(style, line, piece_json, b);
	buf_addc(b, ']');
}

static void piece_plain(void *data, struct str text, struct ansi_style style)
{
	(void)style;
	buf_add(data, text);
}

void ansi_plain(struct buf *b, struct str line)
{
	struct ansi_style style = { 0 };

	ansi_read(&style, line, piece_plain, b);
}
