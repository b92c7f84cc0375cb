#include "hosts/telegram/bridge/route.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/chat.h"
#include "hosts/telegram/bridge/external.h"
#include "hosts/telegram/bridge/groups.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/bridge/transcript.h"
#include "hosts/telegram/rules/update.h"

enum {
	AGAIN_MS = 1000,
	TOGETHER = 256, /* updates of one transaction */
	REFUSAL_MS = 60 * 60 * 1000,
};

struct pending {
	struct list link;
	int64_t id;
	json_t *update;
	bool screened; /* external handlers have seen it */
};

static const char *row_key(char *key, size_t size, int64_t id)
{
	(void)snprintf(key, size, "u/%020lld", (long long)id);
	return key;
}

static bool journal(struct bridge *b, int64_t id, const json_t *update)
{
	char key[32];

	return store_set(&b->store, row_key(key, sizeof(key), id), update);
}

bool route_forget(struct bridge *b, int64_t id)
{
	char key[32];

	return store_delete(&b->store, row_key(key, sizeof(key), id)) || !b->store.report.errors;
}

void route_add(struct bridge *b, json_t *update)
{
	struct pending *p = mem_new(struct pending);

	(void)json_whole(json_object_get(update, "update_id"), &p->id);
	p->update = json_incref(update);
	list_append(&b->router.pending, &p->link);
}

static void drop(struct pending *p)
{
	list_remove(&p->link);
	json_decref(p->update);
	free(p);
}

/* -- one update ----------------------------------------------------------------------------------
 */

/* What another person has said here is not for this one. */
static void forget_other(struct bridge *b)
{
	AUTO_JSON *before = store_get(&b->store, "person");

	if (json_is_integer(before) && json_integer_value(before) != b->user) {
		(void)waiting_clear(b);
		groups_clear(b);
		transcript_forget(b);
		(void)turns_hold(b, false);
	}
	(void)store_set_new(&b->store, "person", json_integer(b->user));
}

/* The person is known from now on, whatever becomes of this process. */
static bool pair(struct bridge *b, const struct update *u)
{
	AUTO_JSON *changes =
		json_pack("{s:I,s:n}", "allowedUserId", (json_int_t)u->user, "pairing.code");
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF note = BUF_INIT;

	if (!conf_write(&b->config, changes, &note, &r)) {
		report_move(&b->store.report, &r);
		return false;
	}
	b->user = u->user;
	forget_other(b);
	bridge_note(b, NULL, "paired with user %lld", (long long)u->user);
	if (u->greets)
		send_line(b, u->chat, u->message_id, "Paired: this bot now answers to you alone.");
	return true;
}

/* A stranger gets one line an hour; a button always a popup. */
static void refuse(struct bridge *b, const struct update *u)
{
	char key[40];
	uint64_t now = clock_real_ms();

	if (u->kind == UPDATE_CALLBACK) {
		send_answer(
			b, json_text_of(u->body, "id"), S("This bot belongs to another person."));
		return;
	}
	(void)snprintf(key, sizeof(key), "stranger/%lld", (long long)u->user);
	AUTO_JSON *last = store_get(&b->store, key);
	if (last && now < (uint64_t)json_integer_value(last) + REFUSAL_MS / b->places.clock)
		return;
	(void)store_set_new(&b->store, key, json_integer((json_int_t)now));
	send_line(b, u->chat, u->message_id, "This bot belongs to another person.");
}

static enum routed handle(struct bridge *b, struct pending *p)
{
	struct arena a = ARENA_INIT;
	struct pairing pairing = { .paired = b->user != 0,
		.user = b->user,
		.code = conf_text(&b->config, "pairing.code") };
	struct update u;
	enum routed done = ROUTED;

	update_classify(&a, p->update, &pairing, &u);
	if (u.pairs && !pair(b, &u)) {
		done = ROUTED_FAILED;
	} else if (u.denied) {
		refuse(b, &u);
	} else if (u.kind != UPDATE_IGNORE) {
		if (u.user == b->user) {
			b->blocked = false;
			b->router.nudge = true;
		}
		done = chat_update(b, p->id, &u);
	}
	arena_done(&a);
	return done;
}

static enum routed route(struct bridge *b, struct pending *p)
{
	if (!p->screened && external_wanted(b, p->update)) {
		b->router.busy = true;
		return ROUTED_LATER;
	}
	enum routed done = handle(b, p);
	if (done == ROUTED && !route_forget(b, p->id))
		return ROUTED_FAILED;
	return done;
}

bool route_take(struct bridge *b, int64_t id, json_t *update, bool *ret_waits)
{
	struct router *r = &b->router;
	struct pending p = { .id = id, .update = update };

	*ret_waits |= !list_empty(&r->pending) || r->busy || r->careful ||
		      timer_running(&r->again) || external_wanted(b, update);
	if (*ret_waits)
		return journal(b, id, update);
	enum routed done = handle(b, &p);
	return done != ROUTED_FAILED && !b->store.report.errors &&
	       (done != ROUTED_KEPT || journal(b, id, update));
}

/* -- many ----------------------------------------------------------------------------------------
 */

/* Every query is answered, also one that comes to nothing here. */
static void answer_silently(struct bridge *b, const json_t *update)
{
	const json_t *query = json_object_get(update, "callback_query");

	if (json_text_of(query, "id").len)
		send_answer(b, json_text_of(query, "id"), S(""));
}

/* Recorded, marked and passed over. */
static void give_up(struct bridge *b, struct pending *p)
{
	char key[32];

	(void)snprintf(key, sizeof(key), "f/%020lld", (long long)p->id);
	bridge_note(b, "polling", "update %lld failed %d times and is passed over",
		(long long)p->id, POLL_FAILURES);
	(void)store_set(&b->store, key, p->update);
	(void)route_forget(b, p->id);
	answer_silently(b, p->update);
	drop(p);
}

/* -- behind the transaction ----------------------------------------------------------------------
 */

struct after {
	struct list link;
	after_fn *act;
	json_t *data;
};

void route_after(struct bridge *b, after_fn *act, json_t *data)
{
	struct after *a = mem_new(struct after);

	a->act = act;
	a->data = data;
	list_append(&b->router.after, &a->link);
}

static void do_after(struct bridge *b, bool really)
{
	while (!list_empty(&b->router.after)) {
		struct after *a = list_entry(b->router.after.next, struct after, link);

		list_remove(&a->link);
		if (really)
			a->act(b, a->data);
		json_decref(a->data);
		free(a);
	}
}

static void forget_all(struct list *pending)
{
	list_each_safe (link, pending)
		drop(list_entry(link, struct pending, link));
}

static void load(struct bridge *b)
{
	AUTO_JSON *left = store_list(&b->store, "u/");
	json_t *row;
	size_t i;

	forget_all(&b->router.pending);
	json_array_foreach(left, i, row) route_add(b, json_array_get(row, 1));
}

void route_reload(struct bridge *b)
{
	do_after(b, false);
	(void)bridge_note_store(b);
	groups_stop(b);
	groups_start(b);
	(void)waiting_load(b);
	load(b);
	b->router.careful = true;
	timer_start(b->loop, &b->router.again, AGAIN_MS);
}

/* One of many is to blame; the next try, with one for each transaction, finds out which. */
static void failed(struct bridge *b, int64_t id)
{
	struct router *r = &b->router;

	if (r->careful) {
		r->failures = r->failing == id ? r->failures + 1 : 1;
		r->failing = id;
	}
	route_reload(b);
	struct pending *first =
		list_empty(&r->pending) ? NULL : list_entry(r->pending.next, struct pending, link);
	if (first && first->id == r->failing && !polling_again(r->failures)) {
		r->failures = 0;
		give_up(b, first);
	}
}

/* Some updates in one transaction. False: it is over for now. */
static bool batch(struct bridge *b)
{
	struct router *r = &b->router;
	struct list done;
	enum routed result = ROUTED;
	size_t left = r->careful ? 1 : TOGETHER;
	struct pending *p = list_entry(r->pending.next, struct pending, link);

	list_init(&done);
	if (!host_batch_begin(b->app, &b->store.report)) {
		failed(b, p->id);
		return false;
	}
	while (left-- && !list_empty(&r->pending)) {
		p = list_entry(r->pending.next, struct pending, link);
		result = route(b, p);
		if (result == ROUTED_FAILED || result == ROUTED_LATER || b->store.report.errors)
			break;
		list_remove(&p->link);
		list_append(&done, &p->link);
	}
	int64_t id = p->id;
	bool ok = result != ROUTED_FAILED && !b->store.report.errors &&
		  host_batch_commit(b->app, &b->store.report);
	if (!ok)
		host_batch_undo(b->app);
	forget_all(&done);
	if (!ok) {
		r->busy = false;
		failed(b, id);
		return false;
	}
	r->careful = false;
	if (result == ROUTED_LATER)
		external_start(b, p->update);
	return result != ROUTED_LATER;
}

void route_run(struct bridge *b)
{
	struct router *r = &b->router;

	while (!r->busy && !timer_running(&r->again) && !list_empty(&r->pending) &&
		b->state != BRIDGE_STOPPING && bridge_speaks(b))
		if (!batch(b))
			break;
	do_after(b, true);
	if (r->nudge) {
		r->nudge = false;
		deliver_again(b);
	}
	turns_after(b);
}

void route_resume(struct bridge *b, bool consumed)
{
	struct pending *p = list_entry(b->router.pending.next, struct pending, link);

	b->router.busy = false;
	p->screened = true;
	if (consumed) {
		(void)route_forget(b, p->id);
		answer_silently(b, p->update);
		drop(p);
	}
	route_run(b);
}

static void on_again(struct timer *t)
{
	route_run(container_of(t, struct bridge, router.again));
}

void route_start(struct bridge *b)
{
	b->router.again.fire = on_again;
	load(b);
	route_run(b);
}

void route_stop(struct bridge *b)
{
	timer_stop(&b->router.again);
	forget_all(&b->router.pending);
	do_after(b, false);
}
