#pragma once

#include "app/runs.h"
#include "app/start.h"

/* Runs that another process looks after, as an embedder sees them: their end comes through the
 * loop, their events are read from their directory. */
struct watched;

/* The run of that name. NULL with issues in the report. */
struct roux_run *watched_open(struct roux *r, const char *name, roux_event_fn *fn, void *data);
/* Looks at it no more; it goes on. */
void watched_leave(struct roux_run *run);
void watched_free(struct watched *w);

const char *watched_id(const struct roux_run *run);
enum roux_status watched_status(const struct roux_run *run);
void watched_result(struct roux_run *run, struct buf *b);
bool watched_order(struct roux_run *run, enum run_order order);
