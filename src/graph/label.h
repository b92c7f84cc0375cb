#pragma once

#include "graph/members.h"

/* Reads the label of a node and cuts it at its placeholders. A label with a mistake in it is left
 * out, with an issue. */
void label_read(struct reader *rd, struct node *n, const struct members *m);
/* Warns of placeholders in labels whose name nothing else in the graph has: such a label stays as
 * it is written. */
void label_names_warn(struct graph *g);

/* The label of a node where `scope` is, with what its placeholders stand for; one that stands for
 * nothing stays as written. */
void label_resolve(const struct node *n, const struct scope *scope, struct buf *b);
