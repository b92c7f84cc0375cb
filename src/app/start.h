#pragma once

#include "app/context.h"
#include "engine/run.h"

struct embed;
struct watched;

struct roux_run {
	struct roux *roux;
	struct list link;
	/* One that runs here: */
	struct run *run;
	struct plan *plan;
	struct roux_recipe *recipe; /* kept for what is told of it; NULL: a template */
	struct bundle *bundle;
	struct start_options options;
	struct embed *embed; /* a recorded one of an embedder */
	/* … or one that another process looks after: */
	struct watched *watched;
	roux_event_fn *on_event;
	void *event_data;
	/* What was told before its start returned: callbacks come from the loop. */
	struct deferred early;
	struct buf early_text;
	struct buf json, result;
	bool ended;
	int record_error; /* -errno: its end could not be written down */
};

/* The same as start_run() with a callback as embedders have it. */
struct roux_run *start_public(struct roux *r, struct plan *p, const struct start_options *o,
	roux_event_fn *fn, void *data);
/* Cancels it and turns until it has ended, whoever wakes the loop meanwhile. */
void start_end(struct roux_run *run);
/* Tells one event: a line of JSON without its end. */
void start_tell_line(struct roux_run *run, struct str line);

/* The first live run of a context, or NULL. */
struct roux_run *start_first(struct roux *r);
enum roux_status start_status(const struct roux_run *run);
