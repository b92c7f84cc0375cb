#pragma once

#include "graph/machine.h"
#include "remote/table.h"

/* Which commands of a recipe go to the nodes of a batch system, and into what allocation. A run
 * decides the same by its frames (engine/schedule.c). */

struct placement {
	const struct table *table;
	struct str class; /* that holds where a command names none */
};

/* Whether the command goes there; *ret is its allocation then. */
bool placement_of(const struct placement *p, const struct node *n, const struct walk_call *within,
	struct shape *ret);

/* Whether all commands below `root` can run where they go. `secrets` are names of values that may
 * not be written down; may be NULL. `scope` has the values around `root`; may be NULL without
 * secrets. False with issues; warnings are added too. */
bool placement_check(const struct placement *p, const struct node *root, const struct scope *scope,
	const json_t *secrets, struct report *r);
