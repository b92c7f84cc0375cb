#pragma once

#include "app/past/find.h"
#include "app/record/launch.h"

/* For a resume and a rerun: the run that a name means, when its supervisor has just been killed
 * once it is gone. */
bool find_settled(struct app *a, const char *name, struct run_look *ret, struct report *r);
/* The run works where it was started, unless the caller wants to `stay`: the process goes there, or
 * commands do when the process is a host's own. */
bool go_there(struct launch *l, const struct run_look *look, bool stay, struct report *r);
