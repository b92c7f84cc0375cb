#pragma once

#include "app/context/context.h"

/* Makes room for the pipes of `jobs` commands at once, in a process that is roux's own. The
 * commands themselves get the old limit, which is in *before then. Where there is no more to be
 * had, *jobs becomes less. */
void room_for_descriptors(struct manners *m, struct rlimit *before, uint64_t *jobs);
