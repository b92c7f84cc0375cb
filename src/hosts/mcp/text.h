#pragma once

#include "app/logs.h"
#include "base/buf.h"

/* A part of a longer text without the pieces of characters that were cut at its ends; *ret_skipped
 * (may be NULL) is how many bytes the first one lost. */
struct str text_whole(struct str part, size_t *ret_skipped);
/* A part of a log, narrowed to whole characters where it was cut; `f` says then where that is. */
struct str text_window(struct str part, struct log_found *f);

/* Places of this machine are not for clients: the working directory becomes `.`, the home `~`. */
void text_hide_places(struct buf *text, struct app *a);
/* The same, and what is left of absolute paths becomes `…`. */
void text_hide_paths(struct buf *text, struct app *a);
