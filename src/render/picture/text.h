#pragma once

#include "base/arena.h"

/* Text as it can stand in a picture: valid UTF-8 without control characters, invisible direction
 * marks or anything XML refuses. Line ends become spaces in a line and stay in lines. */
struct str picture_line(struct arena *a, struct str s);
struct str picture_lines(struct arena *a, struct str s);

/* One character of it: itself, or what is shown in its place. */
uint32_t picture_clean(uint32_t c, bool lines);

/* How wide a line of clean text is at most, in hundredths of the font's size, whatever monospace
 * font is at hand. */
unsigned picture_width(struct str s);

/* One column of such a font. */
enum { PICTURE_COLUMN = 62 };

/* The clean line `s`, or its beginning and an ellipsis when it is wider than `columns`. */
struct str picture_cut(struct arena *a, struct str s, unsigned columns);
