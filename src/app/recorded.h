#pragma once

#include "app/context.h"
#include "app/launch.h"
#include "runs/dir/leaves.h"

/* A claimed launch that runs in this process: what its start has beside its plan. The same for
 * every host. */
struct recorded {
	struct launch *launch;
	struct record *record;
	struct steps_run *steps; /* of a step recipe */
	struct mask *mask;       /* NULL: it has no secrets */
	const char *const *env;
};

/* From here on the run has a verifiable owner. `before` is what an earlier execution has left, or
 * NULL; it is taken. False with an issue added. */
bool recorded_begin(struct recorded *rec, struct launch *l, struct loop *loop,
	struct leaves *before, struct report *r);
/* Fills in what a start needs of it. */
void recorded_options(const struct recorded *rec, struct start_options *o);
/* After the run has been freed. The launch stays its owner's. */
void recorded_done(struct recorded *rec);
