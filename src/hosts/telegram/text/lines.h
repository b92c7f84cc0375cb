#pragma once

#include "base/str.h"

/* What a line of Markdown looks like by itself. Lines are without their end. */

enum line_kind {
	LINE_BLANK,
	LINE_TEXT,
	LINE_HEADING,
	LINE_RULE,
	LINE_ITEM,
	LINE_QUOTE,
	LINE_FENCE,
};

struct line {
	enum line_kind kind;
	struct str text;   /* all of it */
	size_t columns;    /* spaces before it; a tab leads to the next multiple of four */
	size_t indent;     /* bytes of them */
	struct str rest;   /* of a heading, an item, a quote: what follows the marks */
	struct str number; /* of an item: "3." as written; empty for a bullet */
	char task;         /* of an item: ' ' or 'x', 0 when it is not a task */
	size_t depth;      /* of a quote */
	char fence;        /* of a fence: ` or ~ */
	size_t fence_len;
};

struct line line_read(struct str text);

/* Whether `text` closes a fence like that one. */
bool line_closes(struct str text, const struct line *fence);
/* The language of a fence, with the characters that a class may have. Writes at most `size` bytes.
 */
size_t line_language(const struct line *fence, char *language, size_t size);

/* The next line of `text` at `*at`, which is moved behind its end. */
struct str line_next(struct str text, size_t *at);
