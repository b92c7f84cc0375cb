#pragma once

#include "app/launch/redo.h"

/* Values that are given when a run is continued, or done again in part, are for what is run
 * (docs/runs.md, "Continue it"). A node of which results are kept is opened again to find them, so
 * it has to be what it was then: as many copies, for the same items, under the same name. Values
 * that would make it another are refused before anything is run or written. */

struct kept_values {
	const json_t *before, *given; /* as they were; those of now. `given` may be NULL */
};

/* Refuses values that would change what is kept of `run`: all that counts of `leaves`, or with
 * `redo` what of it still holds. The launch has its new plan. */
bool kept_check(const struct launch *l, struct str run, const struct kept_values *values,
	struct called *called, const struct leaves *leaves, const struct redo *redo,
	struct report *r);
