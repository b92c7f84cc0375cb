#pragma once

#include "hosts/mcp/catalog.h"

/* A new reference. NULL with issues: what its author says of its output cannot be used. */
struct tool *tool_of_recipe(struct recipe_ref *ref, struct report *r);
/* The name of the tool for a recipe of this id: legal characters, at most 64. */
void tool_name(struct str id, struct buf *b);
/* A duration as recipes have it, "45s" or a number of seconds, in milliseconds; BUDGET_UNSET: it is
 * not one. */
uint64_t tool_budget(const json_t *said);
