#pragma once

#include "graph/graph.h"
#include "graph/step.h"
#include "steps/read/recipe.h"

/* The graph of a step recipe: the same nodes as every other format, with what steps have beside
 * (graph/step.h). `ops` is what its nodes do when they run: &step_ops (ops.h), or those of the
 * recipe that calls it. Takes the recipe, and `keep`, which is ended with the graph; NULL: nothing.
 * The caller has the one reference. */
struct graph *step_graph(struct step_recipe *recipe, const struct step_ops *ops, void *keep,
	void (*keep_free)(void *keep));

/* The recipe that it was made of. */
const struct step_recipe *step_graph_recipe(const struct graph *g);
/* The step that a node was made of; NULL: a sequence or a gate. */
static inline const struct step *step_of(const struct node *n)
{
	return n->step->data;
}
