#include "hosts/telegram/bridge/press.h"

#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/buttons.h"
#include "hosts/telegram/bridge/chat.h"
#include "hosts/telegram/bridge/gates.h"
#include "hosts/telegram/bridge/menu.h"
#include "hosts/telegram/bridge/recipes.h"
#include "hosts/telegram/bridge/sections.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/rules/callback.h"
#include "hosts/telegram/rules/update.h"

void press_start(struct bridge *b)
{
	menus_start(b);
	buttons_expire(b);
	sections_start(b);
	gates_start(b);
	recipes_start(b);
}

void press_stop(struct bridge *b)
{
	recipes_stop(b);
	gates_stop(b);
	sections_stop(b);
	menus_stop(b);
}

static enum routed foreign(struct bridge *b, int64_t id, const struct update *u, struct str data)
{
	struct arena a = ARENA_INIT;
	bool ok = chat_raw_prompt(
		b, id, u->chat, u->message_id, arena_printf(&a, "[callback] %.*s", STR(data)));

	arena_done(&a);
	send_answer(b, json_text_of(u->body, "id"), S(""));
	return ok ? ROUTED : ROUTED_FAILED;
}

static enum routed button(
	struct bridge *b, int64_t id, const struct update *u, const struct callback *c)
{
	static const char *const words[] = {
		[BUTTON_FIRES] = "Queued.",
		[BUTTON_USED] = "Already sent.",
		[BUTTON_EXPIRED] = "This button has expired.",
	};
	json_t *taken = NULL;
	enum button_state state = buttons_take(b, c->id, &taken);
	AUTO_JSON *action = taken;
	json_t *again = json_object_get(action, "again");
	bool ok = true;

	if (again)
		ok = chat_again(b, id, again);
	else if (json_object_get(action, "question"))
		state = recipes_choose(b, action) ? BUTTON_FIRES : BUTTON_EXPIRED;
	else if (action)
		ok = chat_prompt(b, id, u->chat, u->message_id, json_text_of(action, "prompt"),
			LANE_DEFAULT, QUEUE_BACK);
	send_answer(b, json_text_of(u->body, "id"), str_of(words[state]));
	return ok ? ROUTED : ROUTED_FAILED;
}

enum routed press(struct bridge *b, int64_t id, const struct update *u)
{
	struct str query = json_text_of(u->body, "id"), data = json_text_of(u->body, "data");
	json_int_t sender = json_number_of(json_object_get(u->message, "from"), "id");
	struct callback c;

	callback_parse(data, &c);
	/* What this bot did not send has no buttons of this bot. */
	if (c.kind != CALLBACK_FOREIGN && sender && sender != b->bot_id)
		c.kind = CALLBACK_BAD;
	switch (c.kind) {
	case CALLBACK_EMPTY:
	case CALLBACK_BAD:
		send_answer(b, query, S(""));
		return ROUTED;
	case CALLBACK_FOREIGN:
		return foreign(b, id, u, data);
	case CALLBACK_BUTTON:
		return button(b, id, u, &c);
	case CALLBACK_GATE:
		gates_press(b, query, &c);
		return ROUTED;
	case CALLBACK_RUN_CANCEL:
		recipes_cancel(b, query, &c);
		return ROUTED;
	case CALLBACK_SECTION:
		sections_press(b, id, u, &c);
		return ROUTED;
	case CALLBACK_MENU:
	case CALLBACK_THINKING:
	case CALLBACK_MODEL:
	case CALLBACK_QUEUE:
	case CALLBACK_SETTINGS:
		return menu_press(b, u, &c) ? ROUTED : ROUTED_FAILED;
	}
	return ROUTED;
}
