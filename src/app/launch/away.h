#pragma once

#include "app/record/launch.h"
#include "engine/executor.h"
#include "runs/dir/leaves.h"

/* A run whose commands go to the nodes of a batch system: which executor was asked for, whether the
 * recipe can run there, and the executor itself. */

/* Finds the executor that was asked for and looks whether the commands can run there; `l` has its
 * plan. False with issues. */
bool away_prepare(struct launch *l, struct report *r);

/* Of a run that is continued: `was` is the executor that it had, NULL: none. When another is asked
 * for, the old one keeps what it was given, and gets nothing new. */
void away_keep_left(struct launch *l, struct str was_on, json_t *was);
/* Whether all that may still run elsewhere is with one of the two. False with an issue. */
bool away_knows(const struct launch *l, const struct leaves *before, struct report *r);

/* The executor of a launch, and what the engine needs to know about it. */
struct away_options {
	struct loop *loop;
	struct executor *here;       /* of this machine */
	const char *const *env;      /* of all commands */
	const struct leaves *before; /* what an earlier driver has left; NULL: nothing */
	bool jobs_given;             /* the user has said how many commands run at once */
};
/* Adds to `ret`, which has room for two more, and sets *elsewhere to the place in it where commands
 * go that may run anywhere (0: here). False with issues. */
bool away_executors(struct launch *l, const struct away_options *o, struct executor **ret,
	size_t *count, size_t *elsewhere, bool *needs, struct report *r);
