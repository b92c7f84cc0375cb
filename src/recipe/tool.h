#pragma once

#include "recipe/recipe.h"

/* Registered tools: recipe files in the user's directory, or in the project's, written as a whole
 * or not at all. */
struct tool_request {
	const char *name;        /* as given; the file's name is made from it */
	const char *template;    /* a command line, or JSON text; NULL: not given */
	const char *description; /* NULL: not given */
	const char *args;        /* a comma list of declarations; NULL: not given */
	int async;               /* -1: not given */
	bool project;            /* in the project's directory */
	bool update;             /* of an existing tool: change only what is given */
};

/* Validates by loading what would be written, then writes it. `path` gets the file. False with
 * issues, and nothing is changed. */
bool tool_write(const struct recipe_dirs *dirs, const struct tool_request *q, struct buf *path,
	struct report *r);
bool tool_remove(const struct recipe_dirs *dirs, const char *name, bool project, struct buf *path,
	struct report *r);
