#pragma once

#include "steps/read/recipe.h"

/* The recipe that a step calls: where it is and what it says. Starts nothing; a run, a check and a
 * plan find it in the same place. */
struct sub_recipe {
	const struct step *step;
	struct str word;           /* as the step names it, its variables replaced */
	struct str dir;            /* of the recipe that calls */
	const json_t *collections; /* name → directory; may be NULL */
};

/* Adds the path of its file to `ret`: `@name:path` is in a collection, any other is taken from the
 * directory of the recipe that calls. False with an issue added: there is no such collection. */
bool sub_recipe_path(const struct sub_recipe *sub, struct buf *ret, struct report *r);

/* Reads it from its file. `name` is what diagnostics call it; empty: its path. NULL with issues
 * added. The caller frees the result. */
struct step_recipe *sub_recipe_open(
	const struct sub_recipe *sub, struct str name, struct report *r);
