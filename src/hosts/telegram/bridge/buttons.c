#include "hosts/telegram/bridge/buttons.h"

#include <sys/random.h>

#include "base/clock.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/rules/callback.h"

enum { LIFE_MS = 24 * 60 * 60 * 1000 };

struct str random_id(struct arena *a)
{
	uint32_t r = 0;

	(void)!getrandom(&r, sizeof(r), 0);
	return arena_printf(a, "%08x", r);
}

static const char *key_of(struct arena *a, struct str id)
{
	return arena_printf(a, "b/%.*s", STR(id)).p;
}

struct str buttons_new(struct bridge *b, struct arena *a, const json_t *action)
{
	struct str id = random_id(a);
	AUTO_JSON *kept = json_copy((json_t *)action);

	json_object_set_new(kept, "chat", json_integer(b->user));
	json_object_set_new(kept, "until",
		json_integer((json_int_t)(clock_real_ms() + LIFE_MS / b->places.clock)));
	return store_set(&b->store, key_of(a, id), kept) ? callback_button(a, id) : S("");
}

static void sent(struct bridge *b, struct str data, int64_t message)
{
	struct arena a = ARENA_INIT;
	struct callback c;

	callback_parse(data, &c);
	AUTO_JSON *kept = c.kind == CALLBACK_BUTTON ? store_get(&b->store, key_of(&a, c.id)) : NULL;
	if (kept && !json_truth_of(kept, "used")) {
		json_object_set_new(kept, "message", json_integer(message));
		(void)store_set(&b->store, key_of(&a, c.id), kept);
	}
	arena_done(&a);
}

void buttons_sent(struct bridge *b, const json_t *keyboard, int64_t message)
{
	const json_t *row, *button;
	size_t i, n;

	json_array_foreach(keyboard, i, row)
	{
		json_array_foreach(row, n, button)
			sent(b, json_text_of(button, "callback_data"), message);
	}
}

enum button_state buttons_find(
	struct bridge *b, struct str id, int64_t chat, int64_t message, json_t **ret_action)
{
	struct arena a = ARENA_INIT;
	AUTO_JSON *kept = store_get(&b->store, key_of(&a, id));
	json_int_t there = json_number_of(kept, "message");
	bool ours = kept && json_number_of(kept, "chat") == chat && (!there || there == message);
	enum button_state state = BUTTON_EXPIRED;

	if (ours && json_truth_of(kept, "used")) {
		state = BUTTON_USED;
	} else if (ours && (uint64_t)json_number_of(kept, "until") > clock_real_ms()) {
		*ret_action = json_incref(kept);
		state = BUTTON_FIRES;
	}
	arena_done(&a);
	return state;
}

bool buttons_use(struct bridge *b, struct str id, const json_t *action)
{
	struct arena a = ARENA_INIT;
	AUTO_JSON *used = json_pack("{s:b,s:O,s:O,s:O*}", "used", 1, "until",
		json_object_get(action, "until"), "chat", json_object_get(action, "chat"),
		"message", json_object_get(action, "message"));
	bool ok = store_set(&b->store, key_of(&a, id), used);

	arena_done(&a);
	return ok;
}

void buttons_expire(struct bridge *b)
{
	AUTO_JSON *all = store_list(&b->store, "b/");
	uint64_t now = clock_real_ms();
	json_t *pair;
	size_t i;

	json_array_foreach(all, i,
		pair) if ((uint64_t)json_number_of(json_array_get(pair, 1), "until") < now)(void)
		store_delete(&b->store, json_string_value(json_array_get(pair, 0)));
}

json_t *button_row(struct str label, struct str data)
{
	return json_pack(
		"[{s:o,s:o}]", "text", json_from_str(label), "callback_data", json_from_str(data));
}
