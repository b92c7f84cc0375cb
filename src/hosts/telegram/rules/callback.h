#pragma once

#include "base/arena.h"
#include "base/buf.h"

/*
 * The data of buttons: at most 64 bytes that come back when a person presses one.
 *
 *   owned    tgbtn:8hex   gate:8hex:(y|n)   runs:cancel:8hex
 *            menu:WORD   status:WORD (older messages have it)   WORD: model thinking queue settings
 * back thinking:set:LEVEL   model:ACTION[:VALUE]   queue:ACTION[:…]   settings:ACTION[:…]
 *            section:TOKEN:ACTION[:PAYLOAD]
 *   foreign  everything else
 *
 * Data is untrusted. It names things, and the one who looks them up compares chat and message with
 * what was stored. What has an owned prefix and does not fit is CALLBACK_BAD and does nothing.
 */
enum { CALLBACK_BYTES = 64 };

enum callback_kind {
	CALLBACK_EMPTY,
	CALLBACK_FOREIGN,
	CALLBACK_BAD,
	CALLBACK_BUTTON,
	CALLBACK_GATE,
	CALLBACK_RUN_CANCEL,
	CALLBACK_MENU,
	CALLBACK_THINKING,
	CALLBACK_MODEL,
	CALLBACK_QUEUE,
	CALLBACK_SETTINGS,
	CALLBACK_SECTION,
};

/* Of CALLBACK_MENU, CALLBACK_MODEL, CALLBACK_QUEUE and CALLBACK_SETTINGS. */
enum callback_action {
	CALLBACK_NO_ACTION,
	MENU_MODEL,
	MENU_THINKING,
	MENU_QUEUE,
	MENU_SETTINGS,
	MENU_BACK,
	MODEL_NOOP,
	MODEL_SCOPE, /* `text`: scoped or all */
	MODEL_PAGE,  /* `number` */
	MODEL_PAGES,
	MODEL_PAGES_BACK,
	MODEL_OPEN, /* `number` */
	MODEL_PICK, /* `number` */
	MODEL_PICK_SELECTED,
	MODEL_SCOPE_ENABLE,
	MODEL_SCOPE_DISABLE,
	MODEL_SCOPE_TOGGLE,
	QUEUE_NOOP,
	QUEUE_LIST,
	QUEUE_REFRESH, /* `number`: which heading of an empty list, 0 when the data has none */
	QUEUE_PAGE,    /* `number` */
	/* The following name an item by `chat` and `message`. */
	QUEUE_PICK,
	QUEUE_TOGGLE,
	QUEUE_PRIORITY,
	QUEUE_NORMAL,
	QUEUE_DELETE,
	QUEUE_CANCEL, /* older messages have it; as QUEUE_DELETE */
	QUEUE_KEEP,
	QUEUE_CONFIRM_DELETE,
	SETTINGS_LIST,
	SETTINGS_OPEN_PROACTIVE,
	SETTINGS_PROACTIVE_ON,
	SETTINGS_PROACTIVE_OFF,
};

/* Texts are borrowed from the data. */
struct callback {
	enum callback_kind kind;
	enum callback_action action;
	struct str id;   /* the 8 digits of a button, a gate or a run */
	bool yes;        /* of a gate */
	struct str text; /* the level of thinking, the scope of models, the payload of a section */
	uint64_t number, chat, message;
	struct str token, name; /* of a section: which, and its own action */
};

void callback_parse(struct str data, struct callback *ret);

/* The words of the menu family (menu, status, model, thinking) as they are written, which
 * callback_parse() then looks at closely: `model:page:-1` has the action `page` and the value `-1`.
 * False for what is not of that family or has an unknown action. `has_value` is false when there is
 * no second colon. */
struct callback_words {
	struct str kind, action, value;
	bool has_value;
};
bool callback_menu_words(struct str data, struct callback_words *ret);

/* Cuts `section:TOKEN:ACTION[:PAYLOAD]`; each part may be empty. */
bool callback_section_words(
	struct str data, struct str *token, struct str *action, struct str *payload);

/* -- building ------------------------------------------------------------------------------------
 */

/* False, with how many bytes it would take in ret->len, when that is over CALLBACK_BYTES. The text
 * is in the arena. An empty payload is left out. */
bool callback_section(
	struct arena *a, struct str token, struct str action, struct str payload, struct str *ret);

/* Of a kind that is short enough by its form. In the arena. */
struct str callback_button(struct arena *a, struct str id);
struct str callback_gate(struct arena *a, struct str id, bool yes);
struct str callback_run_cancel(struct arena *a, struct str id);
/* Actions without a number and without an item. */
struct str callback_plain(enum callback_action action);
struct str callback_numbered(struct arena *a, enum callback_action action, uint64_t number);
struct str callback_item(
	struct arena *a, enum callback_action action, uint64_t chat, uint64_t message);
/* False as callback_section(). */
bool callback_thinking(struct arena *a, struct str level, struct str *ret);
