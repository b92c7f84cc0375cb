#pragma once

#include "base/buf.h"

/* Text for a terminal whose width is not asked for: help is the same everywhere. */
enum { WRAP_COLUMNS = 80 };

/* Adds the words of `text` to the last line of `b`. Lines that follow begin with `indent` spaces.
 * A word too long for any line stays whole. */
void wrap_words(struct buf *b, struct str text, size_t indent);

/* The columns that the last line of `b` has. */
size_t wrap_column(const struct buf *b);

/* A part of a longer text. One whose first line is indented is to be shown as it is. */
struct paragraph {
	struct str text; /* without the newline at its end */
	bool verbatim;
};

/* Takes the next paragraph off `rest`; they are parted by empty lines. False at the end. */
bool paragraph_next(struct str *rest, struct paragraph *ret);
