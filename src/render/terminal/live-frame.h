#pragma once

#include "render/terminal/live-tree.h"

/* How a frame may look. */
struct live_style {
	bool colour;
	bool ascii; /* nothing but ASCII, because the terminal has no other characters */
};

/* Draws the tree as it is at `mono_ms` into `ret`, lines separated by '\n': none is wider than
 * columns - 1, and there are at most `rows` - 1 of them. What does not fit is counted in a line of
 * its own; the commands that have run longest stay. */
void live_frame(struct live_tree *t, struct live_style style, unsigned columns, unsigned rows,
	uint64_t mono_ms, struct buf *ret);
