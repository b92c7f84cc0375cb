#pragma once

#include "graph/node.h"

/* The way from the root to a node, by its path. */
struct way_step {
	const struct node *node;
	struct str path; /* a part of the path that was asked for */
	uint64_t index;  /* among the children of the step before, or the copy's number */
	bool recovery;   /* the recovery of the step before */
};

enum { WAY_MAX = 512 };

/* Fills `steps` from the root on; how many there are, or 0 when no node has that path. */
size_t way_to(const struct node *root, struct str path, struct way_step steps[WAY_MAX]);
/* The root of the graph that a node has called; NULL: not known. */
typedef const struct node *way_called(void *data, const struct node *call);
/* The same, through calls. */
size_t way_through(const struct node *root, struct str path, struct way_step steps[WAY_MAX],
	way_called *called, void *data);
