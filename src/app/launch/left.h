#pragma once

#include "app/runs.h"
#include "runs/look/look.h"

/* How many workers may still live that the dead driver of the run has left; 0: it is not dead, or
 * its commands ran here. */
size_t left_jobs(const struct run_look *look);
