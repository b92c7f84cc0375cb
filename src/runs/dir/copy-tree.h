#pragma once

/* Copies a file, or a directory with everything in it, to a name that nothing has: -EEXIST when
 * something does. Links inside a directory are copied as links. On failure nothing is left of the
 * copy. -errno. */
int copy_tree(const char *from, int dirfd, const char *name);
