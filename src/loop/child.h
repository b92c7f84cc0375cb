#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/str.h"
#include "loop/loop.h"

/* How to start a process. */
struct child_spec {
	const char *program; /* a path: PATH has been searched */
	const char *const *argv;
	const char *const *envp;
	int in, out, err;            /* become 0, 1, 2; stay the caller's */
	const char *cwd;             /* NULL: the caller's */
	const sigset_t *mask;        /* signals blocked in it */
	const struct rlimit *nofile; /* its limit of descriptors; NULL: the caller's */
	bool foreground;             /* it stays in the caller's process group */
	bool reset_handlers;         /* the caller may have signal handlers */
	const int *sandbox;          /* of sandbox_open(); NULL: it may do what the caller may */
	bool portable;           /* posix_spawn, as where the kernel refuses clone with a pidfd */
	struct child_note *note; /* NULL: none */
};

/* How many bytes `before` and `after` of a note may have together: the child has no memory but its
 * small stack. */
enum { CHILD_NOTE_TEXT = 960 };

/* A line that says who it is, written by the child the moment before it executes: `before`, "pid"
 * and "st" (its start time in ticks) as members of a JSON object, `after`. */
struct child_note {
	int fd;
	struct str before, after;
	bool durable; /* it is on the disk before the program begins */
	bool failed;  /* it could not be written, so nothing was executed */
};

/* A process in a group of its own, whose pid is the group's. It dies when its parent does. */
struct child {
	pid_t pid; /* 0: never started */
	int pidfd; /* -1: ended and reaped */
	int code;  /* of an exit, when signal is 0 */
	int signal;
	struct rusage usage; /* once it has ended */
	struct watch watch;
	void (*exited)(struct child *c); /* set by the owner; called from the loop */
};

/* -errno of the start, of the chdir or of the exec. */
int child_spawn(struct loop *l, struct child *c, const struct child_spec *spec);

static inline bool child_running(const struct child *c)
{
	return c->pidfd >= 0 && c->pid > 0;
}

/* The process alone, never a stranger that got its number. */
void child_signal(struct child *c, int signal);
/* Forgets it without waiting: it stays a zombie until tree_reap() or the end of this process. */
void child_done(struct child *c);
