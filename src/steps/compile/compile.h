#pragma once

#include "graph/graph.h"
#include "steps/read/recipe.h"

/* The graph of a step recipe: the same nodes as every other format, with what steps have beside
 * (graph/step.h). Takes the recipe, and `keep`, which is ended with the graph; NULL: nothing. */
struct graph *step_graph(struct step_recipe *recipe, void *keep, void (*keep_free)(void *keep));

/* The recipe that it was made of. */
const struct step_recipe *step_graph_recipe(const struct graph *g);
/* The step that a node was made of. */
const struct step *step_of(const struct node *n);
