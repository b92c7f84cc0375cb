#pragma once

#include "graph/node.h"

/* How many commands a run will have; false when only time can tell. */
bool expected_commands(const struct node *root, uint64_t *ret);
