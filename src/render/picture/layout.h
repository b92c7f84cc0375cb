#pragma once

#include "render/picture/model.h"

/* Sizes of the drawing, in pixels. */
enum {
	SIZE_TITLE = 16, /* font sizes */
	SIZE_LABEL = 13,
	SIZE_COMMAND = 12,
	SIZE_SMALL = 11,
	PAD = 14,       /* between a box and its text */
	GROUP_PAD = 22, /* between a frame and what is in it */
	HEADER = 24,    /* height of a group's first line */
	LINE_LABEL = 19,
	LINE_DETAIL = 17,
	MARK_HEIGHT = 18,
	MARK_PAD = 8,
	BAR = 6,    /* thickness of fork and join */
	STACK = 10, /* how far the copies behind a box look out */
	DOT = 18,
	MARGIN = 32,
};

#define BETWEEN_ATTEMPTS "between attempts"

/* Gives every item its place, measured from the top left corner of the picture. */
void picture_layout(struct picture *p, int *width, int *height);

/* Pixels a text needs at most at that font size. */
int text_pixels(struct str s, int size);
/* Of the word before a title, with the gap behind it. */
int word_pixels(const struct item *i);
