#pragma once

#include "base/path.h"
#include "base/str.h"

/* Names of files and programs as people write them. Everything is made in the arena. */

/* $HOME, else what the password file says; empty when neither does. */
struct str path_home(struct arena *a);
/* Where the global configuration is. */
struct str path_global_config(struct arena *a, struct str home);

/* Looks like a path and not like a name: ./x ../x /x ~/x. */
bool path_typed(struct str text);
/* ~ and ~/x; all else is as it was. */
struct str path_tilde(struct arena *a, struct str path, struct str home);

/* The program that `word` means for somebody who stands in `cwd`: the word itself when it has a
 * slash, else looked up in `search`, a list as in PATH. NULL: there is none. */
const char *path_program(struct arena *a, struct str word, struct str cwd, struct str search);
/* PATH, or what a shell takes without it. */
struct str path_search(void);
/* What stands behind the last slash. */
struct str path_last(struct str path);
