#pragma once

#include "recipe/file.h"

/* Import references: `{alias.name}`, `{alias.file}`, `{alias.defaults.k}`, `{alias.values.k}` with
 * a fallback or a choice. Every text of the recipe but its imports is looked at; one that is
 * exactly a reference takes the value itself. Returns a new object, NULL with issues. */
json_t *reference_resolve(
	struct recipe_set *set, const struct recipe_file *f, bool *ok, struct report *r);
