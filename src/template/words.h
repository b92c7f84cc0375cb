#pragma once

#include "base/arena.h"

/* A word of a command line after splitting; its placeholders are still in it. */
struct word {
	struct str text;
	bool quoted; /* some part stood in quotes: it stays an argument even when empty */
};

/* Splits as a shell would, without a shell: spaces, '…', "…" and backslash, nothing else
 * (docs/reference.md, "Command lines"). Returns how many words there are. Everything is in the
 * arena.
 */
size_t words_split(struct arena *a, struct str line, struct word **ret);

/* Whether a quote is still open at the end: the last word then extends to the end. */
bool words_unclosed(struct str line);

/* Where byte `at` of word `n` stands in `line`: for diagnostics, by splitting once more. */
size_t words_locate(struct str line, size_t n, size_t at);
