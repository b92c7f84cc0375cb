#pragma once

#include "base/arena.h"

/* What the chat shows while an agent still writes. */
struct preview {
	struct str text; /* at most MESSAGE_UNITS units; in the arena */
	bool html; /* finished blocks as HTML with the growing tail escaped; else plain text */
};

/* From what has been written so far, without the comments (see text/marks.h). `last` is what was
 * shown before, or NULL. False when there is nothing to show or nothing new. */
bool preview_make(
	struct arena *a, struct str markdown, const struct preview *last, struct preview *ret);
