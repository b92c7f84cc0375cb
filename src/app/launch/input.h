#pragma once

#include "app/record/launch.h"
#include "engine/run.h"
#include "runs/dir/leaves.h"
#include "runs/look/look.h"

/* `stdin` of a run's directory: what the run has kept of its standard input, for those who execute
 * a part of it again. What cannot be read is never taken for an empty input. */

/* Whether a command that has to run again reads an input that is not there, or not all of it that
 * was kept. */
bool input_is_lacking(struct launch *l, const struct leaves *leaves);
/* Whether a command that has to run again reads an input of which only *bytes are kept, because
 * those who read it did not come to its end. */
bool input_is_part(struct launch *l, const struct leaves *leaves, uint64_t *bytes);
/* Says of the run that was looked at that its input is lacking; false. */
bool input_refuse_lacking(struct launch *l, const struct run_look *look, struct report *r);
/* Whether a run that has ended now cannot be continued, because what was cut short reads an input
 * that is not kept. Another attempt may have read what it needed. */
bool input_was_cut(struct launch *l, const struct run_result *res);

/* A descriptor, which the caller closes; -ENOENT: those who read it may all be recorded. False with
 * an issue, before anything is executed. */
bool input_open(struct launch *l, bool may_be_gone, int *ret, struct report *r);
/* Says that the `stdin` of the run in `dir` cannot be read; false. */
bool input_unreadable(struct launch *l, struct str dir, int error, struct report *r);
