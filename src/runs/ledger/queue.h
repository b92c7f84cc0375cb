#pragma once

#include "base/queue-item.h"
#include "runs/ledger/ledger.h"

/* The queues of hosts. Every change is on stable storage when the call returns, or, in a batch
 * (ledger.h), when that is committed.
 *
 * Unless said otherwise a call returns false with an issue when the ledger could not be read or
 * written, and false without one when there is no such item in the state that it needs. */

/* Adds what `item` says of lane, key and payload, and fills the rest of it. With a key that the
 * host has used before nothing is added, also when that item is done: `item` then has the number,
 * lane and state of that one, and `*ret_new` is false. */
bool ledger_queue_add(struct ledger *l, struct str host, struct queue_item *item,
	enum queue_place place, bool *ret_new, struct report *r);

/* Calls `see` with the items in a state: queued ones in the order in which they will be taken,
 * running ones by their numbers, done ones by the time of their end. The item is borrowed. `see`
 * may stop by returning false, and must not change or list queues. */
bool ledger_queue_each(struct ledger *l, struct str host, enum queue_state state,
	bool (*see)(void *data, const struct queue_item *item), void *data, struct report *r);
/* How many of each of the first lanes are queued, all at the same moment. Lanes begin at 0. */
bool ledger_queue_count(
	struct ledger *l, struct str host, size_t lanes, size_t *ret, struct report *r);
/* One item in whatever state. Texts live in the arena. */
bool ledger_queue_find(struct ledger *l, struct str host, uint64_t item, struct arena *a,
	struct queue_item *ret, struct report *r);

/* Of a queued item: another lane or place, another payload. */
bool ledger_queue_move(struct ledger *l, struct str host, uint64_t item, int lane,
	enum queue_place place, struct report *r);
bool ledger_queue_edit(
	struct ledger *l, struct str host, uint64_t item, struct str payload, struct report *r);
bool ledger_queue_remove(struct ledger *l, struct str host, uint64_t item, struct report *r);
/* Removes all that are queued. */
bool ledger_queue_clear(struct ledger *l, struct str host, size_t *ret_removed, struct report *r);

/* Takes the first item: it is running, and `run` is its run, in one transaction. Call it before
 * that run is started. False without an issue: nothing is queued. Texts live in the arena. */
bool ledger_queue_next(struct ledger *l, struct str host, struct str run, struct arena *a,
	struct queue_item *ret, struct report *r);
/* Of a running item: its run has ended, however; or it never began and waits again at its place. */
bool ledger_queue_done(struct ledger *l, struct str host, uint64_t item, struct report *r);
bool ledger_queue_put_back(struct ledger *l, struct str host, uint64_t item, struct report *r);

/* Forgets the keys of items that ended before that time. */
bool ledger_queue_forget(struct ledger *l, struct str host, uint64_t before_ms, struct report *r);
