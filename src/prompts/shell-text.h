#pragma once

#include "base/report.h"
#include "base/vec.h"
#include "prompts/placeholders.h"

/* A walk over shell text as a POSIX shell would read it, to find the placeholders and the kind of
 * place that each stands in. Where the text is so exotic that the walk misjudges a place, a value
 * can end up as a literal reference or as several words, but never as something executed: values
 * are not in the text at all (see compile.h). */

enum quoting {
	QUOTE_NONE,
	QUOTE_SINGLE,
	QUOTE_DOUBLE,
	QUOTE_ANSI,     /* $'…' */
	QUOTE_DOCUMENT, /* the text of a here-document that the shell expands */
};

struct shell_hole {
	size_t offset, length;
	enum prompt_placeholder placeholder;
	enum quoting quoting;
	bool backquoted; /* somewhere inside back quotes */
};

struct shell_walk {
	VEC(struct shell_hole) holes; /* in order */
	size_t open;           /* offset of a quote or bracket that never ends; SIZE_MAX: none */
	const char *open_what; /* "'", "\"", "$(" … */
};

/* Finds the placeholders of `kinds` that are the author's: not those in comments, ${…} and
 * arithmetic, which belong to the shell. */
void shell_walk(struct str text, unsigned kinds, struct shell_walk *ret);
void shell_walk_done(struct shell_walk *w);

/* Adds `s` as one word of a shell that means exactly these bytes (without NUL). For showing a
 * command, never for executing it. Words that need no quotes get none. */
void shell_quote(struct buf *b, struct str s);
/* The same, with quotes in any case. */
void shell_quote_always(struct buf *b, struct str s);
