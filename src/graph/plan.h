#pragma once

#include "graph/graph.h"

/* A graph with its values: checked, nothing in it can be missing any more. Immutable; a run keeps
 * the plan that it started with. */
struct plan {
	unsigned references;
	struct graph *graph;
	json_t *values;     /* normalised by type */
	struct scope scope; /* the root layer: the values */
	struct buf output;  /* the selected value; only with graph->output */
	json_t *vars;       /* of a step recipe: what its variables begin with; a run copies them */
};

/* `values` is an object, or NULL for none; it is not changed. Finds every template error before
 * anything starts, recoveries excepted. NULL with issues added. */
struct plan *plan_new(struct graph *g, const json_t *values, struct report *r);
struct plan *plan_ref(struct plan *p);
void plan_unref(struct plan *p);

/* Shared by all that walk a plan: the engine when nodes start, the checks before. */

/* The scope inside a node. `room` is used when the node adds something to `up`. */
const struct scope *plan_enter(const struct node *n, const struct scope *up, struct scope *room);
/* The same inside copy `index` of `count`, for the body of a NODE_EACH. */
const struct scope *plan_enter_copy(const struct node *body, const struct scope *up, int64_t index,
	int64_t count, struct scope *room);
/* Whether the node runs. A repeated node whose guard depends on the copy always does: each copy
 * decides for itself. */
bool plan_guard(const struct node *n, const struct scope *s, bool *runs, struct report *r);
