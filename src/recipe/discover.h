#pragma once

#include "recipe/file.h"

/* Recipes found by location: the user's directory, then the project's, then the packaged one. For
 * each id the highest entry is active, even when it is broken or disabled: it then blocks the
 * others. The numbers are those of graph.json. */
enum recipe_layer { LAYER_USER = 0, LAYER_ADHOC = 1, LAYER_PACKAGED = 2, LAYER_PROJECT = 3 };

struct recipe_candidate {
	struct str path;
	enum recipe_layer layer;
};

struct recipe_entry {
	struct str id;
	VEC(struct recipe_candidate) candidates; /* in order of precedence; the first is active */
};

/* A directory of recipes that is there and cannot be read. */
struct recipe_root_error {
	struct str dir;
	int error; /* an errno */
};

struct recipe_index {
	struct arena arena;
	struct recipe_dirs dirs;
	VEC(struct recipe_entry) entries; /* in order of id */
	VEC(struct recipe_root_error) unreadable;
};

struct recipe_index *recipe_index_new(const struct recipe_dirs *dirs);
void recipe_index_free(struct recipe_index *index);
const struct recipe_entry *recipe_index_find(const struct recipe_index *index, struct str id);

/* Tells of the directories that could not be read. */
void recipe_index_report(const struct recipe_index *index, struct report *r);

/* Where a recipe was found. */
struct recipe_location {
	struct str path;
	enum recipe_layer layer;
	bool by_path;        /* it was asked for by its path, not by its id */
	struct str blocked;  /* of an id: the first file that it shadows; empty: none */
	struct str packaged; /* of a project's recipe: the packaged one that it shadows; or empty */
};

/* The file that a RECIPE operand means: a path, a file of the working directory, or an id. What is
 * found is in the arena. False with an issue added when there is none.
 */
bool recipe_locate(struct arena *a, const struct recipe_dirs *dirs, struct str operand,
	struct recipe_location *ret, struct report *r);

const char *recipe_layer_name(enum recipe_layer layer);
