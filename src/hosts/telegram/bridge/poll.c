#include "hosts/telegram/bridge/poll.h"

#include <stdlib.h>

#include "base/clock.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/rules/update.h"

enum {
	POLL_LIMIT = 10,
	POLL_S = 30,
	POLL_DEADLINE_MS = 40000,
	PAUSE_MS = 3000,
	CONFLICT_QUICK = 3,
	CONFLICT_QUICK_MS = 1000,
	CONFLICT_MS = 30000,
};
/* After so long without an update the service may number anew. */
static const uint64_t IDS_LAST_MS = 6ull * 24 * 60 * 60 * 1000;

static void delete_webhook(struct bridge *b);
static void fetch(struct bridge *b);

static void on_pause(struct timer *t)
{
	fetch(container_of(t, struct bridge, poller.pause));
}

static void pause_then_fetch(struct bridge *b, uint64_t ms)
{
	timer_start(b->loop, &b->poller.pause, ms);
}

/* -- the journal ---------------------------------------------------------------------------------
 */

static int by_id(const void *one, const void *other)
{
	int64_t a = 0, b = 0;

	(void)json_whole(json_object_get(*(json_t *const *)one, "update_id"), &a);
	(void)json_whole(json_object_get(*(json_t *const *)other, "update_id"), &b);
	return (a > b) - (a < b);
}

/* Of a sorted list; returns how many are left. */
static size_t drop_equal(json_t **list, size_t count)
{
	size_t kept = 1;

	for (size_t i = 1; i < count; i++)
		if (by_id(&list[kept - 1], &list[i]) != 0)
			list[kept++] = list[i];
	return kept;
}

static bool write_offset(struct bridge *b, int64_t last)
{
	return store_set_new(&b->store, "offset",
		json_pack("{s:I,s:I,s:I}", "bot", (json_int_t)b->bot_id, "last", (json_int_t)last,
			"time", (json_int_t)clock_real_ms()));
}

/* All new updates, or what came of them, and the offset behind them in one transaction. What was
 * seen before, because the service repeats it, is left out. False: nothing was written. */
static bool journal(struct bridge *b, const json_t *updates)
{
	struct poller *p = &b->poller;
	VEC(json_t *) fresh = { 0 };
	int64_t id, last = p->last;
	bool ok = true, known = p->has_last, waits = false;
	json_t *u;
	size_t i, direct = 0;

	json_array_foreach((json_t *)updates, i,
		u) if (json_whole(json_object_get(u, "update_id"), &id) && (!known || id > p->last))
		vec_push(&fresh, u);
	if (!fresh.len) {
		vec_done(&fresh);
		return true;
	}
	qsort(fresh.at, fresh.len, sizeof(*fresh.at), by_id);
	fresh.len = drop_equal(fresh.at, fresh.len);
	ok = host_batch_begin(b->app, &b->store.report);
	for (i = 0; ok && i < fresh.len; i++) {
		(void)json_whole(json_object_get(fresh.at[i], "update_id"), &id);
		last = id;
		ok = route_take(b, id, fresh.at[i], &waits);
		direct += !waits;
	}
	ok = ok && write_offset(b, last) && host_batch_commit(b->app, &b->store.report);
	if (ok) {
		p->has_last = true;
		p->last = last;
		p->last_ms = clock_real_ms();
		for (i = direct; i < fresh.len; i++)
			route_add(b, fresh.at[i]);
	} else {
		host_batch_undo(b->app);
		route_reload(b);
	}
	vec_done(&fresh);
	(void)bridge_note_store(b);
	return ok;
}

/* -- asking --------------------------------------------------------------------------------------
 */

static void take_answer(struct bridge *b, const struct api_answer *answer)
{
	struct poller *p = &b->poller;

	if (!p->synced) {
		json_t *newest =
			json_array_get(answer->result, json_array_size(answer->result) - 1);

		p->synced = true;
		if (json_whole(json_object_get(newest, "update_id"), &p->last) &&
			write_offset(b, p->last)) {
			p->has_last = true;
			p->last_ms = clock_real_ms();
		}
		fetch(b);
		return;
	}
	if (!journal(b, answer->result)) {
		pause_then_fetch(b, PAUSE_MS);
		return;
	}
	fetch(b);
	route_run(b);
}

static void conflict(struct bridge *b, const struct api_answer *answer)
{
	struct poller *p = &b->poller;

	b->state = BRIDGE_CONFLICT;
	if (++p->conflicts == 1)
		bridge_note(b, "polling", "another program polls with this token: %.*s",
			STR(answer->description));
	pause_then_fetch(b, p->conflicts <= CONFLICT_QUICK ? CONFLICT_QUICK_MS : CONFLICT_MS);
}

static void on_updates(void *data, const struct api_answer *answer)
{
	struct bridge *b = data;

	b->poller.call = NULL;
	switch ((int)answer->class) {
	case API_OK:
		if (b->state == BRIDGE_CONFLICT)
			b->state = BRIDGE_POLLING;
		b->poller.conflicts = 0;
		take_answer(b, answer);
		return;
	case API_TOKEN_REFUSED:
		bridge_note(b, "polling",
			"the token is refused: %.*s; roux telegram setup takes "
			"another",
			STR(answer->description));
		bridge_end(b, BRIDGE_REFUSED, 1);
		return;
	case API_CONFLICT:
		conflict(b, answer);
		return;
	case API_WEBHOOK:
		delete_webhook(b);
		return;
	default:
		bridge_note(b, "polling", "getUpdates failed (%d): %.*s", answer->status,
			STR(answer->description));
		pause_then_fetch(b, PAUSE_MS);
	}
}

static json_t *allowed_updates(void)
{
	return json_pack(
		"[s,s,s,s]", "message", "edited_message", "callback_query", "message_reaction");
}

static void fetch(struct bridge *b)
{
	struct poller *p = &b->poller;
	json_t *params = json_object();

	if (b->state == BRIDGE_STARTING)
		b->state = BRIDGE_POLLING;
	if (p->has_last && clock_real_ms() > p->last_ms + IDS_LAST_MS)
		p->has_last = false;
	if (!p->synced)
		json_object_set_new(params, "offset", json_integer(-1));
	else if (p->has_last)
		json_object_set_new(params, "offset", json_integer(p->last + 1));
	json_object_set_new(params, "limit", json_integer(p->synced ? POLL_LIMIT : 1));
	json_object_set_new(params, "timeout", json_integer(p->synced ? POLL_S : 0));
	json_object_set_new(params, "allowed_updates", allowed_updates());
	p->call = api_start(b->api, &(struct api_request){ .method = "getUpdates",
					    .params = params,
					    .deadline_ms = POLL_DEADLINE_MS,
					    .patience = API_ONCE,
					    .done = on_updates,
					    .data = b });
	if (p->synced && !p->told) {
		p->told = true;
		if (p->ready)
			p->ready(p->data);
	}
}

static void on_webhook_deleted(void *data, const struct api_answer *answer)
{
	struct bridge *b = data;

	(void)answer; /* it may fail: polling is tried all the same */
	b->poller.call = NULL;
	fetch(b);
}

static void delete_webhook(struct bridge *b)
{
	b->poller.call =
		api_start(b->api, &(struct api_request){ .method = "deleteWebhook",
					  .params = json_pack("{s:b}", "drop_pending_updates", 0),
					  .patience = API_ONCE,
					  .done = on_webhook_deleted,
					  .data = b });
}

/* The ledger's offset, if it is that of this bot; else that of the file. */
static void find_offset(struct bridge *b)
{
	struct poller *p = &b->poller;
	AUTO_JSON *kept = store_get(&b->store, "offset");

	if (kept && json_number_of(kept, "bot") == b->bot_id) {
		p->has_last = json_whole(json_object_get(kept, "last"), &p->last);
		p->last_ms = (uint64_t)json_number_of(kept, "time");
	} else if (!kept && json_whole(conf_get(&b->config, "lastUpdateId"), &p->last)) {
		p->has_last = true;
		p->last_ms = clock_real_ms();
	}
	p->synced = p->has_last;
}

void poll_start(struct bridge *b)
{
	b->poller.pause.fire = on_pause;
	find_offset(b);
	delete_webhook(b);
}

void poll_stop(struct bridge *b)
{
	timer_stop(&b->poller.pause);
	api_cancel(TAKE(b->poller.call));
}

void poll_write_back(struct bridge *b)
{
	AUTO_JSON *changes = json_pack("{s:I}", "lastUpdateId", (json_int_t)b->poller.last);
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF note = BUF_INIT;

	if (b->poller.has_last)
		(void)conf_write(&b->config, changes, &note, &r);
}
