#pragma once

#include "app/record/launch.h"
#include "engine/executor.h"

/* What the commands of a run get from this process. */

/* Makes room for the pipes of `jobs` commands at once, in a process that is roux's own. The
 * commands themselves get the old limit, which is in *before then. Where there is no more to be
 * had, *jobs becomes less. */
void surroundings_room(struct manners *m, struct rlimit *before, uint64_t *jobs);
/* The variables that they get beside the environment of this process: those that were asked for and
 * roux's own. In the arena of the launch. */
const char *const *surroundings_env(struct launch *l);
/* Processes of this machine, which get both; `sandbox`: what they are enclosed in, NULL: nothing.
 */
struct executor *executor_here(const struct launch *l, const char *const *env, const int *sandbox);
