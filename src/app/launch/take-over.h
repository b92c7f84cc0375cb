#pragma once

#include "app/record/launch.h"

/* Doing a part of a run again (async-runs.md section 12): a new run begins with the records of the
 * old one that still hold. */

/* Fills the directory of the new run `l` with the records of `old_dir` that still hold when `node`
 * and what follows it is run again; empty: nothing holds. False with an issue added when a needed
 * output is gone. */
bool rerun_take_over(struct launch *l, struct str old_dir, struct str node, struct report *r);
/* The path that a person means by `word`. False with an issue added. `l` has the frozen graph. */
bool rerun_node(const struct launch *l, struct str old_dir, struct str word, struct buf *ret,
	struct report *r);
/* The path of that node, or of the nearest around it that can be found. */
void rerun_nearest(const struct launch *l, struct str old_dir, struct str path, struct buf *ret);
