#pragma once

#include "base/report.h"

/* The process that a batch system starts inside an allocation: it takes commands from the run's
 * driver, runs them as this machine's own executor does, and says what became of them. */

/* `dir` is w/<id> of an exchange. Returns the exit status: 0 when it could say that it leaves. What
 * people should know goes to standard error, which is the job's log. */
int worker_main(const char *dir);

/* Machines without a batch system: something like ssh executes these there. Starts that worker on
 * this machine, in a session of its own, and prints HOST:PID. Before that it ends what workers that
 * were given up have left here. Returns the exit status. */
int worker_start(const char *host, const char *dir);
/* Ends the worker that has claimed `dir`, and everything that it has started on this machine; on
 * return nothing of it is left. Prints `gone` when it was no longer there, else `ended`. Returns
 * the exit status. */
int worker_end(const char *dir);
