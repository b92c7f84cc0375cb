#pragma once

#include "base/arena.h"
#include "base/vec.h"

/* Environments: lists of NAME=VALUE that end with NULL, as execve() takes them. The strings are
 * borrowed everywhere. */
struct environ_list {
	VEC(const char *) vars;
};

/* Whether an entry of `list` (NULL: an empty one) sets the variable that `entry` sets. */
bool environ_sets(const char *const *list, const char *entry);

/* Adds the entries of `base` that `own` does not replace, then those of `own`; of several with one
 * name the last counts. Adds no NULL at the end. Both may be NULL. */
void environ_add(struct environ_list *l, const char *const *base, const char *const *own);

/* Takes away from this process's environment what a command of another program's request has not to
 * see: all but PATH, HOME, LANG, TERM, TMPDIR, the trace context, and where roux has its things. */
void environ_bare(void);

/* This process's environment with `own` in it; the list is in the arena. */
const char *const *environ_with(struct arena *a, const char *const *own);
