#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A borrowed view of bytes. Passed by value; not NUL-terminated; may contain NUL. */
struct str {
	const char *p;
	size_t len;
};

/* A string literal as a view, and the two arguments of "%.*s". */
#define S(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
#define STR(s) (int)((s).len > 0x7fffffff ? 0x7fffffff : (s).len), (s).p

static inline struct str str_of(const char *text)
{
	return (struct str){ text ? text : "", text ? strlen(text) : 0 };
}

static inline struct str str_sub(struct str s, size_t from, size_t len)
{
	return (struct str){ s.p + from, len };
}

static inline struct str str_from(struct str s, size_t from)
{
	return (struct str){ s.p + from, s.len - from };
}

bool str_eq(struct str a, struct str b);
int str_cmp(struct str a, struct str b);
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
/* Offset of the first `c` at or after `from`, or s.len. */
size_t str_find(struct str s, char c, size_t from);
bool str_contains(struct str s, struct str part);
/* Without ASCII white space at both ends. */
struct str str_trim(struct str s);
bool str_eq_nocase(struct str a, struct str b);

/* The whole of `s` as a decimal number; false when it is not one or does not fit. */
bool str_to_int(struct str s, int64_t *ret);
bool str_to_uint(struct str s, uint64_t *ret);

static inline bool ascii_digit(char c)
{
	return c >= '0' && c <= '9';
}
