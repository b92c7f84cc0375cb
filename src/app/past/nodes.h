#pragma once

#include "app/past/handle.h"
#include "base/map.h"

/* What the commands of a run are called, from its events. Read when it is first asked for, and
 * again while the run grows: past_names_refresh(). */
struct past_name {
	struct str label, item; /* empty: none */
};

/* NULL: no command of that path has been started. Lives with the handle. */
const struct past_name *past_name_find(struct run_handle *h, struct str path);
/* Forgets what has been read. */
void past_names_refresh(struct run_handle *h);
