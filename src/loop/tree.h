#pragma once

#include <sys/types.h>

#include "base/str.h"

/* Process trees: a command's process group and every descendant that left it. Processes are found
 * by looking at /proc; a descendant that was orphaned is ours because we are its subreaper, and is
 * told apart from others by a mark that every command has in its environment. */

/* The variable that carries the mark. */
#define TREE_VARIABLE "ROUX_TREE"

/* A look at all descendants of this process. */
struct tree_scan;

/* NULL when there is no /proc to look at. */
struct tree_scan *tree_scan_new(void);
void tree_scan_free(struct tree_scan *scan);

/* The tree of a command. */
struct tree {
	pid_t pid;       /* of the command: its group, its session and their descendants; 0: none */
	struct str mark; /* in the environment of those that left; empty: none */
	/* An orphan that threw its environment away has no mark. When only one command was running
	 * it must be that one's: it counts if it began after this moment of the boot clock. 0: not.
	 */
	uint64_t adopt_since_ms;
};

/* Sends `sig` (0: only counts) to a tree; NULL means every descendant of this process. Returns how
 * many processes there are, zombies left out. */
size_t tree_signal(struct tree_scan *scan, const struct tree *tree, int sig);
/* The clock of adopt_since_ms. */
uint64_t tree_clock_ms(void);

/* Reaps children that are not ours to watch: orphans that were handed to us. `known` says whether a
 * pid is a command that somebody watches. */
void tree_reap(bool (*known)(void *data, pid_t pid), void *data);

/* Makes orphans of our commands our children. */
bool tree_become_subreaper(void);
