#pragma once

#include "app/recipes.h"
#include "graph/graph.h"
#include "recipe/recipe.h"

/* What stands behind `struct recipe_ref`, for the rooms of app. */
struct recipe_ref *ref_to_opened(struct app *a, struct recipe *recipe); /* takes the recipe */

struct recipe_ref {
	struct app *app; /* holds a reference */
	unsigned references;
	struct recipe_ref *of; /* whose recipe this is with other values; NULL: it has its own */
	struct recipe *recipe; /* NULL: a template */
	struct graph *graph;   /* holds a reference */
	json_t *values;        /* as given, shared with the caller; NULL: none, or not known */
};
