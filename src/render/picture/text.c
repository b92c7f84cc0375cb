#include "render/picture/text.h"

#include "base/lang.h"
#include "base/utf8.h"

enum {
	WIDTH_ELLIPSIS = 100,
	CHARACTERS_PER_COLUMN = 4, /* so that a pile of combining marks ends as well */
};

struct span {
	uint32_t first, last;
};

/* Direction overrides and isolates: they could show a command in another order than it runs. */
static const struct span invisible[] = {
	{ 0x200E, 0x200F },
	{ 0x2028, 0x202E },
	{ 0x2066, 0x206F },
	{ 0xFEFF, 0xFEFF },
	{ 0xFFF9, 0xFFFB },
};

struct range {
	uint32_t last;
	unsigned width;
};

/* Fonts at hand differ: a column is 0.55 to 0.62 of the size, and what a monospace font lacks comes
 * from another font, up to 1.3 wide. A few signs are words or whole sentences. */
static const struct range ranges[] = {
	{ 0x02FF, PICTURE_COLUMN },
	{ 0x036F, 0 }, /* combining marks */
	{ 0x052F, PICTURE_COLUMN },
	{ 0x1FFF, 130 },
	{ 0x200A, 100 },
	{ 0x200D, 0 },
	{ 0x2027, 100 },
	{ 0x20CF, 100 },
	{ 0x20FF, 0 }, /* combining marks for symbols */
	{ 0x2BFF, 130 },
	{ 0xFDEF, 130 },
	{ 0xFDFF, 1200 }, /* ligatures of whole phrases */
	{ 0xFE0F, 0 },    /* variation selectors */
	{ 0x11FFF, 130 },
	{ 0x1254F, 500 }, /* cuneiform */
	{ 0x10FFFF, 130 },
};

static unsigned width_of(uint32_t c)
{
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (c <= ranges[i].last)
			return ranges[i].width;
	return 130;
}

uint32_t picture_clean(uint32_t c, bool lines)
{
	if (c == '\n' && lines)
		return c;
	if (c == '\n' || c == '\t' || c == '\r')
		return ' ';
	if (c < 0x20)
		return 0x2400 + c; /* a small picture of the control character */
	if (c == 0x7F)
		return 0x2421;
	if (c > 0x10FFFF || (c >= 0x80 && c < 0xA0) || (c & 0xFFFE) == 0xFFFE)
		return 0xFFFD; /* UTF8_INVALID among them */
	for (size_t i = 0; i < ARRAY_SIZE(invisible); i++)
		if (c >= invisible[i].first && c <= invisible[i].last)
			return 0xFFFD;
	return c;
}

static struct str cleaned(struct arena *a, struct str s, bool lines)
{
	AUTO_BUF b = BUF_INIT;
	uint32_t c;

	s = utf8_trim(s);
	for (size_t at = 0; at < s.len;) {
		at += utf8_decode(s, at, &c);
		utf8_add(&b, picture_clean(c, lines));
	}
	return arena_str(a, buf_str(&b));
}

struct str picture_line(struct arena *a, struct str s)
{
	return cleaned(a, s, false);
}

struct str picture_lines(struct arena *a, struct str s)
{
	return cleaned(a, s, true);
}

unsigned picture_width(struct str s)
{
	unsigned width = 0;
	uint32_t c;

	for (size_t at = 0; at < s.len;) {
		at += utf8_decode(s, at, &c);
		width += width_of(c);
	}
	return width;
}

struct str picture_cut(struct arena *a, struct str s, unsigned columns)
{
	unsigned max = columns * PICTURE_COLUMN;
	unsigned most = columns * CHARACTERS_PER_COLUMN;
	unsigned width = 0;
	unsigned count = 0;
	size_t fits = 0; /* bytes that leave room for the ellipsis */
	uint32_t c;

	for (size_t at = 0; at < s.len;) {
		size_t len = utf8_decode(s, at, &c);

		width += width_of(c);
		if (width > max || ++count > most)
			return arena_printf(a, "%.*s…", STR(utf8_trim(str_sub(s, 0, fits))));
		at += len;
		if (width + WIDTH_ELLIPSIS <= max)
			fits = at;
	}
	return s;
}
