#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What a batch system starts on its nodes: the process that takes commands from the driver of a run
 * (docs/cluster.md). `dir` is the worker's directory in the exchange of the run. Returns the exit
 * status. */
int app_worker(const char *dir);

/* For programs that are built for tests: $ROUX_TEST_TIME_SCALE makes beats and leases so many times
 * faster. Returns whether this program honours it; false only asks. */
bool app_time_scale(bool allowed);
