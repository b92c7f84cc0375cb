#pragma once

#include "app/record/launch.h"

/* What a run writes about itself when it begins: run.json, which says who has it, and what programs
 * look for. */

/* Whether this may be done while the first command runs. For a run that is over in a moment these
 * files take longer than all else before its command; start.json keeps what they say until they are
 * there (runs/dir/begun.h). Not for commands that are given the way to them. */
bool beginning_can_wait(const struct launch *l);
/* What start.json keeps: file name → what it says, without the process that has the run. Made once
 * and kept with the launch until it is written. */
const json_t *beginning_kept(struct launch *l);

/* Writes them; run.json comes last. */
bool beginning_write(struct launch *l, struct report *r);
