#pragma once

#include <stddef.h>

/* Copies a file, or a directory with everything in it, to a name that nothing has: -EEXIST when
 * something does. Links inside a directory are copied as links; sockets, FIFOs and devices there
 * are counted only. On failure nothing is left of the copy. -errno. */
int copy_tree(const char *from, int dirfd, const char *name, size_t *skipped);
