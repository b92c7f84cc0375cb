#include "http/decode.h"

#include "base/utf8.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool control_allowed(char c, enum decode_place place)
{
	return place == DECODE_FORM && (c == '\t' || c == '\r' || c == '\n');
}

/* Adds one character of the text at *at. */
static bool decode_one(struct str text, size_t *at, enum decode_place place, char *ret)
{
	char c = text.p[*at];

	if (c == '%') {
		int high = text.len - *at > 2 ? hex_digit(text.p[*at + 1]) : -1;
		int low = text.len - *at > 2 ? hex_digit(text.p[*at + 2]) : -1;

		if (high < 0 || low < 0)
			return false;
		c = (char)(high * 16 + low);
		*at += 2;
	} else if (c == '+' && place != DECODE_SEGMENT) {
		c = ' ';
	}
	++*at;
	*ret = c;
	if (((unsigned char)c < ' ' || c == 0x7f) && !control_allowed(c, place))
		return false;
	return c != '/' || place != DECODE_SEGMENT;
}

bool decode_text(struct arena *a, struct str text, enum decode_place place, struct str *ret)
{
	char *out = arena_alloc(a, text.len + 1);
	size_t len = 0;

	for (size_t at = 0; at < text.len;)
		if (!decode_one(text, &at, place, &out[len++]))
			return false;
	struct str s = { out, len };
	if (!utf8_valid(s) ||
		(place == DECODE_SEGMENT && (str_eq(s, S(".")) || str_eq(s, S("..")))))
		return false;
	*ret = s;
	return true;
}

bool decode_path(struct arena *a, struct str path, struct str ret[HTTP_SEGMENTS_MAX], size_t *count)
{
	size_t n = 0;

	if (!path.len || path.p[0] != '/')
		return false;
	for (size_t at = 1; at <= path.len;) {
		size_t end = str_find(path, '/', at);

		if (n == HTTP_SEGMENTS_MAX ||
			!decode_text(a, str_sub(path, at, end - at), DECODE_SEGMENT, &ret[n++]))
			return false;
		at = end + 1;
	}
	*count = n;
	return true;
}

const char *decode_fields(
	struct arena *a, struct str text, enum decode_place place, http_field_vec *ret)
{
	for (size_t at = 0; at < text.len;) {
		size_t end = str_find(text, '&', at);
		struct str part = str_sub(text, at, end - at);
		size_t equals = str_find(part, '=', 0);
		struct http_field f = { S(""), S("") };

		at = end + 1;
		if (!part.len)
			continue;
		if (ret->len == HTTP_FIELDS_MAX)
			return "it has more than 256 fields";
		if (!decode_text(a, str_sub(part, 0, equals), place, &f.name) ||
			(equals < part.len &&
				!decode_text(a, str_from(part, equals + 1), place, &f.value)))
			return "it is not properly encoded";
		vec_push(ret, f);
	}
	return NULL;
}

bool decode_cookie(struct str header, struct str name, struct str *ret)
{
	size_t found = 0;

	for (size_t at = 0; at < header.len;) {
		size_t end = str_find(header, ';', at);
		struct str part = str_trim(str_sub(header, at, end - at));
		size_t equals = str_find(part, '=', 0);

		at = end + 1;
		if (equals < part.len && str_eq(str_sub(part, 0, equals), name) && !found++)
			*ret = str_from(part, equals + 1);
	}
	return found == 1;
}

enum range_kind decode_range(struct str header, uint64_t size, uint64_t *from, uint64_t *to)
{
	uint64_t first, last;
	struct str s = str_trim(header);

	if (!str_starts(s, S("bytes=")))
		return RANGE_NONE;
	s = str_trim(str_from(s, 6));
	size_t dash = str_find(s, '-', 0);
	if (dash == s.len)
		return RANGE_NONE;
	struct str low = str_sub(s, 0, dash), high = str_from(s, dash + 1);
	if (!low.len) {
		if (!str_to_uint(high, &last))
			return RANGE_NONE;
		if (!last || !size)
			return RANGE_BEYOND;
		*from = last < size ? size - last : 0;
		*to = size;
		return RANGE_PART;
	}
	if (!str_to_uint(low, &first))
		return RANGE_NONE;
	last = UINT64_MAX;
	if (high.len && (!str_to_uint(high, &last) || last < first))
		return RANGE_NONE;
	if (first >= size)
		return RANGE_BEYOND;
	*from = first;
	*to = last >= size ? size : last + 1;
	return RANGE_PART;
}

bool decode_etags(struct str header, struct str etag)
{
	if (str_eq(str_trim(header), S("*")))
		return true;
	for (size_t at = 0; at < header.len;) {
		size_t end = str_find(header, ',', at);
		struct str one = str_trim(str_sub(header, at, end - at));

		if (str_starts(one, S("W/")))
			one = str_from(one, 2);
		if (str_eq(one, etag))
			return true;
		at = end + 1;
	}
	return false;
}

struct str decode_media_type(struct str header)
{
	return str_trim(str_sub(header, 0, str_find(header, ';', 0)));
}

bool decode_lists(struct str header, struct str word)
{
	for (size_t at = 0; at < header.len;) {
		size_t end = str_find(header, ',', at);

		if (str_eq_nocase(decode_media_type(str_sub(header, at, end - at)), word))
			return true;
		at = end + 1;
	}
	return false;
}

bool decode_is_token(struct str s)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];
		bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';

		if (!letter && !ascii_digit(c) && (!c || !strchr(marks, c)))
			return false;
	}
	return s.len > 0;
}

bool decode_is_visible(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (((unsigned char)s.p[i] < ' ' && s.p[i] != '\t') || s.p[i] == 0x7f)
			return false;
	return true;
}
