#pragma once

#include "hosts/mcp/catalog.h"

/* A new reference. NULL with issues: what its author says of its output cannot be used. */
struct tool *tool_of_recipe(struct recipe_ref *ref, struct report *r);
/* A duration as recipes have it, "45s" or a number of seconds, in milliseconds; BUDGET_UNSET: it is
 * not one. */
uint64_t tool_budget(const json_t *said);
