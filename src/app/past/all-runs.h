#pragma once

#include "app/context/context.h"
#include "base/vec.h"

/* Every run that there is, with its earlier generations, whatever the ledger has: without one, and
 * with one that lacks some, every directory has to be opened. */
struct all_runs {
	VEC(struct run_row) rows; /* newest first, in the arena */
	size_t left_out;          /* older ones that were not opened: app_options.directories_max */
	struct arena arena;
};

/* Finds them, with the ledger that the app has open, and warns of what it lacks. False with an
 * issue: the directories cannot be read. The caller ends it with all_runs_done(), also then. */
bool all_runs_find(struct app *a, struct all_runs *ret, struct report *r);
void all_runs_done(struct all_runs *all);
/* Whether the ledger that the app has open does not tell of all. */
bool all_runs_needed(struct app *a);
