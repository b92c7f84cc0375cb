#pragma once

#include "base/buf.h"

/* Files that a launched agent reads and that are gone when it has ended:
 * ${TMPDIR:-/tmp}/start-role-RANDOM.md, 0600 from the first instant.
 *
 * Their owner is recorded: the name ends with the number of its process, and the owner holds a lock
 * on the file, which the kernel drops with the process. So what a killed owner has left behind can
 * be told from a file in use, whatever process has the number now. */
struct temporary {
	char *path; /* NULL: none */
	int fd;     /* holds the lock; close-on-exec */
};

#define TEMPORARY_NONE ((struct temporary){ .fd = -1 })

/* `what` is "role" or "prompt". Complete when it returns; nothing is left when it fails. -errno. */
int temporary_create(const char *what, struct str bytes, struct temporary *ret);
/* Deletes it, if it is there. */
void temporary_delete(struct temporary *t);

/* The path as a dry run shows it. */
void temporary_example(const char *what, struct buf *b);

/* Deletes those of this user whose owner is gone. Returns how many. */
size_t temporary_sweep(void);
