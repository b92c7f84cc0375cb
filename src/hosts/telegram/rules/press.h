#pragma once

#include "base/arena.h"
#include "hosts/telegram/rules/callback.h"

/* What pressing a button does, once the query is authorized. Every query is answered exactly once.
 */

enum press_act {
	PRESS_NOTHING,
	PRESS_FOREIGN, /* an ordinary prompt `[callback] DATA` */
	PRESS_FIRE,    /* the prompt of a button */
	PRESS_PROMOTE,
	PRESS_DEMOTE,
	PRESS_REMOVE,
	PRESS_PROACTIVE_ON,
	PRESS_PROACTIVE_OFF,
	/* What these do, and how they answer, is said by what they name: */
	PRESS_GATE,
	PRESS_CANCEL_RUN,
	PRESS_SECTION,
	PRESS_MODEL,
	PRESS_THINKING,
};

/* What the message becomes, after the act. */
enum press_view {
	VIEW_NONE,
	VIEW_MAIN,
	VIEW_MODELS,
	VIEW_THINKING,
	VIEW_QUEUE,
	VIEW_ITEM,
	VIEW_CONFIRM,
	VIEW_SETTINGS,
	VIEW_PROACTIVE,
};

/* How the query is answered; the words are the host's. */
enum press_answer {
	ANSWER_SILENT,
	ANSWER_BY_ACT, /* by PRESS_GATE and those behind it */
	ANSWER_MENU_EXPIRED,
	ANSWER_BUTTON_EXPIRED,
	ANSWER_BUTTON_USED,
	ANSWER_QUEUED,
	ANSWER_NO_THINKING,
	ANSWER_NO_MODELS,
	ANSWER_ITEM_GONE,
	ANSWER_NOT_FOUND,
	ANSWER_PRIORITIZED,
	ANSWER_NORMAL,
	ANSWER_KEPT,
	ANSWER_DELETED,
	ANSWER_PROACTIVE_ON,
	ANSWER_PROACTIVE_OFF,
};

struct press_facts {
	bool own;              /* the message was sent by this bot */
	bool menu;             /* its menu is remembered */
	bool item;             /* the turn that the data names waits */
	bool priority;         /* and is in the priority lane */
	bool button, used;     /* the button that it names is known; and was pressed before */
	bool thinking, models; /* there are some to choose from */
};

struct press_plan {
	enum press_act act;
	enum press_view view;
	enum press_answer answer;
	bool heading; /* of VIEW_QUEUE: an empty list shows heading `number`, not the first one */
	uint64_t number; /* that heading, or the page of the list */
};

struct press_plan press_decide(const struct callback *c, const struct press_facts *f);
/* "menu_expired", "silent", … */
const char *press_answer_code(enum press_answer answer);

/* -- buttons of menus ----------------------------------------------------------------------------
 */

enum {
	QUEUE_PAGE_ITEMS = 8,
	QUEUE_HEADINGS = 4, /* that an empty list shows in turn when it is refreshed */
};

/* A turn as buttons name it. */
struct item_name {
	uint64_t chat, message;
};

/* The data of the buttons below each view, from top to bottom; in the arena. `items` are those of
 * one page of `pages`; an empty list has `heading` as the one that it shows. Where there are more
 * pages than one, the last three keys are one row: the page before, none, the page behind. */
size_t menu_queue_keys(struct arena *a, const struct item_name *items, size_t count, uint64_t page,
	uint64_t pages, uint64_t heading, struct str **ret);
size_t menu_item_keys(struct arena *a, struct item_name item, struct str **ret);
size_t menu_confirm_keys(struct arena *a, struct item_name item, struct str **ret);
size_t menu_settings_keys(struct arena *a, struct str **ret);
size_t menu_proactive_keys(struct arena *a, struct str **ret);
