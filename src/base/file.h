#pragma once

#include <sys/types.h>

#include "base/buf.h"

/* Reads to the end. -errno; -EFBIG when there are more than `max` bytes. */
int fd_read_all(int fd, size_t max, struct buf *ret);
/* The same of a file; directories are -EISDIR, other things that are not files -EINVAL. */
int file_read(const char *path, size_t max, struct buf *ret);
/* The same of a file that the user has not named, such as settings: pipes and devices other than
 * /dev/null are -EINVAL as well, because no writer can be expected. */
int file_read_regular(const char *path, size_t max, struct buf *ret);
/* pread() that a signal does not interrupt. */
ssize_t fd_read_at(int fd, void *to, size_t size, off_t at);
/* Writes all of it, however often it takes. -errno. */
int fd_write_all(int fd, struct str s);
/* The same at that place; where the next write() goes is not changed. */
int fd_write_at(int fd, struct str s, off_t at);

/* Writing to a pipe or socket whose reader has gone raises SIGPIPE, which ends a process that did
 * not prepare for it. Between these two calls it only makes the write fail with EPIPE. */
struct sigpipe {
	bool pending, blocked;
};
void sigpipe_begin(struct sigpipe *s);
void sigpipe_end(const struct sigpipe *s);

/* Makes a directory, and those above it, 0700. -errno; -ENOENT when the user's home directory would
 * have to be made: one that does not exist counts as none. */
int dir_make(const char *path);

/* An unnamed file that only its descriptor keeps alive, 0600, in $TMPDIR or /tmp. -errno. */
int file_temp(void);
/* A named one; the path is put into `ret`. -errno. */
int file_temp_named(const char *prefix, struct buf *ret);
/* Where they are made. */
const char *file_temp_dir(void);
