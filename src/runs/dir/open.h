#pragma once

#include "base/buf.h"

/* Opening what is in the directory of a run. Commands of the run can put anything there: a FIFO
 * without a writer, a device, a link that leads elsewhere. Every file of the directory is opened
 * here, so that none of them makes a command wait and none leads out of the directory:
 *
 * - only regular files: anything else is -EINVAL (-EISDIR: a directory), and nothing waits for it;
 * - only beneath the directory: no link is followed, not even on the way: -ELOOP;
 * - descriptors are closed on exec; what O_CREAT makes is 0600. */

/* `name` may lead through directories: "out/0.out". A descriptor, or -errno. */
int run_open(const char *dir, const char *name, int flags);
/* The same below a directory that is open. */
int run_open_at(int dirfd, const char *name, int flags);
/* The same of a path whose last part is the file and whose other part is the directory. */
int run_open_path(const char *path, int flags);
/* A directory beneath it; "." is the run's own. `make`: makes its last part, 0700, when it is not
 * there. A descriptor, or -errno. */
int run_open_dir(const char *dir, const char *name, bool make);
int run_open_dir_at(int dirfd, const char *name, bool make);

/* Whether such an error says that what is there is not a file of ours: it cannot be read later
 * either. */
bool run_is_foreign(int error);

/* Reads a file to its end. -errno; -EFBIG when it has more than `max` bytes. */
int run_read(const char *dir, const char *name, size_t max, struct buf *ret);
