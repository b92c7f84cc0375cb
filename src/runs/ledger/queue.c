#include "runs/ledger/queue.h"

#include <string.h>

#include "base/clock.h"
#include "runs/ledger/store.h"

/* QUEUE_AHEAD subtracts this from a number: far below all that are put at the back. */
static const int64_t AHEAD = INT64_C(1) << 53;

static const struct str states[] = {
	[QUEUE_QUEUED] = { "queued", 6 },
	[QUEUE_RUNNING] = { "running", 7 },
	[QUEUE_DONE] = { "done", 4 },
};

static enum queue_state state_of(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (str_eq(states[i], name))
			return (enum queue_state)i;
	return QUEUE_DONE; /* written by a newer version: not ours to run */
}

/* The columns of QUEUE_ROW in schema.c. */
static struct queue_item read_item(sqlite3_stmt *s)
{
	return (struct queue_item){
		.item = (uint64_t)sqlite3_column_int64(s, 0),
		.lane = sqlite3_column_int(s, 1),
		.state = state_of(ledger_column_str(s, 2)),
		.key = ledger_column_bytes(s, 3),
		.run = ledger_column_str(s, 4),
		.added = (uint64_t)sqlite3_column_int64(s, 5),
		.began = (uint64_t)sqlite3_column_int64(s, 6),
		.ended = (uint64_t)sqlite3_column_int64(s, 7),
		.payload = ledger_column_bytes(s, 8),
	};
}

static struct queue_item keep_item(struct arena *a, struct queue_item item)
{
	item.key = arena_str(a, item.key);
	item.run = arena_str(a, item.run);
	item.payload = arena_str(a, item.payload);
	return item;
}

/* The host at ?1 and, where the statement has one, the item at ?2. */
static sqlite3_stmt *use(struct ledger *l, enum ledger_statement which, struct str host,
	uint64_t item, struct report *r)
{
	sqlite3_stmt *s = ledger_use(l, which, r);

	if (s) {
		ledger_bind_str(s, 1, host);
		if (sqlite3_bind_parameter_count(s) > 1)
			(void)sqlite3_bind_int64(s, 2, (sqlite3_int64)item);
	}
	return s;
}

/* The first row of an answer: 1; none: 0; -1: with an issue. The statement is given back by the
 * caller. */
static int first(struct ledger *l, sqlite3_stmt *s, struct report *r)
{
	int step = s ? sqlite3_step(s) : SQLITE_MISUSE;

	if (s && step != SQLITE_ROW && step != SQLITE_DONE)
		(void)ledger_problem(l, "read a queue", r);
	return step == SQLITE_ROW ? 1 : step == SQLITE_DONE ? 0 : -1;
}

/* The one number that an answer has; `none` when it has no row. */
static bool number_of(
	struct ledger *l, sqlite3_stmt *s, int64_t none, int64_t *ret, struct report *r)
{
	int found = first(l, s, r);

	*ret = found > 0 ? sqlite3_column_int64(s, 0) : none;
	if (s)
		ledger_end(s);
	return found >= 0;
}

/* Runs a statement that changes items, and counts them. */
static bool change(struct ledger *l, sqlite3_stmt *s, size_t *ret, struct report *r)
{
	bool ok = ledger_step(l, s, "write a queue", r);

	*ret = ok ? (size_t)sqlite3_changes(l->db) : 0;
	return ok;
}

/* -- adding and ordering -------------------------------------------------------------------------
 */

/* One sequence gives items their numbers and places at the back: later is greater in every lane. */
static bool next_number(struct ledger *l, int64_t *ret, struct report *r)
{
	if (!l->batch)
		return number_of(l, ledger_use(l, LEDGER_QUEUE_NUMBER, r), 0, ret, r);
	/* No other process gives numbers during a batch: they are counted here, and written once.
	 */
	if (!l->queue_last &&
		!number_of(l, ledger_use(l, LEDGER_QUEUE_LAST, r), 0, &l->queue_last, r))
		return false;
	*ret = ++l->queue_last;
	return true;
}

bool ledger_queue_settle(struct ledger *l, struct report *r)
{
	sqlite3_stmt *s = l->queue_last ? ledger_use(l, LEDGER_QUEUE_SET_LAST, r) : NULL;

	if (s)
		(void)sqlite3_bind_int64(s, 1, l->queue_last);
	return !l->queue_last || ledger_step(l, s, "write a queue", r);
}

/* The place in a lane of the item that arrived as number `item` and is put there as `number`. */
static bool place_in(struct ledger *l, struct str host, int lane, enum queue_place place,
	uint64_t item, int64_t number, int64_t *ret, struct report *r)
{
	switch (place) {
	case QUEUE_FRONT:
		return number_of(
			l, use(l, LEDGER_QUEUE_FRONT, host, (uint64_t)lane, r), number, ret, r);
	case QUEUE_AHEAD:
		*ret = number - AHEAD;
		return true;
	case QUEUE_ARRIVAL:
		*ret = (int64_t)item;
		return true;
	case QUEUE_BACK:
		break;
	}
	*ret = number;
	return true;
}

/* Fills `item` with the one that has used its key. */
static bool find_key(struct ledger *l, struct str host, struct queue_item *item, struct report *r)
{
	sqlite3_stmt *s = ledger_use(l, LEDGER_QUEUE_KEY, r);

	if (!s)
		return false;
	ledger_bind_str(s, 1, host);
	ledger_bind_bytes(s, 2, item->key);
	bool found = first(l, s, r) > 0;
	if (found) {
		item->item = (uint64_t)sqlite3_column_int64(s, 0);
		item->lane = sqlite3_column_int(s, 1);
		item->state = state_of(ledger_column_str(s, 2));
	}
	ledger_end(s);
	return found;
}

/* *ret_new: no other item has its key. */
static bool insert(struct ledger *l, struct str host, struct queue_item *item,
	enum queue_place place, bool *ret_new, struct report *r)
{
	size_t added = 0;
	int64_t at, number;

	if (!next_number(l, &number, r))
		return false;
	item->item = (uint64_t)number;
	item->state = QUEUE_QUEUED;
	item->added = clock_real_ms();
	if (!place_in(l, host, item->lane, place, item->item, number, &at, r))
		return false;
	sqlite3_stmt *s = use(l, LEDGER_QUEUE_ADD, host, item->item, r);
	if (!s)
		return false;
	(void)sqlite3_bind_int(s, 3, item->lane);
	(void)sqlite3_bind_int64(s, 4, at);
	if (item->key.len)
		ledger_bind_bytes(s, 5, item->key);
	(void)sqlite3_bind_int64(s, 6, (sqlite3_int64)item->added);
	ledger_bind_bytes(s, 7, item->payload);
	bool ok = change(l, s, &added, r);
	*ret_new = added > 0;
	return ok;
}

bool ledger_queue_add(struct ledger *l, struct str host, struct queue_item *item,
	enum queue_place place, bool *ret_new, struct report *r)
{
	*ret_new = false;
	if (!ledger_begin(l, true, r))
		return false;
	/* A key is hardly ever known: it is looked for only when it is in the way. */
	bool ok = ledger_accepts(host, item->key, item->payload, "queue item", r) &&
		  insert(l, host, item, place, ret_new, r) &&
		  (*ret_new || find_key(l, host, item, r));
	return ledger_conclude(l, ok, r);
}

bool ledger_queue_move(struct ledger *l, struct str host, uint64_t item, int lane,
	enum queue_place place, struct report *r)
{
	size_t moved = 0;
	int64_t number, at;

	if (!ledger_begin(l, true, r))
		return false;
	bool ok =
		next_number(l, &number, r) && place_in(l, host, lane, place, item, number, &at, r);
	sqlite3_stmt *s = ok ? use(l, LEDGER_QUEUE_MOVE, host, item, r) : NULL;
	if (s) {
		(void)sqlite3_bind_int(s, 3, lane);
		(void)sqlite3_bind_int64(s, 4, at);
	}
	return ledger_conclude(l, s && change(l, s, &moved, r), r) && moved > 0;
}

bool ledger_queue_edit(
	struct ledger *l, struct str host, uint64_t item, struct str payload, struct report *r)
{
	size_t edited = 0;

	if (!ledger_begin(l, true, r))
		return false;
	bool ok = ledger_accepts(host, S(""), payload, "queue item", r);
	sqlite3_stmt *s = ok ? use(l, LEDGER_QUEUE_EDIT, host, item, r) : NULL;
	if (s)
		ledger_bind_bytes(s, 3, payload);
	return ledger_conclude(l, s && change(l, s, &edited, r), r) && edited > 0;
}

/* -- looking -------------------------------------------------------------------------------------
 */

bool ledger_queue_each(struct ledger *l, struct str host, enum queue_state state,
	bool (*see)(void *data, const struct queue_item *item), void *data, struct report *r)
{
	static const enum ledger_statement lists[] = {
		[QUEUE_QUEUED] = LEDGER_QUEUE_QUEUED,
		[QUEUE_RUNNING] = LEDGER_QUEUE_RUNNING,
		[QUEUE_DONE] = LEDGER_QUEUE_DONE,
	};
	sqlite3_stmt *s = ledger_refresh(l, r) ? use(l, lists[state], host, 0, r) : NULL;
	int found = s ? 1 : -1;

	while (found > 0 && (found = first(l, s, r)) > 0) {
		struct queue_item item = read_item(s);

		if (!see(data, &item))
			break;
	}
	if (s)
		ledger_end(s);
	return found >= 0;
}

bool ledger_queue_count(
	struct ledger *l, struct str host, size_t lanes, size_t *ret, struct report *r)
{
	sqlite3_stmt *s = ledger_refresh(l, r) ? use(l, LEDGER_QUEUE_COUNT, host, lanes, r) : NULL;
	int found = s ? 1 : -1;

	memset(ret, 0, lanes * sizeof(*ret));
	while (found > 0 && (found = first(l, s, r)) > 0)
		ret[sqlite3_column_int64(s, 0)] = (size_t)sqlite3_column_int64(s, 1);
	if (s)
		ledger_end(s);
	return found >= 0;
}

/* The first item that a statement answers. As first(). */
static int find(struct ledger *l, sqlite3_stmt *s, struct arena *a, struct queue_item *ret,
	struct report *r)
{
	int found = first(l, s, r);

	if (found > 0)
		*ret = keep_item(a, read_item(s));
	if (s)
		ledger_end(s);
	return found;
}

bool ledger_queue_find(struct ledger *l, struct str host, uint64_t item, struct arena *a,
	struct queue_item *ret, struct report *r)
{
	return ledger_refresh(l, r) &&
	       find(l, use(l, LEDGER_QUEUE_FIND, host, item, r), a, ret, r) > 0;
}

/* -- from one state to the next ------------------------------------------------------------------
 */

static bool take(struct ledger *l, struct str host, struct str run, struct queue_item *item,
	struct report *r)
{
	sqlite3_stmt *s = use(l, LEDGER_QUEUE_TAKE, host, item->item, r);

	if (!s)
		return false;
	item->state = QUEUE_RUNNING;
	item->began = clock_real_ms();
	item->run = run;
	ledger_bind_str(s, 3, run);
	(void)sqlite3_bind_int64(s, 4, (sqlite3_int64)item->began);
	return ledger_step(l, s, "write a queue", r);
}

bool ledger_queue_next(struct ledger *l, struct str host, struct str run, struct arena *a,
	struct queue_item *ret, struct report *r)
{
	struct queue_item item;

	if (!ledger_begin(l, true, r))
		return false;
	/* The list of queued items is in the order of taking: its first is the next. */
	int found = find(l, use(l, LEDGER_QUEUE_QUEUED, host, 0, r), a, &item, r);
	bool ok = found >= 0 && (!found || take(l, host, arena_str(a, run), &item, r));
	if (!ledger_conclude(l, ok, r) || !found)
		return false;
	*ret = item;
	return true;
}

/* An item without a key leaves nothing behind; of one with a key the key stays. */
static bool finish(
	struct ledger *l, struct str host, uint64_t item, enum queue_state state, struct report *r)
{
	static const enum ledger_statement ways[] = { LEDGER_QUEUE_END, LEDGER_QUEUE_DROP };
	size_t ended = 0;
	bool ok = ledger_begin(l, true, r);

	if (!ok)
		return false;
	for (size_t i = 0; ok && !ended && i < ARRAY_SIZE(ways); i++) {
		sqlite3_stmt *s = use(l, ways[i], host, item, r);

		if (s) {
			ledger_bind_str(s, 3, states[state]);
			(void)sqlite3_bind_int64(s, 4, (sqlite3_int64)clock_real_ms());
		}
		ok = change(l, s, &ended, r);
	}
	return ledger_conclude(l, ok, r) && ended > 0;
}

bool ledger_queue_remove(struct ledger *l, struct str host, uint64_t item, struct report *r)
{
	return finish(l, host, item, QUEUE_QUEUED, r);
}

bool ledger_queue_done(struct ledger *l, struct str host, uint64_t item, struct report *r)
{
	return finish(l, host, item, QUEUE_RUNNING, r);
}

bool ledger_queue_clear(struct ledger *l, struct str host, size_t *ret_removed, struct report *r)
{
	size_t kept = 0, gone = 0;

	*ret_removed = 0;
	if (!ledger_begin(l, true, r))
		return false;
	bool ok = change(l, use(l, LEDGER_QUEUE_CLEAR_KEYED, host, clock_real_ms(), r), &kept, r) &&
		  change(l, use(l, LEDGER_QUEUE_CLEAR, host, 0, r), &gone, r);
	if (!ledger_conclude(l, ok, r))
		return false;
	*ret_removed = kept + gone;
	return true;
}

/* A statement with host and number, in a transaction of its own. */
static bool change_alone(struct ledger *l, enum ledger_statement which, struct str host,
	uint64_t number, size_t *ret, struct report *r)
{
	return ledger_begin(l, true, r) &&
	       ledger_conclude(l, change(l, use(l, which, host, number, r), ret, r), r);
}

bool ledger_queue_put_back(struct ledger *l, struct str host, uint64_t item, struct report *r)
{
	size_t put = 0;

	return change_alone(l, LEDGER_QUEUE_PUT_BACK, host, item, &put, r) && put > 0;
}

bool ledger_queue_forget(struct ledger *l, struct str host, uint64_t before_ms, struct report *r)
{
	size_t forgotten = 0;

	return change_alone(l, LEDGER_QUEUE_FORGET, host, before_ms, &forgotten, r);
}
