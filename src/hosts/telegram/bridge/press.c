#include "hosts/telegram/bridge/press.h"

#include "hosts/telegram/bridge/agent.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/buttons.h"
#include "hosts/telegram/bridge/chat.h"
#include "hosts/telegram/bridge/gates.h"
#include "hosts/telegram/bridge/recipes.h"
#include "hosts/telegram/bridge/sections.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/rules/update.h"

void press_start(struct bridge *b)
{
	menus_start(b);
	buttons_expire(b);
	gates_start(b);
	recipes_start(b);
}

void press_stop(struct bridge *b)
{
	recipes_stop(b);
	gates_stop(b);
	menus_stop(b);
}

static struct str answer_words(enum press_answer answer)
{
	static const char *const words[] = {
		[ANSWER_SILENT] = "",
		[ANSWER_BY_ACT] = "",
		[ANSWER_MENU_EXPIRED] = "This menu has expired: /start opens a new one.",
		[ANSWER_BUTTON_EXPIRED] = "This button has expired.",
		[ANSWER_BUTTON_USED] = "Already sent.",
		[ANSWER_QUEUED] = "Queued.",
		[ANSWER_NO_THINKING] = "This agent has no thinking levels.",
		[ANSWER_NO_MODELS] = "No models are configured for this agent: set agent.models in "
				     "telegram.json.",
		[ANSWER_ITEM_GONE] = "It is no longer waiting.",
		[ANSWER_NOT_FOUND] = "It is no longer waiting.",
		[ANSWER_PRIORITIZED] = "Prioritized.",
		[ANSWER_NORMAL] = "Back in line.",
		[ANSWER_KEPT] = "Kept.",
		[ANSWER_DELETED] = "Deleted.",
		[ANSWER_PROACTIVE_ON] = "On.",
		[ANSWER_PROACTIVE_OFF] = "Off.",
	};

	return str_of(words[answer]);
}

/* -- the facts -----------------------------------------------------------------------------------
 */

static void find_turn(struct pressed *o)
{
	const struct callback *c = o->callback;

	o->item = c->message ? waiting_find(o->bridge, (int64_t)c->message) : 0;
	o->lane = LANE_DEFAULT;
	o->turn = waiting_get(o->bridge, o->item, &o->lane);
	if (o->turn && (uint64_t)json_number_of(o->turn, "chat") != c->chat)
		json_decref(TAKE(o->turn));
}

static struct press_facts facts_of(struct pressed *o)
{
	struct bridge *b = o->bridge;
	const struct update *u = o->update;
	json_int_t sender = json_number_of(json_object_get(u->message, "from"), "id");
	enum button_state button = BUTTON_EXPIRED;
	AUTO_JSON *models = agent_models(b);

	o->menu = menu_find(b, u->message_id);
	if (o->callback->kind == CALLBACK_QUEUE)
		find_turn(o);
	if (o->callback->kind == CALLBACK_BUTTON)
		button = buttons_find(b, o->callback->id, u->chat, u->message_id, &o->button);
	/* A message that is too old to be shown has no sender. */
	return (struct press_facts){ .own = !sender || sender == b->bot_id,
		.menu = o->menu,
		.item = o->turn,
		.priority = o->lane == LANE_PRIORITY,
		.button = button != BUTTON_EXPIRED,
		.used = button == BUTTON_USED,
		.thinking = agent_thinks(b),
		.models = json_array_size(models) > 0 };
}

/* -- what is done --------------------------------------------------------------------------------
 */

static void foreign(struct pressed *o)
{
	struct arena a = ARENA_INIT;
	const struct update *u = o->update;

	o->ok = chat_raw_prompt(o->bridge, o->id, u->chat, u->message_id,
		arena_printf(&a, "[callback] %.*s", STR(json_text_of(u->body, "data"))));
	arena_done(&a);
}

static void fire(struct pressed *o)
{
	struct bridge *b = o->bridge;
	const struct update *u = o->update;
	json_t *again = json_object_get(o->button, "again");

	o->ok = buttons_use(b, o->callback->id, o->button);
	if (again)
		o->ok = o->ok && chat_again(b, o->id, again);
	else if (!json_object_get(o->button, "question"))
		o->ok = o->ok && chat_prompt(b, o->id, u->chat, u->message_id,
					 json_text_of(o->button, "prompt"), MOVE_ARRIVE);
	else if (!recipes_choose(b, o->button))
		o->answer = answer_words(ANSWER_BUTTON_EXPIRED);
}

static bool set_proactive(struct bridge *b, bool on)
{
	AUTO_JSON *changes = json_pack("{s:b}", "proactivePush", on);
	AUTO_BUF note = BUF_INIT;

	return conf_write(&b->config, changes, &note, &b->store.report);
}

static void carry_out(struct pressed *o, enum press_act act)
{
	struct bridge *b = o->bridge;
	struct str query = json_text_of(o->update->body, "id");

	switch (act) {
	case PRESS_NOTHING:
		break;
	case PRESS_FOREIGN:
		foreign(o);
		break;
	case PRESS_FIRE:
		fire(o);
		break;
	case PRESS_PROMOTE:
		if (!waiting_promote(b, o->item))
			o->answer = S("It cannot be moved.");
		break;
	case PRESS_DEMOTE:
		(void)waiting_demote(b, o->item);
		break;
	case PRESS_REMOVE:
		o->ok = waiting_remove(b, o->item);
		break;
	case PRESS_PROACTIVE_ON:
	case PRESS_PROACTIVE_OFF:
		o->ok = set_proactive(b, act == PRESS_PROACTIVE_ON);
		break;
	case PRESS_GATE:
		gates_press(b, query, o->update->message_id, o->callback);
		break;
	case PRESS_CANCEL_RUN:
		recipes_cancel(b, query, o->callback);
		break;
	case PRESS_SECTION:
		sections_press(b, o->id, o->update, o->callback);
		break;
	case PRESS_MODEL:
		press_model(o);
		break;
	case PRESS_THINKING:
		press_thinking(o);
		break;
	}
}

/* Whether the act answers the query itself, perhaps later. */
static bool answers_itself(enum press_act act)
{
	return act == PRESS_GATE || act == PRESS_CANCEL_RUN || act == PRESS_SECTION;
}

/* -- what is shown -------------------------------------------------------------------------------
 */

static void show_models(struct pressed *o)
{
	AUTO_JSON *models = models_of(o->bridge, o->menu->models.scoped);

	o->menu->models.open = UINT64_MAX;
	o->menu->sum = models_sum(models);
	view_models(o->bridge, &o->view, &o->menu->models);
}

static void show_item(struct pressed *o)
{
	enum lane lane = o->lane;
	AUTO_JSON *now = waiting_get(o->bridge, o->item, &lane);

	view_item(&o->view, now ? now : o->turn, lane != LANE_DEFAULT);
}

static void show(struct pressed *o, const struct press_plan *plan)
{
	struct bridge *b = o->bridge;

	switch (plan->view) {
	case VIEW_NONE:
		break;
	case VIEW_MAIN:
		view_main(b, &o->view);
		break;
	case VIEW_MODELS:
		show_models(o);
		break;
	case VIEW_THINKING:
		view_thinking(b, &o->view);
		break;
	case VIEW_QUEUE:
		view_queue(b, &o->view, plan->heading ? 0 : plan->number,
			plan->heading ? &plan->number : NULL);
		break;
	case VIEW_ITEM:
		show_item(o);
		break;
	case VIEW_CONFIRM:
		view_confirm(&o->view, o->turn);
		break;
	case VIEW_SETTINGS:
		view_settings(b, &o->view);
		break;
	case VIEW_PROACTIVE:
		view_proactive(b, &o->view);
		break;
	}
	if (o->view.html.len)
		send_message(b,
			&(struct message){ .chat = o->update->chat,
				.edit = o->update->message_id,
				.text = buf_str(&o->view.html),
				.html = true,
				.keyboard = o->view.keyboard },
			NULL, NULL);
	/* A queue that was opened by an older menu has a way back from now on. */
	if (plan->view != VIEW_NONE)
		menu_remember(b, o->update->message_id);
}

/* With the transaction: what is undone and tried again is not answered twice. */
static void answer(struct bridge *b, json_t *data)
{
	send_answer(b, json_text_of(data, "query"), json_text_of(data, "text"));
}

enum routed press(struct bridge *b, int64_t id, const struct update *u)
{
	struct callback c;
	struct pressed o = { .bridge = b, .id = id, .update = u, .callback = &c, .ok = true };

	callback_parse(json_text_of(u->body, "data"), &c);
	struct press_facts facts = facts_of(&o);
	struct press_plan plan = press_decide(&c, &facts);

	view_init(&o.view);
	o.answer = answer_words(plan.answer);
	carry_out(&o, plan.act);
	show(&o, &plan);
	if (!answers_itself(plan.act))
		route_after(b, answer,
			json_pack("{s:O*,s:o}", "query", json_object_get(u->body, "id"), "text",
				json_from_str(o.answer)));
	view_done(&o.view);
	json_decref(o.turn);
	json_decref(o.button);
	return o.ok && !b->store.report.errors ? ROUTED : ROUTED_FAILED;
}
