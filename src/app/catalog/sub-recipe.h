#pragma once

#include "steps/read/recipe.h"

/* The recipe that a step calls, for those who only look. */
struct sub_recipe {
	struct str word;           /* as the step names it, its variables replaced */
	struct str dir;            /* of the recipe that calls */
	struct str name;           /* what diagnostics call it; empty: its path */
	const json_t *collections; /* name → directory; may be NULL */
	const json_t *given;       /* an object whose names it is given; may be NULL */
};

/* Reads it. NULL with issues added. */
struct step_recipe *sub_recipe_open(const struct sub_recipe *sub, struct report *r);
/* Its text as it is now: 0 or -errno. */
int sub_recipe_text(struct buf *path, struct buf *text);
/* Where it is. False with an issue added: there is no such collection. */
bool sub_recipe_path(const struct sub_recipe *sub, struct buf *path, struct report *r);
