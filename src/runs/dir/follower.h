#pragma once

#include <sys/types.h>

#include "base/buf.h"

/* Follows a file that grows, such as a log or a file of lines.h: each call reads what has come
 * since the one before. When another file has taken the name (it was rotated or replaced), the rest
 * of the old one comes first and then the new one from its beginning; a file that was cut is read
 * from its beginning. It watches nothing: loop/notify.h says when to call. */
struct follower {
	struct buf path;
	int flags;
	int fd; /* -1: there was no file yet; reading at an offset with pread() is allowed */
	dev_t dev;
	ino_t ino;
	off_t next;      /* to be read */
	struct buf part; /* of a line that has no end yet */
	bool skipping;   /* that line is longer than LINE_MAX_BYTES */
	size_t index;    /* of the next line */
};

enum {
	FOLLOW_CREATE = 1 << 0, /* makes the file, 0600, when there is none */
	/* Begins with the rotated file, and counts what was dropped before it. */
	FOLLOW_ROTATED = 1 << 1,
};

void follower_init(struct follower *f, const char *dir, const char *name, int flags);
void follower_done(struct follower *f);

/* Opens the file now, to learn whether that can be done; reading does so by itself. A missing file
 * is 0. -errno. */
int follower_open(struct follower *f);
/* Whether follower_read() would find nothing, at the price of one system call: the file has not
 * grown and still has a name. */
bool follower_idle(const struct follower *f);

/* A line without its end. `index` counts from 0 as lines_each() does: markers and empty lines do
 * not count, lines that are too long do. */
struct followed_line {
	struct str text;
	size_t index;
	off_t offset; /* in the file that is open now */
	bool marker;  /* of lines.h: the file was rotated here */
};

/* Calls `see` with every line that has become complete, but not with those that are longer than
 * LINE_MAX_BYTES. After `see` has returned false the follower is not touched any more, so it may be
 * gone. No file: no lines. -errno. */
typedef bool followed_fn(void *data, const struct followed_line *line);
int follower_read(struct follower *f, followed_fn *see, void *data);

/* The same for a file of any bytes: `see` gets them in pieces and returns -errno to stop, which is
 * then the answer. One follower is read in one of the two ways. */
typedef int followed_bytes_fn(void *data, struct str piece);
int follower_read_bytes(struct follower *f, followed_bytes_fn *see, void *data);
