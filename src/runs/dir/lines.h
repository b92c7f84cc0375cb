#pragma once

#include <sys/types.h>

#include "base/buf.h"

/* Files of lines that several programs append to at once: outbox.jsonl, inbox.jsonl. One line is
 * one write at the end of the file, so lines of roux never mix, and no lock is needed for it. A
 * file that has grown to its limit becomes NAME.1.jsonl, and what was there before is dropped; the
 * new file begins with a line that says how much. A writer that still has the old file open writes
 * into NAME.1.jsonl, which readers read too: nothing is lost by it. */

enum {
	LINE_MAX_BYTES = 8 << 20, /* a longer line is skipped by readers */
	LINES_MAX_BYTES = 64 << 20,
};

/* The type of the line that a rotated file begins with. */
#define LINES_MARKER "log.rotated"

struct line_log {
	struct buf path;
	size_t limit;
	int fd;
	dev_t dev;
	ino_t ino;
	off_t end; /* of the file after our last write */
};

/* Opens nothing yet. */
void line_log_init(struct line_log *l, const char *dir, const char *name, size_t limit);
void line_log_done(struct line_log *l);
/* Makes the file now, and not with the first line. -errno. */
int line_log_open(struct line_log *l);
/* Appends a line (without its end), making the file, 0600, when there is none. A last line that
 * another program left without an end gets one first. -EINVAL: the line has an end inside, or the
 * name is not that of a regular file. -errno. */
int line_log_append(struct line_log *l, struct str line);
/* Whether the next line of that many bytes would make the file too long. */
bool line_log_full(const struct line_log *l, size_t bytes);
/* Begins a new file now, with a marker and then `carry`, whole lines. 0 also when another process
 * does so at this moment. -errno. */
int line_log_rotate(struct line_log *l, struct str carry);

/* Shortens a file that only we append to by what a crash cut off in the middle of a line: it would
 * spoil the next one. -errno. */
int lines_drop_cut(int fd);
/* What has been written to the file, and its name, are on the disk then. -errno. */
int lines_sync(const char *dir, const char *name);

/* Calls `see` with every line that is not empty, those of the rotated file first; it may stop by
 * returning false. `index` counts from 0 and over everything that was dropped; markers do not
 * count. The last line needs no end. Lines over LINE_MAX_BYTES are left out and counted. No file:
 * no lines. -errno. */
typedef bool line_fn(void *data, struct str line, size_t index);
int lines_each(const char *dir, const char *name, line_fn *see, void *data, size_t *ret_too_long);

/* For other readers of such files: whether the line is a marker, what NAME.1.jsonl is called, and
 * how many lines were dropped before those of the rotated file, as the open file says. */
bool line_is_marker(struct str line);
void lines_rotated_path(struct buf *b, const char *path);
size_t lines_dropped(int fd);
