#pragma once

#include "engine/content.h"
#include "loop/loop.h"

/* Standard input of the run while it is still coming, for several readers: each gets all of it from
 * the beginning, as it arrives. A command that does not read it does not wait for its end. What
 * came is kept in a file, so that a second attempt reads it again. The source is read no further
 * than the fastest reader has room for. */
struct live;

struct live_owner {
	/* It could not be kept any more, or not be read: errno. The readers have been cut off. */
	void (*failed)(struct live_owner *o, int error, bool reading);
	/* It has been read to its end; may be NULL. */
	void (*complete)(struct live_owner *o);
	/* live_collect() is through. */
	void (*collected)(struct live_owner *o);
};

/* Reads `fd`, which stays the caller's. `keep` is the file for what came, taken; -1: a temporary
 * one. */
struct live *live_new(struct loop *l, int fd, int keep, struct live_owner *owner);
void live_free(struct live *live);

/* Reads to the end although no command wants it yet; then live_content() is everything. */
void live_collect(struct live *live);
struct content *live_content(struct live *live);
/* How many bytes readers that are through have taken, at most. False: that may not be all that they
 * wanted: the source has not ended, and one of them was cut short or none has begun; or it could
 * not be read or kept. */
bool live_taken(const struct live *live, uint64_t *bytes);

/* Whether that is all that the source had, though its end was not read. Nothing is read here: what
 * a command does not want stays for others. */
bool live_had_all(const struct live *live, uint64_t bytes);

/* One reader: roux writes into a pipe that a command reads. */
struct feed {
	struct live *live;
	struct list link;
	struct watch watch;
	int fd; /* our end of the pipe; -1: done */
	off_t at;
	bool waiting; /* the pipe is full */
	bool cut;     /* set by its owner: the reader is ended by others than itself */
};

/* *child_end is the caller's to close. -errno. */
int feed_start(struct live *live, struct feed *f, int *child_end);
void feed_stop(struct feed *f);
