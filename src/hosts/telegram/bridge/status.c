#include "hosts/telegram/bridge/status.h"

#include "base/clock.h"
#include "hosts/telegram/bridge/bridge.h"

static const char *const names[] = {
	[BRIDGE_STARTING] = "polling",
	[BRIDGE_POLLING] = "polling",
	[BRIDGE_CONFLICT] = "conflict",
	[BRIDGE_REFUSED] = "refused",
	[BRIDGE_LOST] = "lost",
	[BRIDGE_STOPPING] = "stopped",
};

void bridge_status_write(struct bridge *b)
{
	if (b->told == b->state)
		return;
	b->told = b->state;
	(void)store_set_new(&b->store, "state",
		json_pack(
			"{s:s,s:I}", "state", names[b->state], "pid", (json_int_t)b->lock.me.pid));
}

/* A live owner's own word, if it is about that owner; after an end, whether that was a failure. */
static const char *state_of(
	struct bridge *b, enum lock_state standing, const struct lock_entry *owner)
{
	AUTO_JSON *said = store_get(&b->store, "state");
	struct str state = json_text_of(said, "state");

	if (standing == LOCK_STATE_ELSEWHERE && !str_eq(owner->cwd, b->lock.me.cwd))
		return "elsewhere";
	if (standing == LOCK_STATE_ELSEWHERE && json_number_of(said, "pid") == owner->pid)
		return str_eq(state, S("conflict")) ? "conflict" : "polling";
	if (standing == LOCK_STATE_ELSEWHERE)
		return "polling";
	return str_eq(state, S("refused")) ? "refused"
	       : str_eq(state, S("lost"))  ? "lost"
					   : "stopped";
}

static bool note_turn(void *data, const struct queue_item *item)
{
	json_t *d = data;
	AUTO_BUF since = BUF_INIT;

	clock_rfc3339(&since, item->began);
	json_object_set_new(d, "turn",
		json_pack("{s:I,s:o,s:s}", "id", (json_int_t)item->item, "run",
			json_from_str(item->run), "since", buf_cstr(&since)));
	return false;
}

static json_t *queue_of(struct bridge *b)
{
	static const char *const lanes[] = { "control", "priority", "default" };
	size_t waiting[ARRAY_SIZE(lanes)] = { 0 };
	json_t *queue = json_object();

	(void)queue_count(b->app, STORE_HOST, ARRAY_SIZE(lanes), waiting, &b->store.report);
	for (size_t lane = 0; lane < ARRAY_SIZE(lanes); lane++)
		json_object_set_new(queue, lanes[lane], json_integer((json_int_t)waiting[lane]));
	return queue;
}

/* The bridge continues meanwhile, so work is looked for in the order in which it moves on: what
 * moves may be shown at two places, and never at none. */
static void note_work(struct bridge *b, json_t *d)
{
	AUTO_JSON *offset = store_get(&b->store, "offset");
	AUTO_JSON *held = store_get(&b->store, "held");
	json_t *queue = queue_of(b);

	json_object_set_new(
		d, "offset", offset ? json_integer(json_number_of(offset, "last")) : json_null());
	json_object_set_new(d, "turn", json_null());
	(void)queue_each(b->app, STORE_HOST, QUEUE_RUNNING, note_turn, d, &b->store.report);
	AUTO_JSON *left = store_list(&b->store, "d/");
	json_object_set_new(d, "held", json_boolean(json_is_true(held)));
	json_object_set_new(d, "queue", queue);
	json_object_set_new(d, "undelivered", json_integer((json_int_t)json_array_size(left)));
}

json_t *bridge_status(struct bridge *b)
{
	struct arena a = ARENA_INIT;
	struct lock_entry owner;
	enum lock_state standing = lock_look(&b->lock, &a, &owner);
	bool live = standing == LOCK_STATE_ELSEWHERE || standing == LOCK_STATE_HERE;
	json_t *d = json_pack("{s:b,s:s}", "ok", 1, "state", state_of(b, standing, &owner));

	json_object_set_new(d, "bot",
		json_pack("{s:o,s:o}", "id", b->bot_id ? json_integer(b->bot_id) : json_null(),
			"username",
			json_incref(conf_get(&b->config, "botUsername"))
				? conf_get(&b->config, "botUsername")
				: json_null()));
	json_object_set_new(d, "pid", live ? json_integer(owner.pid) : json_null());
	json_object_set_new(d, "cwd", live ? json_from_str(owner.cwd) : json_null());
	json_object_set_new(d, "paired", json_boolean(b->user != 0));
	note_work(b, d);
	json_object_set_new(d, "recent", ring_recent(&b->store, RING_SHOWN));
	if (b->places.clock != 1)
		json_object_set_new(d, "clock", json_integer((json_int_t)b->places.clock));
	arena_done(&a);
	return d;
}
