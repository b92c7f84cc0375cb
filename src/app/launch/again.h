#pragma once

#include "app/launch/redo.h"

/* rerun.c: puts into `redo` what a rerun is to do: what was asked for, or all that failed or was
 * not reached, or the whole when there is nothing of that. `node` is the path of the one that was
 * named. `l` has the frozen graph. False with an issue. */
bool again_choose(struct launch *l, const struct rerun_request *q, const struct run_look *look,
	const struct leaves *leaves, struct redo *redo, struct buf *node, struct report *r);
