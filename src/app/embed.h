#pragma once

#include "app/start.h"

/* Recorded runs of an embedder: the same launch as that of `roux run`, in a process that has more
 * to do. Orders of others come through a file, because a signal would end that process. */
struct embed;

/* Starts what the plan says, here or under a supervisor of its own. NULL with issues in the report.
 */
struct roux_run *embed_start(
	struct roux_plan *plan, const struct start_options *o, roux_event_fn *fn, void *data);
/* The run has ended: lets its name go, and whatever else others wait for. */
void embed_rest(struct roux_run *run);
void embed_free(struct embed *e);

/* What listens to others for all runs of a context. */
struct embed_hub;
void embed_hub_free(struct embed_hub *hub);
