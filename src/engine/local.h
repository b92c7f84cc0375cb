#pragma once

#include <signal.h>
#include <sys/resource.h>

#include "engine/executor.h"

/* What commands find around them. Borrowed as long as the executor lives. */
struct surroundings {
	const char *cwd; /* NULL: the process's */
	const char *const
		*env; /* NAME=VALUE, added to or replacing ours; NULL-terminated; may be NULL */
	const sigset_t *mask;        /* signals blocked in commands; NULL: the thread's own now */
	const struct rlimit *nofile; /* their limit of descriptors; NULL: ours */
	const int *sandbox;          /* of sandbox_open(); NULL: none */
	bool bare;                   /* `env` is all of it, and nothing of ours is added */
	bool handlers;               /* this process may have signal handlers */
	bool whole;                  /* every descendant of this process belongs to the run */
	uint64_t grace_ms;           /* between asking and killing */
};

/* The executor for processes of this machine. It has always room, and nothing to adopt: its
 * commands end with this process. */
struct executor *local_executor(struct loop *l, const struct surroundings *s);
/* The processes of `other`, which may be NULL, are none that `e` ends or reaps; NULL again before
 * `other` is closed. */
void local_executor_spares(struct executor *e, struct executor *other);
