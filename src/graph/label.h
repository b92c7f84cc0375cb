#pragma once

#include "graph/members.h"

/* Reads the label of a node and cuts it at its placeholders. A label with a mistake in it is left
 * out, with an issue. */
void label_read(struct reader *rd, struct node *n, const struct members *m);
/* Warns of placeholders in labels whose name nothing else in the graph has: such a label stays as
 * it is written. */
void label_names_warn(struct graph *g);
