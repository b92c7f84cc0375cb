#pragma once

#include "graph/graph.h"

/* What a start would refuse when it is given what it has to be, as far as that can be told from the
 * graph: a NUL character in a word or in a default that stands in one, defaults that name each
 * other, arithmetic that divides by zero or goes beyond 64 bits. The same in recoveries, which a
 * start does not look at. Adds an issue for each. */
void certain_check(const struct graph *g, struct report *r);
