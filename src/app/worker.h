#pragma once

#include "base/report.h"

struct run_handle;

/* What a batch system starts on its nodes: the process that takes commands from the driver of a run
 * (docs/cluster.md). `dir` is the worker's directory in the exchange of the run. Returns the exit
 * status. */
int app_worker(const char *dir);
/* On a machine without a batch system: starts that worker in a session of its own and prints
 * HOST:PID; ends it, and prints whether there was something to end. Each returns the exit status.
 */
int app_worker_start(const char *host, const char *dir);
int app_worker_end(const char *dir);

/* For programs that are built for tests: $ROUX_TEST_TIME_SCALE makes beats and leases so many times
 * faster. Returns whether this program honours it; false only asks. */
bool app_time_scale(bool allowed);

/* What the job of a worker of that run has printed itself. False with an issue: there is no such
 * worker, or it has printed nothing that was kept. */
bool run_worker_log(const struct run_handle *h, uint64_t worker, struct buf *ret, struct report *r);
