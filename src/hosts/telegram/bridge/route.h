#pragma once

#include "data/json.h"
#include "loop/loop.h"

struct bridge;
struct update;

/* Acts on updates and on those that the journal has: strictly in order of update ids, one at a
 * time. Everything that an update changes in the ledger, its row of the journal included, is one
 * transaction. */
struct router {
	struct list pending; /* struct pending */
	struct list after;   /* what is to be done when the transaction is written */
	struct timer again;  /* after a failure */
	bool busy;           /* an external handler looks at the first one */
	bool nudge;          /* the person has written: deliver what waits, after the transaction */
	bool careful;        /* one update for each transaction, because one has failed */
	int64_t failing;     /* the update that has, and how often */
	unsigned failures;
};

/* What was done about an update. */
enum routed {
	ROUTED,        /* its row can go */
	ROUTED_KEPT,   /* its row stays: it is part of a group that is still open */
	ROUTED_LATER,  /* route_resume() will be called */
	ROUTED_FAILED, /* the ledger could not be written */
};

/* What earlier processes have left. */
void route_start(struct bridge *b);
void route_stop(struct bridge *b);

/* In the transaction of the poller. An update is handled at once, and has no row, when none is
 * before it; else it gets its row and *ret_waits says so: it is handed over with route_add() when
 * the transaction is written. False: undo it and call route_reload(). */
bool route_take(struct bridge *b, int64_t id, json_t *update, bool *ret_waits);
void route_add(struct bridge *b, json_t *update);
/* Deletes a row that was kept. */
bool route_forget(struct bridge *b, int64_t id);

void route_run(struct bridge *b);
/* While an update is handled: calls `act` when the transaction is written, because other processes
 * cannot write before that; not at all when it could not be. `data` is taken over, borrowed for the
 * call. */
typedef void after_fn(struct bridge *b, json_t *data);
void route_after(struct bridge *b, after_fn *act, json_t *data);
/* A transaction could not be written: begins again with what the journal has, after a moment. */
void route_reload(struct bridge *b);
/* The first pending update was looked at by external handlers. */
void route_resume(struct bridge *b, bool consumed);
