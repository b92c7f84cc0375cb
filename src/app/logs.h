#pragma once

#include <stdatomic.h>

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
 * more; -errno, also when the output of a run that is done is gone. */
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

/* A part of a log as lines. */
enum slice_kind {
	SLICE_FROM, /* from the line that has the byte `at` on */
	SLICE_BACK, /* the last ones before the byte `at` */
	SLICE_TAIL, /* the last ones */
};

enum { SLICE_LINES = 2000, SLICE_BYTES = 256 << 10, SLICE_LINE = 64 << 10 };

struct log_slice {
	enum log_stream stream;
	struct str node;  /* the path of a command; empty: the run's own log */
	uint64_t attempt; /* of the command; 0: the last one */
	enum slice_kind kind;
	uint64_t at;
	size_t lines;      /* at most; 0 and more than SLICE_LINES: that many */
	bool whole;        /* leave out a last line that has no end yet */
	struct mask *mask; /* as in struct log_window */
};

struct log_line {
	uint64_t offset;
	struct str text; /* without its end; borrowed during the call */
	bool ended;      /* it has one */
	bool cut;        /* it is longer than SLICE_LINE: this is a part of it */
};

typedef void log_line_fn(void *data, const struct log_line *line);
/* Calls `see` with each, in order. *ret: the part that was told, and the size of the log now.
 * -ENOENT: there is no such log. -errno. */
int run_log_lines(struct run_handle *h, const struct log_slice *s, log_line_fn *see, void *data,
	struct log_found *ret);
/* The file of it, for reading: a descriptor, or -errno. */
int run_log_open(struct run_handle *h, struct str node, uint64_t attempt, enum log_stream stream);
/* How many line ends are in its first `until` bytes. -errno. */
int64_t log_count_lines(int fd, uint64_t from, uint64_t until);

/* Line numbers of the logs that were asked for last, as far as their lines have been counted. That
 * is done on another thread, in parts of 256 MiB. */
struct log_counts;
struct log_counts *log_counts_new(void);
void log_counts_free(struct log_counts *c);
/* How many lines end before `offset` of the file; -1: that is not known yet, and *ret_left bytes
 * are to be counted first. */
int64_t log_counts_find(struct log_counts *c, int fd, uint64_t offset, uint64_t *ret_left);
/* A part of the counting; NULL: all has been counted, or another part is under way. */
struct log_counting;
struct log_counting *log_counting_begin(struct log_counts *c, int fd);
/* On any thread. */
void log_counting_work(struct log_counting *w, const atomic_bool *stop);
/* Takes it. True: there is more to count. `c` NULL: what it has counted is not needed. */
bool log_counting_end(struct log_counting *w, struct log_counts *c);

/* A search for a text, literal, ignoring case unless it has a capital letter. It is done in steps,
 * so that a host can do something else in between. */
struct log_find;
struct log_find *log_find_open(int fd, struct str text, uint64_t from, struct mask *mask);
void log_find_close(struct log_find *f);
struct log_hit {
	uint64_t offset;                 /* of the match */
	struct str before, match, after; /* of its line, cut */
};
typedef bool log_hit_fn(void *data, const struct log_hit *hit);
/* Looks at up to `bytes` more; `see` may end the search by returning false. True: there is more to
 * look at. */
bool log_find_step(struct log_find *f, size_t bytes, log_hit_fn *see, void *data);
/* How far it has come: everything that begins before it was found. */
uint64_t log_find_at(const struct log_find *f);

/* Calls `see` with every event of a recorded run from number `from` on, as it is written down: a
 * line of JSON. False ends it. -errno. */
typedef bool run_event_fn(void *data, struct str line, uint64_t seq);
int run_events_each(struct run_handle *h, uint64_t from, run_event_fn *see, void *data);

/* The secrets of a recorded run: *ret is NULL when it has none. The caller ends it with
 * mask_free(). False with an issue: one that was never written down is not in the environment of
 * this process either, so that what the run printed must not be shown. */
bool run_mask(struct run_handle *h, struct mask **ret, struct report *r);

/* The path of the file, whether it is there or not. Lives with the handle. */
const char *run_log_path(struct run_handle *h, enum log_stream stream);
/* A whole file of a run's directory, such as out/0.out: never anything but a regular file of it,
 * whatever the run has put there. -errno; -EFBIG when it has more than `max` bytes. */
int run_kept_read(const char *dir, const char *name, size_t max, struct buf *ret);

/* -- the whole story -----------------------------------------------------------------------------
 */

/* Every line that the commands of a run have printed, each with the name of its command before it,
 * in the order in which they came. */
struct story;

/* Of the commands at or below the node `under`; empty: of all. The run must outlive it. */
struct story *run_story_open(struct run_handle *h, struct str under);
void run_story_close(struct story *s);
/* Hands lines that have come since the last call to `write`, fit for a terminal, many at once; with
 * `last` also those that have no end. `write` returns -errno to stop, which is then the answer. */
typedef int story_fn(void *data, struct str lines);
int run_story_read(struct story *s, bool last, story_fn *write, void *data);

/* -- one command ---------------------------------------------------------------------------------
 */

/* One execution of a command, or a group of them. */
struct run_node {
	struct str path, label; /* in the handle */
	bool group;             /* it has commands below it, and the rest is 0 */
	uint64_t attempt;       /* which execution, from 1 */
	uint64_t attempts;      /* how many there were */
	uint64_t number;        /* which one its files have */
	bool has_out, has_err;  /* it has ended, and has printed there */
};

/* Finds a node by its path or label among those that the run has reached. `attempt` 0: the last
 * one. False with an issue. */
bool run_node_find(struct run_handle *h, const char *word, uint64_t attempt, struct run_node *ret,
	struct report *r);
/* The same as run_log_read() and run_log_path(), of that command alone: both are its own bytes. */
int run_node_read(struct run_handle *h, const struct run_node *n, struct log_cursor *c, size_t max,
	struct buf *ret);
const char *run_node_path(struct run_handle *h, const struct run_node *n, enum log_stream stream);
