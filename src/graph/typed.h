#pragma once

#include "graph/graph.h"

/* Types that `args` of any node or a placeholder declare: they hold for the whole graph. */

/* The declaration that types a name: an entry of `args` beats a placeholder's, then the first. One
 * without a type only says that there is such a name. NULL: the name has no type. */
const struct argument *typed_find(const struct graph *g, struct str name);

/* Whether every default fits the type of its name. What has placeholders in it is known only when
 * it is used. Adds an issue for each that does not. A text that stands for an array becomes one. */
bool typed_check(const struct graph *g, struct report *r);
