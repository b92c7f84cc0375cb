#pragma once

#include "hosts/mcp/catalog.h"

/* The values of a call: its arguments as the schema wants them, and the secrets of the recipe from
 * the environment. A new reference; NULL with text in `wrong` that a model can repair its call
 * from. */
json_t *arguments_values(
	struct mcp *m, const struct tool *t, const json_t *arguments, struct buf *wrong);
