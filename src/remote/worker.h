#pragma once

#include "base/report.h"

/* The process that a batch system starts inside an allocation: it takes commands from the run's
 * driver, runs them as this machine's own executor does, and says what became of them (cluster.md
 * section 8). */

/* `dir` is w/<id> of an exchange. Returns the exit status: 0 when it could say that it leaves. What
 * people should know goes to standard error, which is the job's log. */
int worker_main(const char *dir);
