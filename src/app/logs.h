#pragma once

#include "app/runs.h"

/* What a run has printed: two files of its directory that grow while it runs. */

enum log_stream {
	LOG_STDOUT, /* the run's output, byte for byte */
	LOG_STDERR, /* what its commands write to standard error, each line with its node */
};

/* How far a reader has come in one of them. Zeroed: at the beginning. */
struct log_cursor {
	enum log_stream stream;
	uint64_t at;
	uint64_t file; /* which file that was: one that was replaced is read from its beginning */
};

/* Adds up to `max` bytes behind the cursor to `ret` and moves it. 0, also when there is nothing
 * more; -errno. */
int run_log_read(struct run_handle *h, struct log_cursor *c, size_t max, struct buf *ret);
/* The path of the file, whether it is there or not. Lives with the handle. */
const char *run_log_path(struct run_handle *h, enum log_stream stream);
/* A whole file of a run's directory, such as out/0.out: never anything but a regular file of it,
 * whatever the run has put there. -errno; -EFBIG when it has more than `max` bytes. */
int run_kept_read(const char *dir, const char *name, size_t max, struct buf *ret);
