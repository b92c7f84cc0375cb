#include "base/str.h"

bool str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

int str_cmp(struct str a, struct str b)
{
	size_t common = a.len < b.len ? a.len : b.len;
	int r = common ? memcmp(a.p, b.p, common) : 0;

	if (r)
		return r;
	return a.len < b.len ? -1 : a.len > b.len;
}

bool str_starts(struct str s, struct str prefix)
{
	return s.len >= prefix.len && str_eq(str_sub(s, 0, prefix.len), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
	return s.len >= suffix.len && str_eq(str_from(s, s.len - suffix.len), suffix);
}

size_t str_find(struct str s, char c, size_t from)
{
	const char *hit = from < s.len ? memchr(s.p + from, c, s.len - from) : NULL;

	return hit ? (size_t)(hit - s.p) : s.len;
}

bool str_contains(struct str s, struct str part)
{
	return part.len == 0 || (s.len && memmem(s.p, s.len, part.p, part.len) != NULL);
}

static bool ascii_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
	while (s.len && ascii_blank(s.p[0]))
		s = str_from(s, 1);
	while (s.len && ascii_blank(s.p[s.len - 1]))
		s.len--;
	return s;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool str_eq_nocase(struct str a, struct str b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++)
		if (lower(a.p[i]) != lower(b.p[i]))
			return false;
	return true;
}

bool str_to_uint(struct str s, uint64_t *ret)
{
	uint64_t n = 0;

	if (s.len == 0)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (!ascii_digit(s.p[i]))
			return false;
		if (__builtin_mul_overflow(n, (uint64_t)10, &n) ||
			__builtin_add_overflow(n, (uint64_t)(s.p[i] - '0'), &n))
			return false;
	}
	*ret = n;
	return true;
}

bool str_to_int(struct str s, int64_t *ret)
{
	bool negative = s.len && s.p[0] == '-';
	uint64_t n;

	if (!str_to_uint(negative ? str_from(s, 1) : s, &n))
		return false;
	if (n > (uint64_t)INT64_MAX + negative)
		return false;
	*ret = negative ? (int64_t)(0 - n) : (int64_t)n;
	return true;
}
