#pragma once

#include "steps/read/recipe.h"

/* The recipe that a step calls: where it is and what it says. Starts nothing; a run, a check and a
 * plan find it in the same place. */
/* Finds the file of a recipe by its name; false with an issue added. */
typedef bool sub_recipe_find_fn(void *data, struct str name, struct buf *ret, struct report *r);

struct sub_recipe {
	sub_recipe_find_fn *find; /* NULL: names are not known here */
	void *find_data;
	const struct step *step;
	struct str word;           /* as the step names it, its variables replaced */
	struct str dir;            /* of the recipe that calls */
	const json_t *collections; /* name → directory; may be NULL */
};

/* Adds the path of its file to `ret`: `@name:path` is in a collection, any other is taken from the
 * directory of the recipe that calls, and one without a slash and without an extension of recipes
 * is the name of one. False with an issue added: there is no such collection, or recipe. */
bool sub_recipe_path(const struct sub_recipe *sub, struct buf *ret, struct report *r);

/* Whether the file is a template recipe, JSON or Markdown, and not a list of steps. */
bool sub_recipe_is_template(struct str path);
/* Whether a step names a recipe in a way that only roux has. */
bool sub_recipe_is_extension(struct str word);

/* Reads it from its file. `name` is what diagnostics call it; empty: its path. NULL with issues
 * added. The caller frees the result. */
struct step_recipe *sub_recipe_open(
	const struct sub_recipe *sub, struct str name, struct report *r);

/* Says that the recipe needs a value that the step does not give. Returns false. */
bool sub_recipe_lacks(const struct step *step, struct str name, struct report *r);
/* Moves what was found in the recipe to `r`. A value that it lacks can come from `context` of the
 * step and from nowhere else: that is said of the step, once. `passed` may be NULL. */
void sub_recipe_blame(
	const struct step *step, const json_t *passed, struct report *found, struct report *r);
