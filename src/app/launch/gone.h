#pragma once

#include "app/record/launch.h"
#include "base/vec.h"
#include "runs/dir/leaves.h"

/* Recorded commands whose kept output is gone: its file was deleted, or cut. Such a command is
 * executed again only when its output is still needed, and only after that has been said. */
struct gone {
	struct str path; /* borrowed from the leaves */
	uint64_t number; /* `a` of leaves.jsonl */
};
typedef VEC(struct gone) gone_list;

/* So many records are looked at for what is gone, about a second's worth, whatever a run has
 * recorded: each that is gone asks for those of the groups around it. */
enum { GONE_EFFORT = 50000000 };

/* Fills `ret` with those whose output, which stands below the run directory `dir`, a command will
 * read that is yet to run, or the run itself. Where that cannot be told from the record it counts
 * as needed, as it does once the *effort is used up, GONE_EFFORT at first. False with an issue when
 * it cannot be found out what there is. */
bool gone_find(const struct launch *l, struct str dir, const struct leaves *leaves,
	uint64_t *effort, gone_list *ret, struct report *r);
