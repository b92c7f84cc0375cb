#pragma once

#include "data/json.h"

struct bridge;
struct callback;
struct chat_command;
struct menu_view;
struct update;

/* Sections: parts of the menu that programs of the user render and answer. */

/* Their buttons in the main menu, or in that of the settings. */
void sections_buttons(struct bridge *b, struct menu_view *v, bool settings);
/* If the command is one of a section: opens it. */
bool sections_command(struct bridge *b, int64_t id, int64_t chat, const struct chat_command *c);
void sections_press(struct bridge *b, int64_t id, const struct update *u, const struct callback *c);
