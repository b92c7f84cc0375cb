#pragma once

#include "recipe/recipe.h"
#include "steps/read/recipe.h"

/* What is worth a warning about a step recipe and cannot be seen in its own file: agents that
 * are not configured, and the recipes that it calls by name. */
struct steps_check {
	const json_t *agents;           /* --agent: name → command; may be NULL */
	const json_t *collections;      /* name → directory; may be NULL */
	struct str cwd;                 /* where it would run: ./.start is read */
	const struct recipe_dirs *dirs; /* where recipes are that are called by name */
};

/* A sub_recipe_find_fn over `const struct recipe_dirs *`. */
bool find_called(void *dirs, struct str name, struct buf *ret, struct report *r);

void steps_check(const struct step_recipe *recipe, const struct steps_check *how, struct report *r);
