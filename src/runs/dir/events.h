#pragma once

#include "runs/dir/follower.h"

/* events.jsonl of a run directory: what happened, one JSON object a line. This is the one reader of
 * it. Events have numbers without gaps, from 1 (`seq`); of a long run the first ones may have been
 * dropped (lines.h), and the others keep their numbers. */
#define EVENTS_FILE "events.jsonl"

/* Calls `see` with every event from number `from` on (0 and 1: all), as its text; `see` stops by
 * returning false. Lines that are longer than LINE_MAX_BYTES are left out. The last line needs no
 * end. No file: no events. -errno. */
typedef bool event_line_fn(void *data, struct str line, uint64_t seq);
int events_each(const char *dir, uint64_t from, event_line_fn *see, void *data);
/* Where an event is written: for a reader that wants to see it once more. Zeroed: nowhere. */
struct event_place {
	ino_t file; /* which of the two: a file keeps that when it is rotated */
	off_t offset;
	size_t len;
};
/* Adds the line to `ret`. -ENOENT: it was dropped since, or is not there. -errno. */
int events_line(const char *dir, const struct event_place *place, struct buf *ret);
/* The number of the last event; 0: there is none. */
uint64_t events_count(const char *dir);

/* Events of a run that may still be running: all that there are come first, then, with each read,
 * those that have been written since. */
struct event_follower {
	struct follower lines;
	uint64_t from;
	struct event_place place; /* of the event that `see` is called with */
};
void event_follower_init(struct event_follower *f, const char *dir, uint64_t from);
void event_follower_done(struct event_follower *f);
/* After `see` has returned false the follower is not touched any more. -errno. */
int event_follower_read(struct event_follower *f, event_line_fn *see, void *data);

/* Who asked for the end of a run that left no result: the last event that says so. A start or a
 * resume behind it takes it back: both are a `run.start`. */
enum stop_kind { STOP_NONE, STOP_CANCEL, STOP_KILL };
/* -errno. */
int events_stop(const char *dir, enum stop_kind *ret);
