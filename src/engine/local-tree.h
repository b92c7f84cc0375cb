#pragma once

#include "base/buf.h"
#include "loop/child.h"
#include "loop/loop.h"
#include "loop/tree.h"

/* Ends process trees: asks, waits for the grace time, kills, and looks until no process is left.
 * All that are being ended are looked at together, in one walk over /proc. */

enum tree_stage { TREE_RUNNING, TREE_ASKING, TREE_ASKED, TREE_KILLED };

/* The tree of one command, embedded in its job. */
struct local_tree {
	struct list link;   /* all that have not ended */
	struct child child; /* its first process */
	struct buf mark;    /* "/run.number/": in the environment of everything it starts */
	uint64_t began_ms;  /* on the clock of struct tree */
	enum tree_stage stage;
	uint64_t kill_at_ms;                /* TREE_ASKED: when asking is over */
	bool exited;                        /* the first process */
	unsigned empty;                     /* looks in a row that found no process */
	void (*gone)(struct local_tree *t); /* it was being ended, and no process of it is left */
};

struct local_trees {
	struct loop *loop;
	struct list all;
	struct local_trees *beside; /* whose processes are not these: the next of a ring, or NULL */
	bool whole;                 /* every descendant of this process belongs to the run */
	struct str run_mark;        /* borrowed */
	uint64_t grace_ms;
	struct timer poll, reap;
	uint64_t poll_ms;
	/* What does not belong to a command: asked since local_trees_stop(), swept at the end. */
	bool spares; /* other runs that commands have started */
	struct tree_asked asked;
	size_t reaped; /* orphans since the last look */
	struct local_tree rest;
	void (*swept)(void *data);
	void *swept_data;
};

void local_trees_init(
	struct local_trees *s, struct loop *l, bool whole, struct str run_mark, uint64_t grace_ms);
void local_trees_done(struct local_trees *s);
/* Its first process is running: orphans of it will be reaped. */
void local_trees_began(struct local_trees *s);
/* What has been asked already does not get more than that either. */
void local_trees_set_grace(struct local_trees *s, uint64_t grace_ms);
/* Also what ended commands have left behind is asked to end. */
void local_trees_stop(struct local_trees *s);
/* Calls `done` from the loop when no process of the run is left. A second call only hurries. */
void local_trees_sweep(struct local_trees *s, bool at_once, void (*done)(void *data), void *data);

/* `gone` is called when no process of it is left. */
void local_tree_stop(struct local_trees *s, struct local_tree *t);
void local_tree_kill(struct local_trees *s, struct local_tree *t);
/* Its first process has exited. Whether it ends by itself; otherwise `gone` says when it is over.
 */
bool local_tree_exited(struct local_trees *s, struct local_tree *t);
