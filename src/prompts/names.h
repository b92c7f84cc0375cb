#pragma once

#include "prompts/agent-line.h"

/* Names as people and recipes write them, and what they mean in a configuration. */

/* Under which names a step's agent is looked for, in order: `space:name` whole, then `name`, then
 * the one that takes any name, `*`. Borrowed from `name`. The result is how many there are. */
size_t names_of_step_agent(struct str name, struct str ret[3]);
/* The agent of the configuration that has the first of those names; NULL: none has. */
const struct config_entry *names_find_step_agent(const struct config *c, struct str name);
/* The same; NULL with an issue added. */
const struct config_entry *names_step_agent(
	const struct config *c, struct str name, struct report *r);

/* What a name typed by a person means: whole, shortened, or an alias. What it was taken for is
 * added to `notes`, a line each, unless that is NULL. NULL with an issue added. */
const struct config_entry *names_find(struct config *c, enum config_kind kind, struct str typed,
	struct buf *notes, struct report *r);
/* What there is to choose from, with commas: for hints. */
void names_list(const struct config *c, enum config_kind kind, struct buf *ret);
/* The model of an agent that is started with `line`; `typed` may be empty. False with an issue
 * added. */
bool names_model(struct config *c, const struct config_entry *agent, const struct agent_line *line,
	struct str typed, struct str *ret, struct buf *notes, struct report *r);
