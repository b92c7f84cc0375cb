#pragma once

#include "base/list.h"
#include "base/plain-text.h"
#include "graph/event.h"

/* What happens in a run right now, learnt from its events. Only what is active is kept, a group
 * that has begun, a command that runs or is about to be tried again; and commands that failed,
 * until the end. What else has ended is a number. */
enum live_state {
	LIVE_GROUP,
	LIVE_RUNNING, /* a command */
	LIVE_WAITING, /* between two attempts */
	LIVE_QUEUED,  /* a command that no worker has begun */
	LIVE_FAILED,  /* a command that has ended; its group may have too */
};

/* Of more only the number is known. */
enum { LIVE_FAILED_MAX = 200, LIVE_QUEUED_MAX = 100 };

struct live_row {
	struct live_row *chain; /* in its bucket */
	struct live_row *parent;
	struct list siblings; /* in `children` of the parent */
	struct list children; /* in order of start */
	struct list order;    /* in `order` of the tree */
	enum live_state state;
	bool wrapper; /* a group that stands for its only child: not drawn */
	bool shown;   /* used while a frame is drawn */
	char *path;
	struct buf caption;
	uint64_t started_ms, attempt;
	uint64_t count, done, failed; /* of the children of a group */
	bool repeats;                 /* a group whose children are rounds of a loop of steps */
	bool call;                    /* stands for the recipe that it calls: not drawn */
	uint64_t until_ms;            /* when its pause is over; 0: it has none */
	int code, signal;             /* of one that failed */
	bool timeout, tolerated;
	struct last_line last;
};

struct live_tree {
	struct live_row root; /* above everything, not drawn; its path is NULL */
	struct list order;    /* all rows by start, so the longest running come first */
	struct live_row **buckets;
	size_t bucket_count, row_count;
	uint64_t started_ms; /* of the first event */
	uint64_t running, done, failed;
	uint64_t kept; /* failed rows */
	uint64_t queued;
	bool started, ended;
	enum event_kind stopping; /* EVENT_RUN_CANCEL, EVENT_RUN_KILL; else 0 */
	struct buf on;            /* the executor that queued commands wait for */
	struct buf away;          /* what the workers of a batch system do; empty: there are none */
};

void live_tree_init(struct live_tree *t);
void live_tree_done(struct live_tree *t);
void live_tree_event(struct live_tree *t, const struct event *e);
struct live_row *live_tree_find(const struct live_tree *t, struct str path);
