#pragma once

#include "data/doc.h"

/* Conditions: `condition`, `while_condition`, `break_when` (docs/steps.md, "Conditions"). Nothing
 * in them is executed; references are values and not text, so what they hold cannot change what an
 * expression means. */
enum condition {
	CONDITION_FALSE,
	CONDITION_TRUE,
	CONDITION_UNDEFINED, /* a reference has no value, or null */
	CONDITION_BAD,       /* no valid expression, or a list or mapping in it */
};

/* Decides it; blank is true. The last two come with one issue added. `place` is that of the text;
 * NULL: it stands nowhere. `vars` may be NULL: no variables. */
enum condition condition_decide(
	struct str text, const struct place *place, const json_t *vars, struct report *r);

/* Whether it could be decided, whatever the references stand for. False with one issue added. */
bool condition_check(struct str text, const struct place *place, struct report *r);
