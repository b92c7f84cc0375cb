#pragma once

#include <sys/types.h>

#include "base/buf.h"
#include "base/str.h"

/* Process trees: a command's process group and every descendant that left it. Processes are found
 * by looking at /proc; a descendant that was orphaned is ours because we are its subreaper, and is
 * distinguished from others by a mark that every command has in its environment. */

/* The variable that carries the mark. */
#define TREE_VARIABLE "ROUX_TREE"

/* A look at all descendants of this process. */
struct tree_scan;

/* NULL when there is no /proc to look at. */
struct tree_scan *tree_scan_new(void);
void tree_scan_free(struct tree_scan *scan);
/* Leaves out the supervisors of other runs that descendants have started, with all that is theirs.
 */
void tree_scan_spare_runs(struct tree_scan *scan);
/* Leaves out a process with all that descends from it. */
void tree_scan_spare(struct tree_scan *scan, pid_t pid);
/* Leaves out what holds workers on other machines. */
void tree_scan_spare_holders(struct tree_scan *scan);

/* The tree of a command. */
struct tree {
	pid_t pid;       /* of the command: its group, its session and their descendants; 0: none */
	struct str mark; /* in the environment of those that left; empty: none */
	/* An orphan that threw its environment away has no mark. When only one command was running
	 * it must be that one's: it counts if it began after this moment of clock_boot_ms(). 0:
	 * not.
	 */
	uint64_t adopt_since_ms;
};

/* Who has been asked to end: each process is asked once, since to many programs a second request
 * means something else. Zeroed at first. */
struct tree_asked {
	struct tree_process *at;
	size_t len, cap;
};
void tree_asked_done(struct tree_asked *asked);

/* A tree; NULL means every descendant of this process. Each returns how many processes there are,
 * zombies left out. */
size_t tree_count(struct tree_scan *scan, const struct tree *tree);
size_t tree_kill(struct tree_scan *scan, const struct tree *tree);
/* Sends SIGTERM, and SIGCONT for those that are stopped, to everyone who has not been asked before.
 * What a supervisor among them has started is left to it. */
size_t tree_ask(struct tree_scan *scan, const struct tree *tree, struct tree_asked *asked);

/* Reaps children that are not ours to watch: orphans that were handed to us. `known` says whether a
 * pid is a command that is watched elsewhere. Returns how many were reaped. */
size_t tree_reap(bool (*known)(void *data, pid_t pid), void *data);

/* Whether a process has the mark in its environment. */
bool tree_marked(pid_t pid, struct str mark);
/* The marks of the nearest process above that has some, for one that has none: its environment was
 * made anew. Empty: it was not started by a command of a run. */
void tree_marks_above(struct buf *ret);

/* Whether this process has children, dead or alive. */
bool tree_has_children(void);

/* Makes orphans of our commands our children. */
bool tree_become_subreaper(void);
