#include "hosts/telegram/bridge/groups.h"

#include <stdlib.h>

#include "base/mem.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/chat.h"
#include "hosts/telegram/bridge/command.h"
#include "hosts/telegram/rules/group.h"
#include "hosts/telegram/rules/update.h"

struct groups {
	struct bridge *bridge;
	struct timer timer;
	json_t *messages; /* of the open group; empty: none is open */
	json_t *updates;  /* their numbers */
};

static void on_timer(struct timer *t)
{
	struct groups *g = container_of(t, struct groups, timer);
	struct bridge *b = g->bridge;
	bool ok = host_batch_begin(b->app, &b->store.report) && groups_flush(b);

	if (!ok || !host_batch_commit(b->app, &b->store.report)) {
		host_batch_undo(b->app);
		(void)bridge_note_store(b);
		route_reload(b);
		return;
	}
	turns_after(b);
}

void groups_start(struct bridge *b)
{
	struct groups *g = b->groups = mem_new(struct groups);

	g->bridge = b;
	g->timer.fire = on_timer;
	g->messages = json_array();
	g->updates = json_array();
}

static void forget(struct groups *g)
{
	timer_stop(&g->timer);
	json_array_clear(g->messages);
	json_array_clear(g->updates);
}

void groups_stop(struct bridge *b)
{
	struct groups *g = TAKE(b->groups);

	if (!g)
		return;
	timer_stop(&g->timer);
	json_decref(g->messages);
	json_decref(g->updates);
	free(g);
}

static bool forget_rows(struct bridge *b, const json_t *updates)
{
	json_t *id;
	size_t i;
	bool ok = true;

	json_array_foreach((json_t *)updates, i, id) ok &= route_forget(b, json_integer_value(id));
	return ok;
}

bool groups_flush(struct bridge *b)
{
	struct groups *g = b->groups;
	bool ok = true;

	if (!json_array_size(g->messages))
		return true;
	AUTO_JSON *messages = json_copy(g->messages);
	AUTO_JSON *updates = json_copy(g->updates);
	int64_t first = json_integer_value(json_array_get(updates, 0));
	forget(g);
	/* A command in the caption of an album counts. */
	if (!command_of_album(b, first, messages, &ok))
		ok = chat_admit(b, first, messages, NULL);
	return ok && forget_rows(b, updates);
}

static void join(struct bridge *b, int64_t id, const struct update *u, uint64_t ms)
{
	struct groups *g = b->groups;

	json_array_append(g->messages, (json_t *)u->message);
	json_array_append_new(g->updates, json_integer(id));
	timer_start(b->loop, &g->timer, ms);
}

enum routed groups_take(struct bridge *b, int64_t id, const struct update *u)
{
	struct groups *g = b->groups;
	const json_t *last = json_array_get(g->messages, json_array_size(g->messages) - 1);
	uint64_t ms;

	if (last && group_joins(last, u->message, &ms)) {
		join(b, id, u, ms);
		return ROUTED_KEPT;
	}
	if (!groups_flush(b))
		return ROUTED_FAILED;
	if (group_opens(u->message, &ms)) {
		join(b, id, u, ms);
		return ROUTED_KEPT;
	}
	AUTO_JSON *alone = json_pack("[O]", (json_t *)u->message);
	return chat_admit(b, id, alone, NULL) ? ROUTED : ROUTED_FAILED;
}

static size_t find(const struct groups *g, int64_t message)
{
	json_t *m;
	size_t i;

	json_array_foreach(
		g->messages, i, m) if (json_number_of(m, "message_id") == message) return i;
	return SIZE_MAX;
}

bool groups_edit(struct bridge *b, const struct update *u)
{
	size_t at = find(b->groups, u->message_id);

	if (at == SIZE_MAX)
		return false;
	json_array_set(b->groups->messages, at, (json_t *)u->body);
	return true;
}

void groups_drop(struct bridge *b, int64_t message)
{
	if (find(b->groups, message) != SIZE_MAX)
		groups_clear(b);
}

void groups_clear(struct bridge *b)
{
	AUTO_JSON *updates = json_copy(b->groups->updates);

	forget(b->groups);
	(void)forget_rows(b, updates);
}
