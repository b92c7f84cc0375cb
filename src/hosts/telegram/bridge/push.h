#pragma once

struct bridge;

/* Texts that did not begin in the chat: those of `push`, and results of other runs. */

/* Once a second: hands what other processes have left to the deliveries. */
void push_look(struct bridge *b);
