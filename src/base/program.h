#pragma once

#include "base/arena.h"
#include "base/map.h"

/* Which file a command word executes, as a shell finds it. */

/* The most that the kernel takes of one argument or one entry of the environment, its NUL included
 * (MAX_ARG_STRLEN). */
enum { PROGRAM_STRING_MAX = 131072 };

/* The list of directories in PATH, or what a shell takes without it. */
struct str program_search(void);

/* The file that `word` executes for a process whose working directory is `cwd`: a word
 * with a slash is a path from there, another is looked up in `search`, a list like PATH, where an
 * empty or relative entry starts at `cwd` too. Made in the arena. NULL: no file may be executed;
 * *ret_error, unless that is NULL, is then EACCES when one was found all the same, else ENOENT. */
const char *program_find(
	struct arena *a, struct str word, struct str cwd, struct str search, int *ret_error);

/* Remembers what was found. Only that: a command may install what the next one executes. */
struct programs {
	struct arena arena;
	struct map found;
	struct str path; /* borrowed: PATH of the environment that the commands get */
	const char *cwd; /* borrowed; NULL: the process's own working directory */
};

void programs_done(struct programs *p);

/* Like program_find(), but a word with a slash comes back as it is: it is tried in the child, which
 * is in the working directory then. Borrowed until programs_done(). */
const char *programs_find(struct programs *p, const char *word, int *error);
