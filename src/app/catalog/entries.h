#pragma once

#include "app/recipes.h"
#include "recipe/recipe.h"

/* An id of an index with its active candidate opened. */
struct opened {
	const struct recipe_entry *entry;
	const struct recipe_candidate *active;
	struct recipe *recipe; /* NULL: invalid */
	struct report issues;
	enum recipe_state state;
};

void entry_open(const struct recipe_index *index, const struct recipe_entry *e, struct opened *ret);
void entry_close(struct opened *o);
/* Whether hosts may offer it as a tool: a recipe of the user, or one of the project that is
 * trusted. `trusted` is trust_read()'s. */
bool entry_is_tool(const struct opened *o, const json_t *trusted);

/* All of them, one after the other. Borrowed until it returns. */
typedef void entry_fn(void *data, const struct opened *o);
void entries_each(const struct recipe_index *index, entry_fn *fn, void *data);

/* The first error of an invalid one; NULL: it is valid. */
const struct issue *entry_fault(const struct opened *o);
/* Whether that is in another file, which it imports. */
bool entry_fault_elsewhere(const struct opened *o);
