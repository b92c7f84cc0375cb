#pragma once

#include "recipe/recipe.h"

/* Every id of an index with its active candidate opened, one after the other. */
enum entry_state { STATE_ACTIVE, STATE_INVALID, STATE_DISABLED };

struct opened {
	const struct recipe_entry *entry;
	const struct recipe_candidate *active;
	struct recipe *recipe; /* NULL: invalid */
	struct report issues;
	enum entry_state state;
};

/* Borrowed until it returns. */
typedef void entry_fn(void *data, const struct opened *o);
void entries_each(const struct recipe_index *index, entry_fn *fn, void *data);

/* The message of the first error; empty: none. */
struct str entries_first_error(const struct report *r);
