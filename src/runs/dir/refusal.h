#pragma once

#include "base/report.h"

/* Refusals that several requests share: each is worded here and nowhere else. Each adds an issue of
 * kind ISSUE_REFUSED and returns false. */

/* A live run has the name, or is the one that cannot be changed while it lives. */
bool refuse_running(struct str run, struct report *r);
/* Another process has claimed the name and its supervisor has not begun yet. */
bool refuse_starting(struct str run, struct report *r);
/* It waits for an approval: it has not ended, and could not be answered any more. */
bool refuse_waiting(struct str run, struct report *r);
/* It has ended; `status` is how. */
bool refuse_ended(struct str run, struct str status, struct report *r);
/* The run was there a moment ago. */
bool refuse_gone(struct str run, struct report *r);
