#pragma once

#include "data/json.h"

/* The values of step recipes as text, and out of text. */

/* How a value reads inside a text: a string byte for byte, null as None, numbers, lists and
 * mappings as Python writes them. Not template_text(), whose rules are those of command templates.
 */
void step_value_render(struct buf *b, const json_t *value);

/* "a list", "a string" …: what a diagnostic says was found. */
const char *step_value_kind(const json_t *value);

/* White space around values and between the words of a condition. */
/* Behind the white space that begins at `at`. */
size_t step_value_skip_blank(struct str text, size_t at);
struct str step_value_trim(struct str s);

/* `text` without the white space around it is exactly one JSON value, of any kind. NULL with one
 * issue added when it is not; `name` is what the text is called there, such as "stdout of a". NaN
 * and Infinity are not JSON here, and a number too large for a double is refused. */
json_t *step_value_from_json(struct str text, struct str name, struct report *r);

/* Text that is JSON: the object or array that the whole of `text` is, a new reference; else NULL.
 */
json_t *step_value_in_text(struct str text);
