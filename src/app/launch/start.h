#pragma once

#include "app/record/launch.h"
#include "runs/dir/leaves.h"

/* Runs a launch that is claimed and frozen, or is not recorded: here, or under a supervisor. Takes
 * both; `before` is what an earlier execution has left, or NULL. NULL with issues. */
struct run_handle *start_frozen(
	struct launch *l, const struct request *q, struct leaves *before, struct report *r);
