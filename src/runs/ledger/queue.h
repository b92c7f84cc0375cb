#pragma once

#include "runs/ledger/ledger.h"

/*
 * What a host still has to do: a durable queue for each host, in lanes. The lane with the lowest
 * number is served first; what a lane means is the host's affair. An item is
 *
 *   queued ──queue_next(run)──> running ──queue_done──> done
 *      ^ └──────queue_remove─────────│────────────────────^
 *      └───────queue_put_back────────┘
 *
 * Every change is on stable storage when the call returns, or, in a batch (ledger.h), when that is
 * committed. After a crash an item is `running` with the id of its run: when that run does not
 * exist it was never begun.
 *
 * Unless said otherwise a call returns false with an issue when the ledger could not be read or
 * written, and false without one when there is no such item in the state that it needs.
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
	struct str payload; /* the host's own bytes */
	uint64_t added, began, ended;
};

enum { QUEUE_PAYLOAD_MAX = LEDGER_VALUE_MAX };

/* Where in its lane. */
enum queue_place {
	QUEUE_BACK,    /* behind all */
	QUEUE_FRONT,   /* before all that are there now */
	QUEUE_AHEAD,   /* before all that were put at the back, behind those put ahead earlier */
	QUEUE_ARRIVAL, /* by its number, as if it had been put at the back when it arrived */
};

/* Adds what `item` says of lane, key and payload, and fills the rest of it. With a key that the
 * host has used before nothing is added, also when that item is done: `item` then has the number,
 * lane and state of that one, and `*ret_new` is false. */
bool queue_add(struct ledger *l, struct str host, struct queue_item *item, enum queue_place place,
	bool *ret_new, struct report *r);

/* Calls `see` with the items in a state: queued ones in the order in which they will be taken,
 * running ones by their numbers, done ones by the time of their end. The item is borrowed. `see`
 * may stop by returning false, and must not change or list queues. */
bool queue_each(struct ledger *l, struct str host, enum queue_state state,
	bool (*see)(void *data, const struct queue_item *item), void *data, struct report *r);
/* How many of a lane are queued, counted up to `max`. */
bool queue_count(
	struct ledger *l, struct str host, int lane, size_t max, size_t *ret, struct report *r);
/* One item in whatever state. Texts live in the arena. */
bool queue_find(struct ledger *l, struct str host, uint64_t item, struct arena *a,
	struct queue_item *ret, struct report *r);

/* Of a queued item: another lane or place, another payload. */
bool queue_move(struct ledger *l, struct str host, uint64_t item, int lane, enum queue_place place,
	struct report *r);
bool queue_edit(
	struct ledger *l, struct str host, uint64_t item, struct str payload, struct report *r);
bool queue_remove(struct ledger *l, struct str host, uint64_t item, struct report *r);
/* Removes all that are queued. */
bool queue_clear(struct ledger *l, struct str host, size_t *ret_removed, struct report *r);

/* Takes the first item: it is running, and `run` is its run, in one transaction. Call it before
 * that run is started. False without an issue: nothing is queued. Texts live in the arena. */
bool queue_next(struct ledger *l, struct str host, struct str run, struct arena *a,
	struct queue_item *ret, struct report *r);
/* Of a running item: its run has ended, however; or it never began and waits again at its place. */
bool queue_done(struct ledger *l, struct str host, uint64_t item, struct report *r);
bool queue_put_back(struct ledger *l, struct str host, uint64_t item, struct report *r);

/* Forgets the keys of items that ended before that time. */
bool queue_forget(struct ledger *l, struct str host, uint64_t before_ms, struct report *r);
