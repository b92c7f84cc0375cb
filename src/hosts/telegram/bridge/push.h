#pragma once

struct bridge;

/* Texts that did not begin in the chat: those of `push`, and results of other runs. */

/* From now on results of other runs are news, when the setting is on. */
void push_start(struct bridge *b);
/* Once a second: hands what other processes have left to the deliveries. */
void push_look(struct bridge *b);
