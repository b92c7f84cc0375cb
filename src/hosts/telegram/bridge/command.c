#include "hosts/telegram/bridge/command.h"

#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/chat.h"
#include "hosts/telegram/bridge/compact.h"
#include "hosts/telegram/bridge/groups.h"
#include "hosts/telegram/bridge/menu.h"
#include "hosts/telegram/bridge/recipes.h"
#include "hosts/telegram/bridge/sections.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/bridge/templates.h"
#include "hosts/telegram/rules/command.h"
#include "hosts/telegram/rules/update.h"
#include "hosts/telegram/text/prompt.h"

/* What the chat is shown, with the number of prompts that were dropped where that is %zu. */
static const char *const words[] = {
	[CHAT_SAYS_NOTHING] = NULL,
	[CHAT_SAYS_NO_TURN] = "No turn is running.",
	[CHAT_SAYS_ABORTED] = "Aborted.",
	[CHAT_SAYS_QUEUE_EMPTY] = "The queue is empty.",
	[CHAT_SAYS_DISPATCHING] = "Starting the next prompt.",
	[CHAT_SAYS_ABORTED_DISPATCHING] = "Aborted; the next prompt starts.",
	[CHAT_SAYS_BUSY] = "The agent is busy with something else.",
	[CHAT_SAYS_CANNOT_COMPACT] = "Compacting needs an idle agent and an empty queue.",
	[CHAT_SAYS_COMPACTING] = "Compacting…",
	[CHAT_SAYS_CONTINUING] = "Queued: continue.",
};

static bool take_step(struct bridge *b, int64_t id, const struct update *u, enum chat_step step)
{
	switch (step) {
	case CHAT_STEP_CLEAR:
		(void)waiting_clear(b);
		groups_clear(b);
		return !b->store.report.errors;
	case CHAT_STEP_HOLD:
		return turns_hold(b, true);
	case CHAT_STEP_RELEASE:
		return turns_hold(b, false);
	case CHAT_STEP_ABORT:
		(void)turns_abort(b);
		return true;
	case CHAT_STEP_DISPATCH:
		b->turns.wanted = true;
		return turns_hold(b, false);
	case CHAT_STEP_CONTINUE:
		return chat_prompt(b, id, u->chat, u->message_id, S("continue"), MOVE_CONTINUE);
	case CHAT_STEP_COMPACT:
		compact_start(b, u->chat, u->message_id);
		return true;
	}
	return true;
}

static bool control(
	struct bridge *b, int64_t id, const struct update *u, const struct chat_command *c)
{
	struct chat_state state = { .running = turns_running(&b->turns),
		.compacting = b->turns.compacting,
		.queued = b->turns.waiting.count };
	struct chat_plan plan = chat_command_plan(c->action, &state);
	AUTO_BUF text = BUF_INIT;
	bool ok = true;

	for (size_t i = 0; ok && i < plan.count; i++)
		ok = take_step(b, id, u, plan.steps[i]);
	/* A prompt that was refused, with the reason, does not wait. */
	if (plan.reply == CHAT_SAYS_CONTINUING && b->turns.waiting.count == state.queued)
		return ok;
	if (!words[plan.reply] || plan.reply == CHAT_SAYS_COMPACTING)
		return ok;
	buf_adds(&text, words[plan.reply]);
	if (plan.cleared)
		buf_printf(&text, " %zu waiting prompt%s dropped.", plan.cleared,
			plan.cleared == 1 ? " was" : "s were");
	send_line(b, u->chat, u->message_id, "%s", buf_cstr(&text));
	return ok;
}

static bool open_menu(
	struct bridge *b, int64_t id, const struct update *u, const struct chat_command *c)
{
	static const enum menu_page pages[] = {
		[CHAT_QUEUE] = MENU_PAGE_QUEUE,
		[CHAT_MODEL] = MENU_PAGE_MODEL,
		[CHAT_THINKING] = MENU_PAGE_THINKING,
		[CHAT_SETTINGS] = MENU_PAGE_SETTINGS,
		[CHAT_STATUS] = MENU_PAGE_MAIN,
		[CHAT_HELP] = MENU_PAGE_MAIN,
	};

	(void)id;
	menu_open(b, u->chat, pages[c->action]);
	return true;
}

static bool run_recipe(
	struct bridge *b, int64_t id, const struct update *u, const struct chat_command *c)
{
	(void)id;
	recipes_run(b, u->chat, u->message_id, c->rest);
	return true;
}

static bool list_runs(
	struct bridge *b, int64_t id, const struct update *u, const struct chat_command *c)
{
	(void)id;
	(void)c;
	recipes_list_runs(b, u->chat, u->message_id);
	return true;
}

/* One row for each action; what is not here is not a command of the bridge's own. */
static const struct {
	enum chat_action action;
	bool (*run)(
		struct bridge *b, int64_t id, const struct update *u, const struct chat_command *c);
} actions[] = {
	{ CHAT_STOP, control },
	{ CHAT_ABORT, control },
	{ CHAT_NEXT, control },
	{ CHAT_CONTINUE, control },
	{ CHAT_COMPACT, control },
	{ CHAT_HELP, open_menu },
	{ CHAT_STATUS, open_menu },
	{ CHAT_QUEUE, open_menu },
	{ CHAT_MODEL, open_menu },
	{ CHAT_THINKING, open_menu },
	{ CHAT_SETTINGS, open_menu },
	{ CHAT_RUN, run_recipe },
	{ CHAT_RUNS, list_runs },
};

static bool act(struct bridge *b, int64_t id, const struct update *u, const json_t *messages,
	const struct chat_command *c, bool *ret_ok)
{
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (actions[i].action == c->action) {
			*ret_ok = actions[i].run(b, id, u, c);
			return true;
		}
	return templates_try(b, id, messages, c, ret_ok) || sections_command(b, id, u->chat, c);
}

bool command_of_album(struct bridge *b, int64_t id, const json_t *messages, bool *ret_ok)
{
	struct arena a = ARENA_INIT;
	const json_t *first = json_array_get(messages, 0);
	struct update u = { .kind = UPDATE_MESSAGE,
		.body = first,
		.message = first,
		.user = b->user,
		.chat = json_number_of(json_object_get(first, "chat"), "id"),
		.message_id = json_number_of(first, "message_id") };
	struct chat_command c;
	bool ours = chat_command_parse(&a, message_command_text(&a, messages), &c) &&
		    act(b, id, &u, messages, &c, ret_ok);

	arena_done(&a);
	return ours;
}

bool command_try(struct bridge *b, int64_t id, const struct update *u, bool *ret_ok)
{
	struct arena a = ARENA_INIT;
	AUTO_JSON *messages = json_pack("[O]", (json_t *)u->message);
	struct str text = message_command_text(&a, messages);
	struct chat_command c;
	bool ours = false;

	*ret_ok = true;
	if (json_object_get(u->message, "media_group_id")) {
		/* The whole album is looked at when it is complete. */
	} else if (chat_command_parse(&a, text, &c)) {
		*ret_ok = groups_flush(b);
		ours = *ret_ok && act(b, id, u, messages, &c, ret_ok);
	} else if (text.len) {
		ours = recipes_answer(b, u->chat, text);
	}
	arena_done(&a);
	return ours || !*ret_ok;
}
