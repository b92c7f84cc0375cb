#pragma once

#include "recipe/project.h"

/* Where recipes live (docs/reference.md, "Files"). */
struct recipe_dirs {
	struct str agent;       /* $PI_CODING_AGENT_DIR, else ~/.pi/agent */
	struct str user;        /* agent/recipes: recipes there are tools */
	struct str packaged;    /* $ROUX_PACKAGED_DIR, else what was installed, or the source's
				   recipes/ */
	struct project project; /* of a working directory; see recipe_dirs_project() */
};

/* NULL for each that is to be found as usual; without a project. Everything is in the arena. */
struct recipe_dirs recipe_dirs_find(struct arena *a, const char *agent, const char *packaged);

/* They belong to a host that works in `cwd`: its project joins them. */
void recipe_dirs_project(struct arena *a, struct recipe_dirs *d, struct str cwd);
/* The same as it was when a run started; empty: there was none. */
void recipe_dirs_project_was(struct arena *a, struct recipe_dirs *d, struct str repo);
/* A copy with all texts in `a`. */
struct recipe_dirs recipe_dirs_copy(struct arena *a, const struct recipe_dirs *d);

/* The file that has this code: the program, or the library that a host's program uses. Empty
 * when it cannot be found out. */
struct str code_path(struct arena *a);
