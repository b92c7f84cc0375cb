#pragma once

#include "base/arena.h"

/* A project: the nearest directory at or above the working directory that has `.roux`. The search
 * ends where another file system begins, and at the home directory; neither the home directory nor
 * the root is a project. All texts are in the arena. */
struct project {
	struct str repo;    /* the directory that has `.roux`; empty: there is none */
	struct str recipes; /* repo/.roux/recipes; empty: as above */
	/* Why there is none although `.roux` is there: a clause for people. Empty: there is no
	 * reason. */
	struct str unused;
};

struct project project_find(struct arena *a, struct str cwd);

/* The directory that has the `.roux` whose recipes/ holds the file `path`, which is absolute; by
 * the path alone, so that a recipe means the same after its files are gone. Empty: it is not such a
 * file. Borrowed from `path`. */
struct str project_of_file(struct str path);
