#pragma once

#include "render/picture/picture.h"
#include "runs/look/look.h"

/* A run as a page and as a picture. Both read what its directory has now, so a run that has not
 * ended is shown as far as it is. */

/* The HTML page of `roux report`. What cannot be read is left out of it; false with an issue added
 * when its events cannot. */
bool run_report(const struct run_look *look, struct buf *b, struct report *r);

/* The graph with the state of every node. False with issues added. */
bool run_picture(
	const struct run_look *look, enum picture_format format, struct buf *b, struct report *r);
