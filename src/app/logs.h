#pragma once

#include "app/runs.h"
#include "data/mask.h"

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

/* A part of a log, wherever it begins. */
struct log_window {
	enum log_stream stream;
	struct str node; /* what one command printed, by its path or its label; empty: the run's */
	uint64_t offset; /* in bytes */
	size_t max;
	bool tail;         /* the last `max` bytes in place of those from `offset` on */
	struct mask *mask; /* each byte of a secret becomes a star; NULL: there are none */
};

struct log_found {
	uint64_t offset, next; /* where the part begins, and where it ends */
	uint64_t size;         /* of the whole log now */
};

/* Adds the part to `buf`. Secrets that begin or end outside of it are masked too. -ENOENT: the node
 * has printed nothing, or there is none; the run's own log may be absent. -errno. */
int run_log_window(
	struct run_handle *h, const struct log_window *w, struct buf *buf, struct log_found *ret);

/* The secrets of a recorded run: *ret is NULL when it has none. The caller ends it with
 * mask_free(). False with an issue: one that was never written down is not in the environment of
 * this process either, so that what the run printed must not be shown. */
bool run_mask(struct run_handle *h, struct mask **ret, struct report *r);

/* The path of the file, whether it is there or not. Lives with the handle. */
const char *run_log_path(struct run_handle *h, enum log_stream stream);
/* A whole file of a run's directory, such as out/0.out: never anything but a regular file of it,
 * whatever the run has put there. -errno; -EFBIG when it has more than `max` bytes. */
int run_kept_read(const char *dir, const char *name, size_t max, struct buf *ret);
