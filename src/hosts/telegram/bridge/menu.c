#include "hosts/telegram/bridge/menu.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "hosts/telegram/bridge/agent.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/chat.h"
#include "hosts/telegram/bridge/menu-pages.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/rules/command.h"
#include "hosts/telegram/rules/press.h"
#include "hosts/telegram/rules/update.h"

enum { LIFE_MS = 10 * 60 * 1000, MENUS_MAX = 50 };

/* What a menu remembers. */
struct menu {
	struct list link; /* the one used last is at the end */
	int64_t message;
	uint64_t until;
	struct model_view models;
	uint64_t sum; /* of the list of models that is shown */
};

/* -- memory --------------------------------------------------------------------------------------
 */

void menus_start(struct bridge *b)
{
	list_init(&b->menus);
}

static void drop(struct menu *m)
{
	list_remove(&m->link);
	free(m);
}

void menus_stop(struct bridge *b)
{
	if (b->menus.next)
		list_each_safe (link, &b->menus)
			drop(list_entry(link, struct menu, link));
}

static struct menu *add(struct bridge *b, int64_t message)
{
	struct menu *m = mem_new(struct menu);
	size_t count = 0;

	list_each (link, &b->menus)
		count++;
	if (count >= MENUS_MAX)
		drop(list_entry(b->menus.next, struct menu, link));
	m->message = message;
	m->until = clock_mono_ms() + LIFE_MS / b->places.clock;
	m->models = (struct model_view){ .open = UINT64_MAX };
	list_append(&b->menus, &m->link);
	return m;
}

static struct menu *find(struct bridge *b, int64_t message)
{
	uint64_t now = clock_mono_ms();

	list_each_safe (link, &b->menus) {
		struct menu *m = list_entry(link, struct menu, link);

		if (m->until <= now) {
			drop(m);
		} else if (m->message == message) {
			list_remove(&m->link);
			list_append(&b->menus, &m->link);
			m->until = now + LIFE_MS / b->places.clock;
			return m;
		}
	}
	/* A person may press before the service has told us the number of the message. */
	return b->menus_opening ? add(b, message) : NULL;
}

static void remember(struct bridge *b, int64_t message)
{
	if (message && !find(b, message))
		(void)add(b, message);
}

bool menu_known(struct bridge *b, int64_t message)
{
	return find(b, message) != NULL;
}

/* -- opening -------------------------------------------------------------------------------------
 */

static void on_opened(void *data, enum sent result, int64_t message)
{
	struct bridge *b = data;

	if (result == SENT_OK)
		remember(b, message);
	b->menus_opening--;
}

void menu_send(struct bridge *b, const struct message *m)
{
	b->menus_opening++;
	send_message(b, m, on_opened, b);
}

static void on_registered(void *data, const struct api_answer *answer)
{
	struct bridge *b = data;

	if (answer && answer->class != API_OK)
		send_line(b, b->user, 0, "The list of commands could not be registered: %.*s",
			STR(answer->description));
}

/* So that the chat offers them. */
static void register_commands(struct bridge *b)
{
	static const char *const what[] = { "menu and status", "shorten what the agent remembers",
		"start the next prompt", "send: continue", "end the running turn",
		"end the running turn and drop what waits" };
	json_t *list = json_array();

	for (size_t i = 0; i < chat_command_menu_count; i++)
		json_array_append_new(
			list, json_pack("{s:s,s:s}", "command", chat_command_menu[i], "description",
				      i < ARRAY_SIZE(what) ? what[i] : chat_command_menu[i]));
	(void)api_start(b->api, &(struct api_request){ .method = "setMyCommands",
					.params = json_pack("{s:o}", "commands", list),
					.patience = API_ONCE,
					.done = on_registered,
					.data = b });
}

static void render(struct bridge *b, struct menu_view *v, enum menu_page page)
{
	static const struct model_view models = { .open = UINT64_MAX };

	switch (page) {
	case MENU_PAGE_MAIN:
		view_main(b, v);
		break;
	case MENU_PAGE_MODEL:
		view_models(b, v, &models);
		break;
	case MENU_PAGE_THINKING:
		view_thinking(b, v);
		break;
	case MENU_PAGE_QUEUE:
		view_queue(b, v, 0, 0);
		break;
	case MENU_PAGE_SETTINGS:
		view_settings(b, v);
		break;
	}
}

void menu_open(struct bridge *b, int64_t chat, enum menu_page page)
{
	struct menu_view v;

	if (page == MENU_PAGE_MAIN)
		register_commands(b);
	if (page == MENU_PAGE_THINKING && !thinking_available(b)) {
		send_line(b, chat, 0, "This agent has no thinking levels.");
		return;
	}
	view_init(&v);
	render(b, &v, page);
	menu_send(b, &(struct message){ .chat = chat,
			     .text = buf_str(&v.html),
			     .html = true,
			     .keyboard = v.keyboard });
	view_done(&v);
}

/* -- pressing ------------------------------------------------------------------------------------
 */

/* What a press comes to: the view to show, if any, and the answer to the query. */
struct pressed {
	struct bridge *bridge;
	struct menu *menu; /* NULL: of the queue, which needs no memory */
	struct menu_view *view;
	struct str answer;
	bool ok;
};

/* The new model holds from the next turn on, or, for an agent that can continue, from now on. */
static void use_model(struct pressed *o, const json_t *model)
{
	struct bridge *b = o->bridge;
	bool running = turns_running(&b->turns) && !b->turns.paused;

	o->ok = store_set(&b->store, "model", json_object_get(model, "id"));
	o->answer = running ? S("It is used from the next turn on.") : S("It is used now.");
	if (!running || !conf_truth(&b->config, "agent.resumable"))
		return;
	o->ok = o->ok && chat_continuation(b);
	(void)turns_abort(b);
	o->answer = S("The turn continues with it.");
}

static void change_scope(struct pressed *o, const json_t *model, enum callback_action how)
{
	struct bridge *b = o->bridge;
	AUTO_JSON *scope = store_get(&b->store, "scope");
	AUTO_JSON *changed = json_array();
	json_t *id = json_object_get(model, "id"), *s;
	bool was = false;
	size_t i;

	json_array_foreach(scope, i, s)
	{
		if (json_equal(s, id))
			was = true;
		else
			json_array_append(changed, s);
	}
	if (how == MODEL_SCOPE_ENABLE || (how == MODEL_SCOPE_TOGGLE && !was))
		json_array_append(changed, id);
	o->ok = store_set(&b->store, "scope", changed);
}

static void press_model(struct pressed *o, const struct callback *c)
{
	struct bridge *b = o->bridge;
	struct model_view *m = &o->menu->models;
	AUTO_JSON *models = models_of(b, m->scoped);
	json_t *model = json_array_get(
		models, c->action == MODEL_OPEN || c->action == MODEL_PICK ? c->number : m->open);
	bool same = models_sum(models) == o->menu->sum;

	switch ((int)c->action) { /* those of this menu */
	case MODEL_NOOP:
		return;
	case MODEL_SCOPE:
		m->scoped = str_eq(c->text, S("scoped"));
		m->page = 0;
		break;
	case MODEL_PAGE:
		m->page = c->number;
		m->open = UINT64_MAX;
		break;
	case MODEL_PAGES:
		view_model_pages(b, o->view, m);
		return;
	case MODEL_PAGES_BACK:
		break;
	case MODEL_OPEN:
		m->open = same && model ? c->number : UINT64_MAX;
		break;
	case MODEL_PICK:
	case MODEL_PICK_SELECTED:
		if (same && model)
			use_model(o, model);
		else
			o->answer = S("The list has changed.");
		m->open = same ? m->open : UINT64_MAX;
		break;
	default:
		if (same && model)
			change_scope(o, model, c->action);
		else
			o->answer = S("The list has changed.");
		m->open = same ? m->open : UINT64_MAX;
	}
	AUTO_JSON *now = models_of(b, m->scoped);
	o->menu->sum = models_sum(now);
	view_models(b, o->view, m);
}

static void press_thinking(struct pressed *o, const struct callback *c)
{
	struct bridge *b = o->bridge;
	json_t *levels = conf_get(&b->config, "agent.thinking"), *l;
	size_t i;

	json_array_foreach(levels, i, l) if (json_is_string(l) && str_eq(json_str(l), c->text))
	{
		o->ok = store_set(&b->store, "thinking", l);
		o->answer = S("Set.");
		view_thinking(b, o->view);
		return;
	}
	o->answer = S("There is no such level.");
}

/* The turn that the data names. */
struct named {
	json_t *turn; /* NULL: it does not wait */
	uint64_t item;
	enum lane lane;
};

static struct named turn_of(struct bridge *b, const struct callback *c)
{
	struct named n = { .item = c->message ? waiting_find(b, (int64_t)c->message) : 0,
		.lane = LANE_DEFAULT };

	n.turn = waiting_get(b, n.item, &n.lane);
	if (n.turn && (uint64_t)json_number_of(n.turn, "chat") != c->chat) {
		json_decref(n.turn);
		n.turn = NULL;
	}
	return n;
}

static bool set_proactive(struct bridge *b, bool on)
{
	AUTO_JSON *changes = json_pack("{s:b}", "proactivePush", on);
	AUTO_BUF note = BUF_INIT;

	return conf_write(&b->config, changes, &note, &b->store.report);
}

static struct str answer_words(enum press_answer answer)
{
	static const char *const words[] = {
		[ANSWER_MENU_EXPIRED] = "This menu has expired: /start opens a new one.",
		[ANSWER_NO_THINKING] = "This agent has no thinking levels.",
		[ANSWER_ITEM_GONE] = "It does not wait any more.",
		[ANSWER_NOT_FOUND] = "It does not wait any more.",
		[ANSWER_PRIORITIZED] = "Prioritized.",
		[ANSWER_NORMAL] = "Back in line.",
		[ANSWER_KEPT] = "Kept.",
		[ANSWER_DELETED] = "Deleted.",
		[ANSWER_PROACTIVE_ON] = "On.",
		[ANSWER_PROACTIVE_OFF] = "Off.",
	};

	return answer < ARRAY_SIZE(words) ? str_of(words[answer]) : S("");
}

/* What the rules have decided. */
static void carry_out(
	struct pressed *o, const struct callback *c, const struct press_plan *plan, uint64_t item)
{
	struct bridge *b = o->bridge;

	o->answer = answer_words(plan->answer);
	switch ((int)plan->act) { /* those of menus */
	case PRESS_PROMOTE:
		if (!waiting_promote(b, item))
			o->answer = S("It cannot be moved.");
		break;
	case PRESS_DEMOTE:
		(void)waiting_demote(b, item);
		break;
	case PRESS_REMOVE:
		o->ok = waiting_remove(b, item);
		break;
	case PRESS_PROACTIVE_ON:
	case PRESS_PROACTIVE_OFF:
		o->ok = set_proactive(b, plan->act == PRESS_PROACTIVE_ON);
		break;
	case PRESS_MODEL:
		press_model(o, c);
		break;
	case PRESS_THINKING:
		press_thinking(o, c);
		break;
	default:
		break;
	}
}

static void show_models(struct pressed *o)
{
	AUTO_JSON *models = models_of(o->bridge, o->menu->models.scoped);

	o->menu->sum = models_sum(models);
	view_models(o->bridge, o->view, &o->menu->models);
}

static void show_item(struct pressed *o, const struct named *n)
{
	enum lane lane = n->lane;
	AUTO_JSON *now = waiting_get(o->bridge, n->item, &lane);

	view_item(o->bridge, o->view, now ? now : n->turn, lane != LANE_DEFAULT);
}

static void show(struct pressed *o, const struct press_plan *plan, const struct named *n)
{
	struct bridge *b = o->bridge;
	bool heading = plan->heading;

	switch (plan->view) {
	case VIEW_NONE:
		break;
	case VIEW_MAIN:
		view_main(b, o->view);
		break;
	case VIEW_MODELS:
		show_models(o);
		break;
	case VIEW_THINKING:
		view_thinking(b, o->view);
		break;
	case VIEW_QUEUE:
		view_queue(b, o->view, heading ? 0 : plan->number, heading ? plan->number : 0);
		break;
	case VIEW_ITEM:
		show_item(o, n);
		break;
	case VIEW_CONFIRM:
		view_confirm(b, o->view, n->turn);
		break;
	case VIEW_SETTINGS:
		view_settings(b, o->view);
		break;
	case VIEW_PROACTIVE:
		view_proactive(b, o->view);
		break;
	}
}

static void act(struct pressed *o, const struct callback *c)
{
	struct named n = turn_of(o->bridge, c);
	struct press_facts facts = { .own = true, /* press() has seen to it */
		.menu = o->menu,
		.item = n.turn,
		.priority = n.lane == LANE_PRIORITY,
		.thinking = thinking_available(o->bridge),
		.models = true /* its view says when there are none */ };
	struct press_plan plan = press_decide(c, &facts);

	if (o->menu && c->kind == CALLBACK_MENU)
		o->menu->models.open = UINT64_MAX;
	carry_out(o, c, &plan, n.item);
	show(o, &plan, &n);
	json_decref(n.turn);
}

bool menu_press(struct bridge *b, const struct update *u, const struct callback *c)
{
	struct menu_view v;
	struct pressed o = { b, find(b, u->message_id), &v, S(""), true };

	view_init(&v);
	act(&o, c);
	if (v.html.len)
		send_message(b,
			&(struct message){ .chat = u->chat,
				.edit = u->message_id,
				.text = buf_str(&v.html),
				.html = true,
				.keyboard = v.keyboard },
			NULL, NULL);
	send_answer(b, json_text_of(u->body, "id"), o.answer);
	view_done(&v);
	/* A queue that was opened by an older menu has a way back from now on. */
	if (c->kind == CALLBACK_QUEUE)
		remember(b, u->message_id);
	return o.ok && !b->store.report.errors;
}
