#pragma once

#include "base/buf.h"

/* Changes one member of a JSON object as text, so that all else stays as its author wrote it:
 * order, indentation, spelling of numbers, line ends, byte order mark.
 *
 * Adds the new text to `ret` and returns true. False, with `ret` as it was, when the text is not an
 * object.
 *
 * Sets the member `name` to `json_value`, which is JSON. It replaces the value of that member, of
 * duplicates the last one, as that is the one that counts. A new member comes last, or before
 * `template` when that is last, since people read a recipe from its description to its template.
 * Both are spelled as the members around them: on one line, or one member a line. */
bool edit_set_member(struct str text, struct str name, struct str json_value, struct buf *ret);
/* Takes the member `name` out, duplicates too, with the comma and the white space that set it off
 * from its neighbours. There need not be one. */
bool edit_remove_member(struct str text, struct str name, struct buf *ret);
