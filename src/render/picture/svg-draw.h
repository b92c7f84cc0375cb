#pragma once

#include "render/picture/layout.h"

/* What the parts of the SVG writer share. */

enum side { SIDE_LEFT, SIDE_RIGHT, SIDE_UP, SIDE_DOWN };

/* Text inside an element; it is clean already (render/picture/text.h). */
void svg_text(struct buf *b, struct str s);
/* One line; `y` is its middle. */
void svg_line_of_text(struct buf *b, const char *class, int x, int y, int size, struct str s);
void svg_rect(struct buf *b, const char *class, int x, int y, int w, int h, int round);
void svg_line(struct buf *b, const char *class, int x1, int y1, int x2, int y2);
/* A triangle that touches (x, y) and points to that side. `class` begins with a space. */
void svg_head(struct buf *b, int x, int y, enum side side, const char *class);
/* The flags and the state of an item. */
void svg_marks(struct buf *b, const struct item *i);

/* Of step recipes: svg-steps.c. */
void svg_steps_style(struct buf *b);
void svg_oval(struct buf *b, const struct item *i);
void svg_diamond(struct buf *b, const struct item *i);
void svg_skip(struct buf *b, const struct item *condition, const struct item *to);
/* What the signs of the picture mean, from `y` on; returns how high it is. */
int svg_legend(struct buf *b, const struct picture *p, int y, int width);
