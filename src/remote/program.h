#pragma once

#include "base/report.h"

/* A copy of this program below `state_dir`, which an upgrade in the middle of a run does not
 * change; its path in the arena. False with an issue. */
bool program_copy(struct str state_dir, struct arena *a, struct str *ret, struct report *report);
/* Where that is, or would be: nothing is written. */
bool program_path(struct str state_dir, struct arena *a, struct str *ret, struct report *report);
