#pragma once

#include "engine/executor.h"
#include "remote/left.h"

/* The executor whose commands run in allocations of a batch system (docs/cluster.md). It asks for
 * allocations, hands commands to the workers in them and accepts what they say; the batch system's
 * own word is a hint. */

/* A command that an earlier driver of the run has handed to a worker and whose end is not recorded.
 */
struct remote_grant {
	struct str path;
	uint64_t number; /* as struct leaf_key has it */
	uint64_t worker, n;
};

/* Borrowed for the call, unless it is said otherwise. */
struct remote_options {
	struct loop *loop;
	struct table *table;   /* taken */
	struct executor *here; /* of this machine, closed later than this one; NULL: none */
	struct str class; /* the default of its commands; empty: the executor's own allocation */
	struct str run, generation;
	struct str run_dir;   /* absolute */
	struct str state_dir; /* where a copy of this program is kept */
	struct str cwd;       /* absolute */
	uint64_t grace_ms;
	uint64_t jobs; /* at once, when the user has said so; 0: as many as there are slots */
	bool durable;
	bool careful;           /* a command that is lost, and thereby in doubt, is not run again */
	const char *const *env; /* of all commands, beside that of this process; may be NULL */
	const char *const *hidden; /* names of variables that are not written down; may be NULL */
	/* Of a run that is continued. */
	bool resumed;
	bool stops_left; /* nor is one that was lost before */
	const struct remote_grant *grants;
	size_t grant_count;
	uint64_t last_worker; /* the highest number of one: none is used twice */
	/* Another driver has taken the run over: nothing may be written any more. */
	void (*superseded)(void *data);
	void *data;
};

/* NULL with issues. */
struct executor *remote_executor(const struct remote_options *o, struct report *r);

/* Ends the jobs that a dead driver has left: returns when nothing of them is left, neither in the
 * batch system nor on a node. What workers have recorded stays for a driver that continues the run.
 * `o` is as for remote_executor(), of a run that is continued. False with issues. */
bool remote_end(const struct remote_options *o, bool at_once, struct report *r);
