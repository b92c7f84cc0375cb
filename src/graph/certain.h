#pragma once

#include "graph/graph.h"

/* What a start would refuse when it is given what it has to be, as far as that can be told from the
 * graph: a NUL character in a word or in a default that stands in one, defaults that name each
 * other. Adds an issue for each. */
void certain_check(const struct graph *g, struct report *r);
