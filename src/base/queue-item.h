#pragma once

#include "base/str.h"

/*
 * What a host still has to do: a durable queue for each host, in lanes. The lane with the lowest
 * number is served first; what a lane means is the host's affair. An item is
 *
 *   queued ──── next ────> running ──── done ────> done
 *    ^  └────── remove ───────│──────────────────────^
 *    └───────── put back ─────┘
 *
 * It becomes running and gets the id of its run in one transaction. After a crash it is `running`
 * with that id: when the run does not exist it was never begun.
 *
 * It stands in `base` because the ledger keeps items and hosts see them through app.
 */
enum queue_state {
	QUEUE_QUEUED,
	QUEUE_RUNNING,
	QUEUE_DONE, /* its key is remembered, its payload is not */
};

struct queue_item {
	uint64_t item; /* its number: counts up with arrival, is never used again */
	int lane;
	enum queue_state state;
	struct str key;     /* may be empty */
	struct str run;     /* of a running or done one */
	struct str payload; /* the host's own bytes, at most 1 MiB */
	uint64_t added, began, ended;
};

/* Where in its lane. */
enum queue_place {
	QUEUE_BACK,    /* behind all */
	QUEUE_FRONT,   /* before all that are there now */
	QUEUE_AHEAD,   /* before all that were put at the back, behind those put ahead earlier */
	QUEUE_ARRIVAL, /* by its number, as if it had been put at the back when it arrived */
};
