#pragma once

#include "graph/walk.h"

/* What a command asks of the machine that runs it, by what it says itself and what the nodes around
 * it say: what a run decides by its frames, before there is a run. */

/* The node around another, out of the recipe that it is in too; NULL: there is none. */
const struct node *machine_outward(const struct node *n, const struct walk_call **within);
/* False: nothing is said. `within` are the calls that it stands in; may be NULL. */
bool machine_needs(const struct node *n, const struct walk_call *within, struct needs *ret);
/* Whether it stays here wherever the other commands of a run go. */
bool machine_is_here(const struct node *n, const struct walk_call *within);
