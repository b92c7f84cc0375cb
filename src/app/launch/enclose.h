#pragma once

#include "base/report.h"

struct launch;

/* The sandbox of a run whose commands write only below its working directory, its own directory and
 * those for temporary files. *ret is the caller's to close; -1: the run has none. False with an
 * issue: the kernel cannot do what was asked, so that nothing may be started. */
bool launch_enclose(const struct launch *l, int *ret, struct report *r);
