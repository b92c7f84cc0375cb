#include "hosts/telegram/rules/press.h"

#include "base/lang.h"

static struct press_plan answer_only(enum press_answer answer)
{
	return (struct press_plan){ .answer = answer };
}

static struct press_plan show(enum press_view view)
{
	return (struct press_plan){ .view = view };
}

static struct press_plan act_by_itself(enum press_act act)
{
	return (struct press_plan){ .act = act, .answer = ANSWER_BY_ACT };
}

static struct press_plan menu(const struct callback *c, const struct press_facts *f)
{
	if (c->action == MENU_MODEL)
		return f->models ? show(VIEW_MODELS) : answer_only(ANSWER_NO_MODELS);
	if (c->action == MENU_THINKING)
		return f->thinking ? show(VIEW_THINKING) : answer_only(ANSWER_NO_THINKING);
	return show(c->action == MENU_QUEUE      ? VIEW_QUEUE
		    : c->action == MENU_SETTINGS ? VIEW_SETTINGS
						 : VIEW_MAIN);
}

/* One that names an item which does not wait shows the list instead. */
static struct press_plan queue_item(const struct callback *c, const struct press_facts *f)
{
	enum callback_action action = c->action;
	struct press_plan p = show(VIEW_ITEM);
	bool changes = action == QUEUE_TOGGLE || action == QUEUE_PRIORITY ||
		       action == QUEUE_NORMAL || action == QUEUE_CONFIRM_DELETE;

	if (!f->item) {
		p.view = VIEW_QUEUE;
		p.answer = changes ? ANSWER_NOT_FOUND : ANSWER_ITEM_GONE;
		return p;
	}
	if (action == QUEUE_TOGGLE)
		action = f->priority ? QUEUE_NORMAL : QUEUE_PRIORITY;
	if (action == QUEUE_PRIORITY) {
		p.act = f->priority ? PRESS_NOTHING : PRESS_PROMOTE;
		p.answer = ANSWER_PRIORITIZED;
	} else if (action == QUEUE_NORMAL) {
		p.act = f->priority ? PRESS_DEMOTE : PRESS_NOTHING;
		p.answer = ANSWER_NORMAL;
	} else if (action == QUEUE_CONFIRM_DELETE) {
		p = (struct press_plan){ PRESS_REMOVE, VIEW_QUEUE, ANSWER_DELETED, false, 0 };
	} else if (action == QUEUE_DELETE || action == QUEUE_CANCEL) {
		p.view = VIEW_CONFIRM;
	} else if (action == QUEUE_KEEP) {
		p.answer = ANSWER_KEPT;
	}
	return p;
}

static struct press_plan queue(const struct callback *c, const struct press_facts *f)
{
	struct press_plan p = show(VIEW_QUEUE);

	if (c->action == QUEUE_NOOP)
		return answer_only(ANSWER_SILENT);
	if (c->action >= QUEUE_PICK && c->action <= QUEUE_CONFIRM_DELETE)
		return queue_item(c, f);
	p.heading = c->action == QUEUE_REFRESH;
	p.number = c->number;
	return p;
}

static struct press_plan settings(const struct callback *c)
{
	struct press_plan p = show(VIEW_PROACTIVE);

	if (c->action == SETTINGS_PROACTIVE_ON) {
		p.act = PRESS_PROACTIVE_ON;
		p.answer = ANSWER_PROACTIVE_ON;
	} else if (c->action == SETTINGS_PROACTIVE_OFF) {
		p.act = PRESS_PROACTIVE_OFF;
		p.answer = ANSWER_PROACTIVE_OFF;
	} else if (c->action == SETTINGS_LIST) {
		p.view = VIEW_SETTINGS;
	}
	return p;
}

static struct press_plan button(const struct press_facts *f)
{
	if (!f->button)
		return answer_only(ANSWER_BUTTON_EXPIRED);
	if (f->used)
		return answer_only(ANSWER_BUTTON_USED);
	return (struct press_plan){ .act = PRESS_FIRE, .answer = ANSWER_QUEUED };
}

struct press_plan press_decide(const struct callback *c, const struct press_facts *f)
{
	bool needs_menu = c->kind == CALLBACK_MENU || c->kind == CALLBACK_THINKING ||
			  c->kind == CALLBACK_MODEL || c->kind == CALLBACK_SETTINGS ||
			  c->kind == CALLBACK_SECTION;

	if (c->kind == CALLBACK_FOREIGN)
		return (struct press_plan){ .act = PRESS_FOREIGN };
	if (!f->own)
		return answer_only(ANSWER_SILENT);
	if (needs_menu && !f->menu)
		return answer_only(ANSWER_MENU_EXPIRED);
	switch (c->kind) {
	case CALLBACK_EMPTY:
	case CALLBACK_BAD:
	case CALLBACK_FOREIGN:
		return answer_only(ANSWER_SILENT);
	case CALLBACK_BUTTON:
		return button(f);
	case CALLBACK_GATE:
		return act_by_itself(PRESS_GATE);
	case CALLBACK_RUN_CANCEL:
		return act_by_itself(PRESS_CANCEL_RUN);
	case CALLBACK_MENU:
		return menu(c, f);
	case CALLBACK_THINKING:
		return act_by_itself(PRESS_THINKING);
	case CALLBACK_MODEL:
		return act_by_itself(PRESS_MODEL);
	case CALLBACK_QUEUE:
		return queue(c, f);
	case CALLBACK_SETTINGS:
		return settings(c);
	case CALLBACK_SECTION:
		return act_by_itself(PRESS_SECTION);
	}
	UNREACHABLE("callback kind");
}

const char *press_answer_code(enum press_answer answer)
{
	static const char *const codes[] = {
		[ANSWER_SILENT] = "silent",
		[ANSWER_BY_ACT] = "by_act",
		[ANSWER_MENU_EXPIRED] = "menu_expired",
		[ANSWER_BUTTON_EXPIRED] = "button_expired",
		[ANSWER_BUTTON_USED] = "already_sent",
		[ANSWER_QUEUED] = "queued",
		[ANSWER_NO_THINKING] = "no_thinking",
		[ANSWER_NO_MODELS] = "no_models",
		[ANSWER_ITEM_GONE] = "item_gone",
		[ANSWER_NOT_FOUND] = "not_found",
		[ANSWER_PRIORITIZED] = "prioritized",
		[ANSWER_NORMAL] = "normal",
		[ANSWER_KEPT] = "kept",
		[ANSWER_DELETED] = "deleted",
		[ANSWER_PROACTIVE_ON] = "proactive_on",
		[ANSWER_PROACTIVE_OFF] = "proactive_off",
	};

	return codes[answer];
}

/* -- buttons of menus ----------------------------------------------------------------------------
 */

size_t menu_queue_keys(struct arena *a, const struct item_name *items, size_t count, uint64_t page,
	uint64_t pages, uint64_t heading, struct str **ret)
{
	struct str *keys = *ret = arena_array(a, struct str, count + 5);
	size_t n = 0;

	keys[n++] = callback_plain(MENU_BACK);
	if (!count) {
		keys[n++] = callback_numbered(
			a, QUEUE_REFRESH, (heading % QUEUE_HEADINGS + 1) % QUEUE_HEADINGS);
		return n;
	}
	keys[n++] = callback_plain(QUEUE_REFRESH);
	for (size_t i = 0; i < count; i++)
		keys[n++] = callback_item(a, QUEUE_PICK, items[i].chat, items[i].message);
	if (pages > 1) {
		keys[n++] = callback_numbered(a, QUEUE_PAGE, page ? page - 1 : pages - 1);
		keys[n++] = callback_plain(QUEUE_NOOP);
		keys[n++] = callback_numbered(a, QUEUE_PAGE, (page + 1) % pages);
	}
	return n;
}

size_t menu_item_keys(struct arena *a, struct item_name item, struct str **ret)
{
	struct str *keys = *ret = arena_array(a, struct str, 4);

	keys[0] = callback_plain(QUEUE_LIST);
	keys[1] = callback_item(a, QUEUE_PRIORITY, item.chat, item.message);
	keys[2] = callback_item(a, QUEUE_NORMAL, item.chat, item.message);
	keys[3] = callback_item(a, QUEUE_DELETE, item.chat, item.message);
	return 4;
}

size_t menu_confirm_keys(struct arena *a, struct item_name item, struct str **ret)
{
	struct str *keys = *ret = arena_array(a, struct str, 2);

	keys[0] = callback_item(a, QUEUE_CONFIRM_DELETE, item.chat, item.message);
	keys[1] = callback_item(a, QUEUE_KEEP, item.chat, item.message);
	return 2;
}

size_t menu_settings_keys(struct arena *a, struct str **ret)
{
	struct str *keys = *ret = arena_array(a, struct str, 2);

	keys[0] = callback_plain(MENU_BACK);
	keys[1] = callback_plain(SETTINGS_OPEN_PROACTIVE);
	return 2;
}

size_t menu_proactive_keys(struct arena *a, struct str **ret)
{
	struct str *keys = *ret = arena_array(a, struct str, 3);

	keys[0] = callback_plain(SETTINGS_LIST);
	keys[1] = callback_plain(SETTINGS_PROACTIVE_ON);
	keys[2] = callback_plain(SETTINGS_PROACTIVE_OFF);
	return 3;
}
