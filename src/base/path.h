#pragma once

#include "base/arena.h"
#include "base/buf.h"

/* Paths of files as text. Paths that are made are in the arena and end with a NUL; those that are
 * a part of `path` are borrowed from it. Links are never followed. (The paths of nodes in a graph
 * are in base/node-path.h.) */

/* The directory part without the slash at its end: "." when there is none, "/" for the root. */
struct str path_dir(struct str path);
/* What follows the last slash. */
struct str path_base(struct str path);

/* `name` below `dir`, as it is written. */
struct str path_below(struct arena *a, struct str dir, struct str name);
/* `path` for people: without double slashes and without `.` behind its beginning. It leads to the
 * same file. */
void path_plain(struct buf *b, struct str path);
/* `path` made absolute from `dir`, without `.`, `..` and double slashes. */
struct str path_from(struct arena *a, struct str dir, struct str path);
/* The same from this process's working directory; as it is when that cannot be found out. */
struct str path_absolute(struct arena *a, struct str path);

/* `~` and `~/x` below `home`; every other path, and all of them when `home` is empty, as it is. */
struct str path_tilde(struct arena *a, struct str path, struct str home);
/* Looks like a path and not like a name: ./x ../x /x ~/x. */
bool path_typed(struct str text);
