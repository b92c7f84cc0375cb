#pragma once

#include "base/arena.h"
#include "base/map.h"

/* Finds programs in PATH, each name once per run. */
struct programs {
	struct arena arena;
	struct map found;
	struct str path; /* of the environment that the commands get */
	const char *cwd; /* relative names are taken from here; NULL: the process's */
};

void programs_done(struct programs *p);

/* The file to execute for a command word: the word itself when it has a slash. Borrowed. NULL with
 * *error = ENOENT when there is none, EACCES when it may not be executed. */
const char *programs_find(struct programs *p, const char *word, int *error);
