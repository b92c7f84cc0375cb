#pragma once

#include "hosts/telegram/bridge/menu.h"
#include "hosts/telegram/bridge/route.h"
#include "hosts/telegram/rules/press.h"
#include "hosts/telegram/rules/queue.h"

/* Buttons that the person presses. The rules decide what a press comes to, from the facts; here it
 * is carried out. Every query is answered exactly once, whatever happens. */
void press_start(struct bridge *b);
void press_stop(struct bridge *b);
enum routed press(struct bridge *b, int64_t id, const struct update *u);

/* What a press comes to. */
struct pressed {
	struct bridge *bridge;
	int64_t id; /* of the update */
	const struct update *update;
	const struct callback *callback;
	struct menu_memory *menu; /* NULL: of what needs none */
	/* The turn that the data names; NULL: it does not wait. */
	json_t *turn;
	uint64_t item;
	enum lane lane;
	/* What the button of the data does; NULL: it is unknown or used. */
	json_t *button;
	/* What comes of it: the view to show, if there is text in it, and the answer. */
	struct menu_view view;
	struct str answer;
	bool ok; /* false: the ledger could not be written */
};

/* Those of the menus of models and levels of thinking: press-model.c. */
void press_model(struct pressed *o);
void press_thinking(struct pressed *o);
