#include "hosts/telegram/bridge/poll.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/rules/update.h"
#include "hosts/telegram/text/redact.h"

enum {
	POLL_DEADLINE_MS = 40000,
	CONFLICT_QUICK = 3,
	CONFLICT_QUICK_MS = 1000,
	CONFLICT_MS = 30000,
};

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

/* The new ones of an answer, in order; those that were seen before, because the service repeats
 * them, are left out. `at` is then behind them. Returns how many. */
static size_t pick(struct polling *at, const json_t *updates, json_t **ret)
{
	size_t count = 0, fresh = 0, i;
	int64_t id;
	json_t *u;

	json_array_foreach((json_t *)updates, i, u)
	{
		if (json_whole(json_object_get(u, "update_id"), &id))
			ret[count++] = u;
	}
	if (count)
		qsort(ret, count, sizeof(*ret), by_id);
	for (i = 0; i < count; i++)
		if (json_whole(json_object_get(ret[i], "update_id"), &id) &&
			polling_take(at, id, clock_real_ms()))
			ret[fresh++] = ret[i];
	return fresh;
}

static bool write_offset(struct bridge *b, int64_t last)
{
	return store_set_new(&b->store, "offset",
		json_pack("{s:I,s:I,s:I}", "bot", (json_int_t)b->bot_id, "last", (json_int_t)last,
			"time", (json_int_t)clock_real_ms()));
}

/* A token that a person sends by mistake is not written down. All new updates, or what came of
 * them, and the offset behind them in one transaction. False: nothing was written. */
static bool journal(struct bridge *b, const json_t *updates)
{
	struct polling next = b->poller.at;
	AUTO_JSON *clean = redact_needs(updates, b->token) ? redact_json(updates, b->token)
							   : json_incref((json_t *)updates);
	AUTO_FREE json_t **fresh = mem_zero(sizeof(*fresh) * (json_array_size(updates) + 1));
	size_t count = pick(&next, clean, fresh), direct = 0;
	bool waits = false;
	int64_t id;

	if (!count)
		return true;
	bool ok = host_batch_begin(b->app, &b->store.report);
	for (size_t i = 0; ok && i < count; i++) {
		(void)json_whole(json_object_get(fresh[i], "update_id"), &id);
		ok = route_take(b, id, fresh[i], &waits);
		direct += !waits;
	}
	ok = ok && write_offset(b, next.last) && host_batch_commit(b->app, &b->store.report);
	if (ok) {
		b->poller.at = next;
		for (size_t i = direct; i < count; i++)
			route_add(b, fresh[i]);
	} else {
		host_batch_undo(b->app);
		route_reload(b);
	}
	(void)bridge_note_store(b);
	return ok;
}

/* -- asking --------------------------------------------------------------------------------------
 */

static void take_answer(struct bridge *b, const struct api_answer *answer)
{
	struct poller *p = &b->poller;

	if (!p->at.synced) {
		json_t *newest =
			json_array_get(answer->result, json_array_size(answer->result) - 1);
		int64_t id;
		bool some = json_whole(json_object_get(newest, "update_id"), &id);

		polling_synced(&p->at, some ? &id : NULL, clock_real_ms());
		if (some)
			(void)write_offset(b, id);
		fetch(b);
		return;
	}
	if (!journal(b, answer->result)) {
		pause_then_fetch(b, POLL_PAUSE_MS);
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
		bridge_note(b, "polling",
			"another program polls with this token: %.*s; end it, or take a new token",
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
		pause_then_fetch(b, POLL_PAUSE_MS);
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
	struct poll_request q = polling_request(&p->at, clock_real_ms());
	json_t *params = json_object();

	if (b->state == BRIDGE_STARTING)
		b->state = BRIDGE_POLLING;
	if (q.has_offset)
		json_object_set_new(params, "offset", json_integer(q.offset));
	json_object_set_new(params, "limit", json_integer(q.limit));
	json_object_set_new(params, "timeout", json_integer(q.timeout_s));
	json_object_set_new(params, "allowed_updates", allowed_updates());
	p->call = api_start(b->api, &(struct api_request){ .method = "getUpdates",
					    .params = params,
					    .deadline_ms = POLL_DEADLINE_MS,
					    .patience = API_ONCE,
					    .done = on_updates,
					    .data = b });
	if (p->at.synced && !p->told) {
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
	AUTO_JSON *kept = store_get(&b->store, "offset");
	uint64_t ms = clock_real_ms();
	int64_t last;
	bool some = false;

	if (kept && json_number_of(kept, "bot") == b->bot_id) {
		some = json_whole(json_object_get(kept, "last"), &last);
		ms = (uint64_t)json_number_of(kept, "time");
	} else if (!kept) {
		some = json_whole(conf_get(&b->config, "lastUpdateId"), &last);
	}
	polling_init(&b->poller.at, some ? &last : NULL, ms);
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
	AUTO_JSON *changes = json_pack("{s:I}", "lastUpdateId", (json_int_t)b->poller.at.last);
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF note = BUF_INIT;

	if (b->poller.at.has_last)
		(void)conf_write(&b->config, changes, &note, &r);
}
