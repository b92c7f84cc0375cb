#pragma once

#include "base/arena.h"

/* Where recipes live (product.md, "Where things live"). */
struct recipe_dirs {
	struct str agent;    /* $PI_CODING_AGENT_DIR, else ~/.pi/agent */
	struct str user;     /* agent/recipes: recipes there are tools */
	struct str packaged; /* $ROUX_PACKAGED_DIR, else what was installed, or the source's
				recipes/ */
};

/* NULL for each that is to be found as usual. Everything is in the arena. */
struct recipe_dirs recipe_dirs_find(struct arena *a, const char *agent, const char *packaged);

/* The file that has this code: the program, or the library that a host's program uses. Empty
 * when it cannot be found out. */
struct str code_path(struct arena *a);
