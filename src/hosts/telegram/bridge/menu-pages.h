#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "data/json.h"
#include "hosts/telegram/rules/callback.h"

struct bridge;

/* What menus show. Each function fills a view from what is there now. */
struct menu_view {
	struct arena arena;
	struct buf html;
	json_t *keyboard;
};

void view_init(struct menu_view *v);
void view_done(struct menu_view *v);
/* A row of one button; a long label is cut. */
void view_button(struct menu_view *v, struct str label, struct str data);

/* What a menu of models remembers. */
struct model_view {
	bool scoped;   /* only those of the scope */
	uint64_t page; /* from 0 */
	uint64_t open; /* the model that is shown alone; UINT64_MAX: the list */
};

void view_main(struct bridge *b, struct menu_view *v);
void view_models(struct bridge *b, struct menu_view *v, const struct model_view *m);
void view_model_pages(struct bridge *b, struct menu_view *v, const struct model_view *m);
void view_thinking(struct bridge *b, struct menu_view *v);
/* Page `number`, from 0. `heading` is which heading an empty list shows; NULL: the first one. */
void view_queue(struct bridge *b, struct menu_view *v, uint64_t number, const uint64_t *heading);
void view_item(struct menu_view *v, const json_t *turn, bool priority);
void view_confirm(struct menu_view *v, const json_t *turn);
void view_settings(struct bridge *b, struct menu_view *v);
void view_proactive(struct bridge *b, struct menu_view *v);

/* The models that a list shows: an array of objects {"id", "provider", "thinking"}, a new
 * reference; and a sum of it, to know whether it is still the same. */
json_t *models_of(struct bridge *b, bool scoped);
uint64_t models_sum(const json_t *models);
