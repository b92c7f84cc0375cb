#pragma once

#include "remote/table.h"
#include "runs/look/look.h"

/* Jobs of a batch system that the dead driver of a run has left. */

/* The executor that the run was started with; NULL: its commands ran here, or with issues.
 * table_free(). */
struct table *left_table(const struct run_look *look, struct report *r);
/* How many workers may still live; 0: its driver is not dead, or its commands ran here. */
size_t left_jobs(const struct run_look *look);
