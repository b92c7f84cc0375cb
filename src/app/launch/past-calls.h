#pragma once

#include "app/record/launch.h"
#include "graph/way.h"

/* The way to a node of an ended run, also through the recipes that its steps have called: they are
 * read from the copies in the directory of that run. */
struct called {
	const struct launch *launch;
	struct str dir;  /* of the run */
	json_t *copies;  /* path → file of it */
	struct str from; /* where the recipe stands whose step calls */
	/* Those that were read, each once for the step that calls it. */
	VEC(struct called_graph {
		const struct node *call;
		struct graph *graph;
	})
	graphs;
};

void called_init(struct called *c, const struct launch *l, struct str dir);
void called_done(struct called *c);

/* As way_to(). The nodes live as long as `c`. */
size_t called_way(struct called *c, struct str path, struct way_step steps[WAY_MAX]);
