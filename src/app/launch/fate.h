#pragma once

#include "app/launch/past-calls.h"
#include "app/runs.h"
#include "base/map.h"
#include "base/vec.h"
#include "runs/dir/leaves.h"

/* Which recorded commands a resume executes again though they did not fail, and why: one answer for
 * the resume, which says so before it begins, and for its plan. */

struct fate {
	struct str path; /* borrowed from the leaves */
	/* RESUME_WAS_RUNNING, RESUME_WAS_ENDED, RESUME_LOST, RESUME_UNKEPT, RESUME_UNRECORDED; of a
	 * loop RESUME_ROUNDS: with all that is below it. */
	enum resume_note why;
};

struct fates {
	struct arena arena;
	struct map index;     /* path → size_t: its place in the list, from 1 */
	VEC(struct fate) all; /* each path once */
};

/* `leaves` without the failure that is taken back, and with what resume_lose() finds. A command
 * with several reasons has that which is always worth saying. */
void fates_find(struct fates *f, struct called *called, const struct leaves *leaves);
void fates_done(struct fates *f);
/* Why the command runs again; NULL: only because of another, or it does not. */
const struct fate *fates_of(const struct fates *f, struct str path);
/* The outermost loop around it that begins anew; NULL: there is none. */
const struct fate *fates_loop(const struct fates *f, struct str path);
/* The paths of those that run again for this reason, as people read them. */
void fates_list(const struct fates *f, enum resume_note why, struct buf *ret);
