#pragma once

#include "hosts/telegram/bridge/menu-pages.h"

struct message;

/* Menus: messages with buttons that are edited in place. What a menu needs to remember is kept for
 * ten minutes; buttons of an older one say that it has expired. */

enum menu_page {
	MENU_PAGE_MAIN,
	MENU_PAGE_MODEL,
	MENU_PAGE_THINKING,
	MENU_PAGE_QUEUE,
	MENU_PAGE_SETTINGS,
};

void menus_start(struct bridge *b);
void menus_stop(struct bridge *b);

/* A new message with that page. */
void menu_open(struct bridge *b, int64_t chat, enum menu_page page);
/* A menu of another module: sends a new message that is one. */
void menu_send(struct bridge *b, const struct message *m);

/* What a menu remembers. */
struct menu_memory {
	struct model_view models;
	uint64_t sum; /* of the list of models that is shown */
};

/* Borrowed until the next call of this page; NULL: it has expired, or the message is not a menu. */
struct menu_memory *menu_find(struct bridge *b, int64_t message);
/* The message is a menu from now on. */
void menu_remember(struct bridge *b, int64_t message);
