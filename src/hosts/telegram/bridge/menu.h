#pragma once

#include "data/json.h"

struct bridge;
struct callback;
struct message;
struct update;

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
/* A button of a menu. False: the ledger could not be written. */
bool menu_press(struct bridge *b, const struct update *u, const struct callback *c);

/* A menu of another module: sends a new message that is one, and whether a message is. */
void menu_send(struct bridge *b, const struct message *m);
bool menu_known(struct bridge *b, int64_t message);
