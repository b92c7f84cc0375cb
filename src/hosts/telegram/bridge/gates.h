#pragma once

#include "base/str.h"

struct bridge;
struct callback;

/* Approvals that runs wait for, as messages with two buttons. */

void gates_start(struct bridge *b);
void gates_stop(struct bridge *b);

/* Shows the open gates of a run that are not shown yet. */
void gates_offer(struct bridge *b, const char *run);
/* A button of one: answers the gate, once, after the transaction, and continues the run. */
void gates_press(struct bridge *b, struct str query, int64_t message, const struct callback *c);
/* Once a second: takes the buttons off gates that were answered elsewhere, and shows those of all
 * runs when "gates" is "all" in the configuration. */
void gates_look(struct bridge *b);
