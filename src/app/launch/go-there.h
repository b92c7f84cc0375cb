#pragma once

#include "app/past/find.h"
#include "app/record/launch.h"

/* For a resume and a rerun: looks at the run that a name means. When its supervisor has just been
 * killed, waits until that process is gone. The caller ends *ret with look_done(). False with an
 * issue. */
bool find_settled(struct app *a, const char *name, struct run_look *ret, struct report *r);
/* The run works where it was started, unless the caller wants to `stay`: the process goes there, or
 * commands do when the process is a host's own. */
bool go_there(struct launch *l, const struct run_look *look, bool stay, struct report *r);
