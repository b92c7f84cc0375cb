#pragma once

#include "base/buf.h"
#include "base/str.h"

/* Decodes the character at s.p[at] and returns its length in bytes. A byte that begins no valid
 * character counts as one of length 1 with *ret = UTF8_INVALID. `at` must be below s.len. */
#define UTF8_INVALID 0xFFFFFFFFu
size_t utf8_decode(struct str s, size_t at, uint32_t *ret);

bool utf8_valid(struct str s);
/* Offset of the first byte that is not valid UTF-8, or s.len. */
size_t utf8_find_invalid(struct str s);
size_t utf8_count(struct str s);
/* The longest beginning of at most `max` characters. */
struct str utf8_head(struct str s, size_t max);
/* The longest beginning of at most `max` bytes that does not cut a character in two. */
struct str utf8_cut(struct str s, size_t max);
/* Adds that, and … when there is more: what hides secrets sees there that it is cut. */
void utf8_add_short(struct buf *b, struct str s, size_t max);
/* The same at the other end. */
struct str utf8_tail(struct str s, size_t max);
void utf8_add(struct buf *b, uint32_t c);

/* White space as the template language has it (docs/reference.md, "Command lines"). */
bool utf8_blank(uint32_t c);
struct str utf8_trim(struct str s);
