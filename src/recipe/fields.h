#pragma once

#include "base/str.h"

/* The members of a recipe beside the fields of a node: one table for reading, hints and the schema.
 */
struct recipe_field {
	const char *name;
	const char *schema;  /* JSON Schema of its value */
	const char *summary; /* for people */
};

extern const struct recipe_field recipe_fields[];
extern const size_t recipe_field_count;

/* Values that roux itself adds to a recorded run; ends with NULL. */
extern const char *const lifecycle_names[];
