#pragma once

#include "base/path.h"
#include "base/str.h"

/* Names of files as people write them. Everything is made in the arena. */

/* $HOME, else what the password file says; empty when neither does. */
struct str path_home(struct arena *a);
/* Where the global configuration is. */
struct str path_global_config(struct arena *a, struct str home);

/* Looks like a path and not like a name: ./x ../x /x ~/x. */
bool path_typed(struct str text);
/* ~ and ~/x; all else is as it was. */
struct str path_tilde(struct arena *a, struct str path, struct str home);

/* What stands behind the last slash. */
struct str path_last(struct str path);
