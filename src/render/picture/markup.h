#pragma once

#include "base/buf.h"

/* Bytes of any kind as text of an HTML page: nothing in them can end the element or the quoted
 * attribute that they stand in, nothing is invisible, and what is not UTF-8 is U+FFFD. */

/* One character: what XML itself uses is written in its other form. */
void markup_char(struct buf *b, uint32_t c);
/* On one line. */
void markup_text(struct buf *b, struct str s);
/* The same, its line ends kept. */
void markup_lines(struct buf *b, struct str s);
/* What a command printed: without the escape sequences that are meant for a terminal. Bytes that
 * are not text at all become a table of hexadecimal numbers. */
void markup_output(struct buf *b, struct str s);
