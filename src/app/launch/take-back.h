#pragma once

#include "app/record/launch.h"
#include "base/vec.h"
#include "runs/dir/leaves.h"
#include "runs/look/look.h"

/* Continuing a run that was cut short (docs/runs.md, "Continue it"): only what leaves.jsonl says is
 * changed; the engine does the rest. */

typedef void resume_note_fn(void *data, enum resume_note note, struct str text, size_t count);

/* The path of what failed the run, and so has to be taken back; empty: no command has, the machine
 * did. */
struct str resume_failed_node(
	const struct launch *l, const struct run_look *look, const struct leaves *leaves);
/* Calls `forget` with what then counts as not run: what failed, or the outermost retried group
 * around it, of which there is no record. `node` is the path of what failed; `retried` that of the
 * group, when the run has named it. */
typedef void forget_fn(void *data, struct str path, const struct leaf_record *record);
void resume_forgets(const struct launch *l, const struct leaves *leaves, struct str node,
	struct str retried_node, forget_fn *fn, void *data);
/* How people know the node at `path`: with its label and item, where the result lists its failure.
 */
void failed_name(const json_t *result, struct str path, struct buf *ret);
/* What of the failure is to be said, once nothing can refuse any more. */
struct failed_earlier {
	struct str name;
	size_t code;
};

struct taken_back {
	struct arena arena;
	VEC(struct failed_earlier) all;
};

void taken_back_done(struct taken_back *t);
/* Takes back the failure that ended the run, in memory; `lines` gets what the file has to say about
 * it. */
void resume_take_back(const struct launch *l, const struct run_look *look, struct leaves *leaves,
	struct buf *lines, struct taken_back *ret);
/* Recorded commands whose output is gone and needed count as not run, in memory; `lines` gets what
 * the file has to say about it. */
bool resume_lose(struct launch *l, struct leaves *leaves, struct buf *lines, struct report *r);
/* Adds whole lines to leaves.jsonl, if there are any; and takes them back, when the resume cannot
 * begin: then the run stays as it was. */
bool resume_write(struct launch *l, const struct buf *lines, struct report *r);
void resume_unwrite(struct launch *l);
/* Which of the recipe's files have changed since the run was started. `say` may be NULL. */
void resume_note_sources(const struct launch *l, resume_note_fn *say, void *data);
