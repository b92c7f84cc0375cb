/* The face of what the ledger keeps for hosts. */
#include "app/queue.h"

#include "app/context/context.h"
#include "runs/ledger/host-state.h"
#include "runs/ledger/queue.h"

bool host_batch_begin(struct app *a, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	if (l)
		ledger_stays(l);
	return l && ledger_batch_begin(l, true, r);
}

/* After a begin that succeeded: the ledger is there. */
bool host_batch_commit(struct app *a, struct report *r)
{
	return ledger_batch_commit(a->ledger, r);
}

void host_batch_undo(struct app *a)
{
	ledger_batch_undo(a->ledger);
}

bool queue_add(struct app *a, struct str host, struct queue_item *item, enum queue_place place,
	bool *ret_new, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_queue_add(l, host, item, place, ret_new, r);
}

bool queue_each(struct app *a, struct str host, enum queue_state state,
	bool (*see)(void *data, const struct queue_item *item), void *data, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_queue_each(l, host, state, see, data, r);
}

bool queue_count(struct app *a, struct str host, size_t lanes, size_t *ret, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_queue_count(l, host, lanes, ret, r);
}

bool queue_find(struct app *a, struct str host, uint64_t item, struct arena *arena,
	struct queue_item *ret, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_queue_find(l, host, item, arena, ret, r);
}

bool queue_move(struct app *a, struct str host, uint64_t item, int lane, enum queue_place place,
	struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_queue_move(l, host, item, lane, place, r);
}

bool queue_edit(struct app *a, struct str host, uint64_t item, struct str payload, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_queue_edit(l, host, item, payload, r);
}

bool queue_remove(struct app *a, struct str host, uint64_t item, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_queue_remove(l, host, item, r);
}

bool queue_clear(struct app *a, struct str host, size_t *ret_removed, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_queue_clear(l, host, ret_removed, r);
}

bool queue_next(struct app *a, struct str host, struct str run, struct arena *arena,
	struct queue_item *ret, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_queue_next(l, host, run, arena, ret, r);
}

bool queue_done(struct app *a, struct str host, uint64_t item, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_queue_done(l, host, item, r);
}

bool queue_put_back(struct app *a, struct str host, uint64_t item, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_queue_put_back(l, host, item, r);
}

bool queue_forget(struct app *a, struct str host, uint64_t before_ms, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_queue_forget(l, host, before_ms, r);
}

bool host_state_get(struct app *a, struct str host, struct str key, struct arena *arena,
	struct str *ret, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_state_get(l, host, key, arena, ret, r);
}

bool host_state_set(
	struct app *a, struct str host, struct str key, struct str value, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_state_set(l, host, key, value, r);
}

bool host_state_delete(struct app *a, struct str host, struct str key, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_state_delete(l, host, key, r);
}

bool host_state_swap(struct app *a, struct str host, struct str key, const struct str *expected,
	struct str value, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_state_swap(l, host, key, expected, value, r);
}

bool host_state_each(struct app *a, struct str host, struct str prefix,
	bool (*see)(void *data, struct str key, struct str value), void *data, struct report *r)
{
	struct ledger *l = app_make_ledger(a, r);

	return l && ledger_state_each(l, host, prefix, see, data, r);
}
