#pragma once

#include "app/launch.h"
#include "runs/dir/leaves.h"

/* Going on with a run that was cut short, and doing a part of one again (async-runs.md section 12).
 * Both change only what leaves.jsonl says; the engine does the rest. */

/* Takes back the failure that ended the run: what failed, or the outermost retried group around it,
 * counts as not run. `node` is the path of what failed; `retried` that of the group, when the run
 * has named it. */
bool resume_take_back(struct launch *l, struct str node, struct str retried, struct report *r);
/* The commands that were running when the run was cut short. */
void resume_in_doubt(const struct leaves *l, struct buf *paths);
/* Whether a command that has to run again reads an input that was not kept to its end. */
bool resume_lacks_input(struct launch *l, const struct leaves *leaves);
/* What is said before it goes on: which commands run again, and why. */
void resume_explain(const struct launch *l, const struct leaves *leaves, struct buf *b);

/* Fills the directory of the new run `l` with the records of `old_dir` that still hold when `node`
 * and what follows it is run again; empty: nothing holds. False with an issue added when a needed
 * output is gone. */
bool rerun_take_over(struct launch *l, struct str old_dir, struct str node, struct report *r);
/* The path that a person means by `word`. False with an issue added. `l` has the frozen graph. */
bool rerun_node(const struct launch *l, struct str old_dir, struct str word, struct buf *ret,
	struct report *r);
/* The path of that node, or of the nearest around it that can be found. */
void rerun_nearest(const struct launch *l, struct str old_dir, struct str path, struct buf *ret);
