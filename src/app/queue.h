#pragma once

#include "app/app.h"
#include "base/queue-item.h"

/* What a host keeps for itself across restarts: a queue of what is to do, and values by name.
 * `host` is its name ("telegram"). Both are in the ledger, which is made when there is none.
 *
 * A call returns false with an issue when the ledger cannot be read or written, or when a name, a
 * key or a value is too large, and false without one when there is no such item, in the state that
 * the call needs, or no such key. Changes are on stable storage when the call returns. */

/* Several changes as one: an update's items and the offset behind them. All calls below in between
 * are made at the commit, or none is, also when one of them fails and the caller does not look. Do
 * not wait for anything and do not start runs in between: other processes cannot write. */
bool host_batch_begin(struct app *a, struct report *r);
bool host_batch_commit(struct app *a, struct report *r);
void host_batch_undo(struct app *a);

/* -- the queue -----------------------------------------------------------------------------------
 */

/* Adds what `item` says of lane, key and payload, and fills the rest of it. With a key that the
 * host has used before nothing is added and `*ret_new` is false: `item` has the number, lane and
 * state of the one that used it, which may be done. */
bool queue_add(struct app *a, struct str host, struct queue_item *item, enum queue_place place,
	bool *ret_new, struct report *r);

/* Queued items in the order of taking, running ones by number, done ones by their end. The item is
 * borrowed. `see` may stop by returning false, and must not change or list queues. */
bool queue_each(struct app *a, struct str host, enum queue_state state,
	bool (*see)(void *data, const struct queue_item *item), void *data, struct report *r);
/* How many of each of the first lanes are queued, all at the same moment. */
bool queue_count(struct app *a, struct str host, size_t lanes, size_t *ret, struct report *r);
/* In whatever state. Texts live in the arena. */
bool queue_find(struct app *a, struct str host, uint64_t item, struct arena *arena,
	struct queue_item *ret, struct report *r);

/* Of a queued item. */
bool queue_move(struct app *a, struct str host, uint64_t item, int lane, enum queue_place place,
	struct report *r);
bool queue_edit(
	struct app *a, struct str host, uint64_t item, struct str payload, struct report *r);
bool queue_remove(struct app *a, struct str host, uint64_t item, struct report *r);
/* All that are queued. */
bool queue_clear(struct app *a, struct str host, size_t *ret_removed, struct report *r);

/* Takes the first item for the run that the caller will start with this id. False without an issue:
 * nothing is queued. Texts live in the arena. */
bool queue_next(struct app *a, struct str host, struct str run, struct arena *arena,
	struct queue_item *ret, struct report *r);
/* Of a running item: its run has ended, however; or it was never begun and waits at its place. */
bool queue_done(struct app *a, struct str host, uint64_t item, struct report *r);
bool queue_put_back(struct app *a, struct str host, uint64_t item, struct report *r);
/* Forgets the keys of items that ended before that time. */
bool queue_forget(struct app *a, struct str host, uint64_t before_ms, struct report *r);

/* -- values --------------------------------------------------------------------------------------
 */

/* The value lives in the arena. */
bool host_state_get(struct app *a, struct str host, struct str key, struct arena *arena,
	struct str *ret, struct report *r);
bool host_state_set(
	struct app *a, struct str host, struct str key, struct str value, struct report *r);
bool host_state_delete(struct app *a, struct str host, struct str key, struct report *r);
/* When it is still `expected` (NULL: not there). False without an issue: it is another by now. */
bool host_state_swap(struct app *a, struct str host, struct str key, const struct str *expected,
	struct str value, struct report *r);
/* Keys that begin with `prefix`, in the order of their bytes. As queue_each(). */
bool host_state_each(struct app *a, struct str host, struct str prefix,
	bool (*see)(void *data, struct str key, struct str value), void *data, struct report *r);
