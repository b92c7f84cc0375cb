#pragma once

#include "app/runs.h"

/* Runs and recipes to look at. A run that has not ended is shown as far as it is. */

/* The HTML page of `roux report`. What cannot be read is left out of it; false with an issue added
 * when its events cannot. */
bool run_report(struct run_handle *h, struct buf *b, struct report *r);

/* The graph with the state of every node; `format` is an enum picture_format of
 * render/picture/picture.h. False with issues added. */
bool run_picture(struct run_handle *h, unsigned format, struct buf *b, struct report *r);
/* The graph of a recipe or template; a step recipe is titled by its own name. */
void recipe_picture(const struct recipe_ref *ref, unsigned format, struct str title, struct buf *b);
