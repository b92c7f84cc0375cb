#pragma once

#include "runs/look/look.h"

/* Whether this process was started by the run, however far down: by a mark in its environment or in
 * that of a process above it, by the processes above it, or by its group and session, which are
 * those of a command of the run. A host in whose own process the run is, is not, nor is
 * what that host starts itself. 1 or 0; -errno: it cannot be found out. */
int run_started_this(const struct run_look *look);
