#pragma once

#include "base/arena.h"
#include "base/str.h"

/* What of Unicode a message needs: lengths as Telegram counts them, characters as a reader sees
 * them, and how wide they are. Texts are UTF-8; a byte that is not counts as one character. */

/* A letter or a digit of any script. */
bool unicode_alnum(uint32_t c);

/* UTF-16 code units. */
size_t unicode_units(struct str s);
/* The longest beginning of at most `units` units that cuts no cluster. */
struct str unicode_cut(struct str s, size_t units);

/* Valid UTF-8 without NUL: `s` itself, or a copy in the arena with U+FFFD for what is neither. */
struct str unicode_clean(struct arena *a, struct str s);

/* -- grapheme clusters: what a reader takes for one character (UAX #29, extended)
 * ---------------------
 */

/* Where a text is, one character after another. */
struct grapheme {
	unsigned char before;
	bool picture, odd;
};
#define GRAPHEME_INIT ((struct grapheme){ .before = 1 })

/* True when a cluster begins at `c`, the next character of the text. */
bool grapheme_begins(struct grapheme *g, uint32_t c);
/* Where the cluster that begins at `at` ends. */
size_t grapheme_next(struct str s, size_t at);

/* Columns of a text: an emoji, a flag or a keycap 2, East Asian wide ones 2, marks and joiners
 * nothing. */
size_t unicode_width(struct str s);
