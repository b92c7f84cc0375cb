#pragma once

#include "app/launch/redo.h"

/* Doing a part of a run again (docs/runs.md, "Do a part again"): a new run begins with the records
 * of the old one that still hold. */

/* Whether all outputs are there that the new run will read. False with an issue added. */
bool rerun_has_outputs(const struct launch *l, const struct run_look *look, const struct redo *redo,
	const struct leaves *leaves, struct report *r);
/* Fills the directory of the new run `l` with those `leaves` of the old one that still hold. Where
 * what is to be done comes behind the failure that had ended it, that is passed over. False with an
 * issue added when a needed output is gone. */
bool rerun_take_over(struct launch *l, const struct run_look *look, const struct redo *redo,
	const struct leaves *leaves, struct report *r);
/* The path that a person means by `word`. False with an issue added. `l` has the frozen graph. */
bool rerun_node(const struct launch *l, const struct run_look *look, struct str word,
	struct buf *ret, struct report *r);
