#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/str.h"

/* A file that is replaced whole: a reader sees the old text or the new one, also after a
 * crash of the machine. */
struct atomic_options {
	mode_t mode;    /* of a new file, as open() takes it, so the umask applies; 0: 0600 */
	bool exclusive; /* never replaces: -EEXIST when something has that name */
	bool keep;      /* the mode, owner and access list of the file that is replaced */
	bool quick;   /* not flushed: safe from a killed process, not from a crash of the machine */
	bool durable; /* the name is flushed too: after a crash of the machine the new file is there
		       */
	bool follow;  /* a symbolic link stays, and the file that it leads to is replaced */

	/* A file without a name from atomic_spare(), which is used up and becomes -1: it becomes
	 * the file when none has the name yet. NULL or -1: none. */
	int *spare;

	/* What the caller has read, from fstat() before reading, or NULL. When the file has been
	 * deleted, replaced or changed since, nothing is written: -ESTALE. */
	const struct stat *replaces;
};

/* NULL options: 0600 for a new file and nothing else. On failure the file is as it was and no
 * other is left behind. What is neither a file nor a link is never replaced: -EISDIR, -EINVAL.
 * With `keep`, an owner that cannot be given to the new file is -EPERM. Unless it is `durable`, the
 * new name is not flushed: after a crash of the machine the old file may be there again. -errno. */
int atomic_write(const char *path, struct str bytes, const struct atomic_options *o);
/* The same of a plain name in an open directory, which for `durable` is open for reading; `follow`
 * is not known here. */
int atomic_write_at(int dirfd, const char *name, struct str bytes, const struct atomic_options *o);

/* Makes a file for a later atomic_write_at() in the same directory, 0600 and without a name, so
 * that nothing is left of it when the process is killed. Making a file takes longer than all the
 * rest, and may be done while there is something to wait for. Closing it is enough when it is not
 * used. A descriptor, or -errno: not every file system can do it. */
int atomic_spare(int dirfd);

/* What the file is called until it is whole begins so; a writer that is killed leaves it. */
#define ATOMIC_PREFIX ".roux-"

/* Holds the directory of `path` until *ret_fd is closed, so that those who read a file, change it
 * and write it back take turns. The directory of the file that a link leads to, so that all who
 * mean the same file meet. A lock on the file itself would be lost when it is replaced, and a lock
 * file beside it would be litter; the price is that the files of one directory share a lock.
 * -ETIMEDOUT when it is not to be had within `wait_ms`: a stopped process must not stop others.
 * -errno. */
int file_lock(const char *path, unsigned wait_ms, int *ret_fd);
