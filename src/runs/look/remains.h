#pragma once

#include "base/str.h"

/* What is deleted of runs gets another name in runs/ first: half a run is never seen. Who deletes
 * it has it locked, so that what a killed one has left can be told from what is just going. */
#define REMAINS_PREFIX ".pruned-"

/* Locks a directory, by its path or by its name in `dir`, that is about to get such a name or has
 * it. The descriptor stands for that. -ESTALE: it is gone; -EBUSY: another process has it; else -1.
 */
int remains_hold(int dir, const char *path);
/* Deletes it, unless a process has it. -errno; -EBUSY: one does. */
int remains_delete(int runs, const char *name);
/* The same for all below the state root. */
void remains_clean(struct str root);
/* Whether a process is just deleting it. */
bool remains_held(const char *path);
