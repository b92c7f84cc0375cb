#pragma once

#include "app/past/find.h"
#include "app/runs.h"

/* Orders to a run of another process: they go to its supervisor, which knows its processes. */

/* Whether its supervisor is on another machine, which signals from here do not reach. */
bool order_is_of_other_host(const struct run_look *look);
/* False, with an issue that names that machine. */
bool order_refuse_host(const struct run_look *look, struct report *r);
/* Tells it and returns. False: it is gone, or it could not be told (with an issue). */
bool order_tell(const struct run_look *look, enum run_order order, int grace_ms, struct report *r);
/* Tells it, waits until it has ended and looks again. `grace_ms` < 0: as the run was started. */
bool order_end(
	struct app *a, struct run_look *look, enum run_order order, int grace_ms, struct report *r);
