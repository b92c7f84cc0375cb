#pragma once

#include "graph/members.h"

/* A node of a template that imports a step recipe is a call. */

/* Makes `n` the call of the step recipe that `m` was imported from. False with issues. */
bool call_read(struct reader *rd, struct node *n, const struct members *m);
/* Adds an error where people would be asked by several at once. `copies`: it is copied in parallel.
 */
void call_check(struct reader *rd, const struct node *n, bool copies);

/* What the recipe is given: every default that the node has, and what the run was given for other
 * names that the recipe declares. A new object; NULL with issues: a name is missing that it
 * requires, or a default cannot be resolved. */
json_t *call_values(const struct node *n, const struct scope *s, struct report *r);
