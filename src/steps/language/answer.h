#pragma once

#include "data/json.h"

/* What an agent printed. */

/* The answer: all of it without one newline at its end. */
struct str answer_text(struct str printed);

/* The JSON of an answer, in this order: the whole text; the first fenced block; the first object or
 * array in the text that is not empty; the first empty one. A new reference; NULL with one issue
 * added. `name` is what the text is called there. The time it takes grows with the length of the
 * text, whatever stands in it. */
json_t *answer_json(struct str text, struct str name, struct report *r);
