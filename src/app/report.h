#pragma once

#include "base/report.h"
#include "render/picture.h"

/* A run directory as a page and as a picture. Both read what is there now, so a run that has not
 * ended is shown as far as it is. */

/* The HTML page of `roux report`. What cannot be read is left out of it; false with an issue added
 * when there is no run to read. */
bool run_report(const char *dir, struct buf *b, struct report *r);

/* The graph with the state of every node. False with issues added. */
bool run_picture(const char *dir, enum picture_format format, struct buf *b, struct report *r);
