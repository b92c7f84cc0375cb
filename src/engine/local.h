#pragma once

#include <signal.h>
#include <sys/resource.h>

#include "engine/executor.h"

/* Local processes. */
struct local_options {
	const char *cwd; /* NULL: the process's */
	const char *const
		*env; /* NAME=VALUE, added to or replacing ours; NULL-terminated; may be NULL */
	uint64_t grace_ms;           /* between asking and killing */
	const sigset_t *mask;        /* signals blocked in commands; NULL: the thread's own now */
	const struct rlimit *nofile; /* their limit of descriptors; NULL: ours */
	bool handlers;               /* this process may have signal handlers */
	bool whole;                  /* every descendant of this process belongs to the run */
	struct store *store;
};

struct executor *local_executor(struct loop *l, const struct local_options *o);
