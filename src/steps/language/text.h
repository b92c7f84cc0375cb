#pragma once

#include "template/text.h"

/* The `{{name}}` dialect of texts: step recipes. Resolved with the variables of the scope; decided
 * as a condition; its value is the value itself when it is nothing but one reference. The text and
 * the place must live as long as the arena. */
const struct text *step_text(struct arena *a, struct str raw, const struct place *place);

/* For `foreach`: the text is nothing but one reference, to a list or to a text that is a JSON
 * array. A new reference; NULL with one issue added. */
json_t *step_text_list(const struct text *t, const struct scope *s, struct report *r);

enum { STEP_TEXT_MAX = 256 << 20 }; /* bytes that a text may grow to */

/* Appends `raw` with its references replaced, in one pass: what came from a value is not looked at
 * again. False with one issue added. */
bool step_text_substitute(struct str raw, const struct place *place, const json_t *vars,
	struct buf *ret, struct report *r);
