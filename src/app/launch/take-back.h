#pragma once

#include "app/record/launch.h"
#include "runs/dir/leaves.h"

/* Continuing a run that was cut short (async-runs.md section 12): only what leaves.jsonl says is
 * changed; the engine does the rest. */

/* Takes back the failure that ended the run: what failed, or the outermost retried group around it,
 * counts as not run. `node` is the path of what failed; `retried` that of the group, when the run
 * has named it. */
bool resume_take_back(struct launch *l, struct str node, struct str retried, struct report *r);
/* Recorded commands whose output is gone and needed count as not run, in memory; `lines` gets what
 * the file has to say about it. */
bool resume_lose(struct launch *l, struct leaves *leaves, struct buf *lines, struct report *r);
/* Adds whole lines to leaves.jsonl. */
bool resume_write(struct launch *l, const struct buf *lines, struct report *r);
/* The commands that were running when the run was cut short, and those that resume_lose() found. */
void resume_in_doubt(const struct leaves *l, struct buf *running, struct buf *lost);
/* Whether a command that has to run again reads an input that was not kept to its end. */
bool resume_lacks_input(struct launch *l, const struct leaves *leaves);
/* What is said before it continues: which commands run again and why, which files have changed. */
typedef void resume_note_fn(void *data, enum resume_note note, struct str text, size_t count);
void resume_notes(
	const struct launch *l, const struct leaves *leaves, resume_note_fn *say, void *data);
