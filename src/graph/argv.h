#pragma once

#include "graph/node.h"

/* The words of a command resolved against a scope (docs/reference.md, "Command lines"):
 * NULL-terminated, in the arena, at least one. False with an issue added. */
bool argv_build(const struct node *command, const struct scope *s, struct arena *a,
	const char *const **argv, size_t *count, struct report *r);
