#pragma once

#include "app/agents.h"

/* Agents, roles, contexts and tasks for people; and the prompt that was made of them. */

/* One of them in full. */
void prompt_text_entry(const struct agents_entry *entry, struct buf *b);
/* Who was chosen and what became of the contexts; with `verbose` the texts too. */
void prompt_text_choice(const struct agents_choice *c, bool verbose, struct buf *b);
/* All of one kind, a line each, or as {"agents":[…]}. False with issues added. */
bool prompt_list(enum agents_kind kind, struct str cwd, bool json, struct buf *b, struct report *r);
