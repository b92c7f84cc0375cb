#pragma once

#include "graph/graph.h"

/* Warns of placeholders in labels whose name nothing else in the graph has: such a label stays as
 * it is written. */
void label_names_warn(struct graph *g);
