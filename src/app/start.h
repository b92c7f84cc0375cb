#pragma once

#include "app/context.h"
#include "engine/run.h"

struct roux_run {
	struct roux *roux;
	struct list link;
	struct run *run;
	struct plan *plan;
	struct start_options options;
	roux_event_fn *on_event;
	void *event_data;
	struct buf json, result;
	bool ended;
	int record_error; /* -errno: its end could not be written down */
};

/* The first live run of a context, or NULL. */
struct roux_run *start_first(struct roux *r);
enum roux_status start_status(const struct roux_run *run);
