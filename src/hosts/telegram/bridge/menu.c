#include "hosts/telegram/bridge/menu.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "hosts/telegram/bridge/agent.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/rules/command.h"

enum { LIFE_MS = 10 * 60 * 1000, MENUS_MAX = 50 };

struct menu {
	struct list link; /* the one used last is at the end */
	int64_t message;
	uint64_t until;
	struct menu_memory memory;
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
	m->memory.models = (struct model_view){ .open = UINT64_MAX };
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

void menu_remember(struct bridge *b, int64_t message)
{
	if (message && !find(b, message))
		(void)add(b, message);
}

struct menu_memory *menu_find(struct bridge *b, int64_t message)
{
	struct menu *m = find(b, message);

	return m ? &m->memory : NULL;
}

/* -- opening -------------------------------------------------------------------------------------
 */

static void on_opened(void *data, enum sent result, int64_t message)
{
	struct bridge *b = data;

	if (result == SENT_OK)
		menu_remember(b, message);
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
		view_queue(b, v, 0, NULL);
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
	if (page == MENU_PAGE_THINKING && !agent_thinks(b)) {
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
