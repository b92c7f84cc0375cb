#pragma once

#include "app/record/launch.h"

/* What has the value of a --secret-env in it, so that it can be written down: that value is kept
 * nowhere, its name stands in its place. */

/* A text: as it is, or an array of its pieces: ["pg://me:", {"secret": "pin"}, "@host/"]. A new
 * reference. */
json_t *secret_in_pieces(const struct launch *l, struct str text);
/* Adds the whole again, with what the environment has now. Of the launch only the names of
 * variables are looked at. False: a variable is not set, MASKED stays in its place. */
bool secret_add_whole(const struct launch *l, const json_t *kept, struct buf *text);

/* A value at whatever depth: a new reference. */
json_t *secret_value_in_pieces(const struct launch *l, const json_t *value);
/* The value that it was: a new reference. */
json_t *secret_whole_value(const struct launch *l, const json_t *kept);
