#include "base/utf8.h"

size_t utf8_decode(struct str s, size_t at, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)s.p + at;
	size_t left = s.len - at;
	size_t n;
	uint32_t c;

	if (p[0] < 0x80) {
		*ret = p[0];
		return 1;
	}
	*ret = UTF8_INVALID;
	if (p[0] >= 0xC2 && p[0] <= 0xDF) {
		n = 2;
		c = p[0] & 0x1Fu;
	} else if (p[0] >= 0xE0 && p[0] <= 0xEF) {
		n = 3;
		c = p[0] & 0x0Fu;
	} else if (p[0] >= 0xF0 && p[0] <= 0xF4) {
		n = 4;
		c = p[0] & 0x07u;
	} else {
		return 1;
	}
	if (left < n)
		return 1;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return 1;
		c = c << 6 | (p[i] & 0x3Fu);
	}
	if (c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
		return 1;
	*ret = c;
	return n;
}

size_t utf8_find_invalid(struct str s)
{
	uint32_t c;

	for (size_t i = 0; i < s.len;) {
		size_t n = utf8_decode(s, i, &c);

		if (c == UTF8_INVALID)
			return i;
		i += n;
	}
	return s.len;
}

bool utf8_valid(struct str s)
{
	return utf8_find_invalid(s) == s.len;
}

size_t utf8_count(struct str s)
{
	size_t count = 0;
	uint32_t c;

	for (size_t i = 0; i < s.len; i += utf8_decode(s, i, &c))
		count++;
	return count;
}

struct str utf8_head(struct str s, size_t max)
{
	size_t end = 0;
	uint32_t c;

	for (; max && end < s.len; max--)
		end += utf8_decode(s, end, &c);
	return str_sub(s, 0, end);
}

struct str utf8_cut(struct str s, size_t max)
{
	size_t end = MIN(s.len, max);

	if (end == s.len)
		return s;
	for (size_t back = 0; back < 4 && end > back; back++) {
		size_t at = end - back;
		uint32_t c;

		if (((unsigned char)s.p[at] & 0xC0) == 0x80)
			continue;
		/* `at` begins a character: cut before it, unless the bytes are not text anyway. */
		(void)utf8_decode(s, at, &c);
		return str_sub(s, 0, c == UTF8_INVALID ? end : at);
	}
	return str_sub(s, 0, end);
}

void utf8_add_short(struct buf *b, struct str s, size_t max)
{
	struct str head = utf8_cut(s, max);

	buf_add(b, head);
	buf_adds(b, head.len < s.len ? "…" : "");
}

struct str utf8_tail(struct str s, size_t max)
{
	if (s.len <= max)
		return s;
	size_t from = s.len - max;
	for (size_t i = 0; i < 3 && from < s.len && ((unsigned char)s.p[from] & 0xC0) == 0x80; i++)
		from++;
	return str_from(s, from);
}

void utf8_add(struct buf *b, uint32_t c)
{
	char out[4];
	size_t n;

	if (c < 0x80) {
		out[0] = (char)c;
		n = 1;
	} else if (c < 0x800) {
		out[0] = (char)(0xC0 | c >> 6);
		n = 2;
	} else if (c < 0x10000) {
		out[0] = (char)(0xE0 | c >> 12);
		n = 3;
	} else {
		out[0] = (char)(0xF0 | c >> 18);
		n = 4;
	}
	for (size_t i = 1; i < n; i++)
		out[i] = (char)(0x80 | (c >> (6 * (n - 1 - i)) & 0x3F));
	buf_add(b, (struct str){ out, n });
}

bool utf8_blank(uint32_t c)
{
	return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0xA0 || c == 0x1680 ||
	       (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
	       c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

struct str utf8_trim(struct str s)
{
	size_t end = 0;
	bool begun = false;
	size_t begin = s.len;
	uint32_t c;

	for (size_t i = 0; i < s.len;) {
		size_t n = utf8_decode(s, i, &c);

		if (!utf8_blank(c)) {
			begin = begun ? begin : i;
			begun = true;
			end = i + n;
		}
		i += n;
	}
	return begun ? str_sub(s, begin, end - begin) : str_sub(s, 0, 0);
}
