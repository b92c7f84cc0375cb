#pragma once

#include <signal.h>
#include <sys/resource.h>

#include "base/list.h"
#include "base/report.h"
#include "graph/event.h"
#include "graph/plan.h"
#include "loop/loop.h"
#include "roux/roux.h"

/* What stands behind the public types, for the hosts that live in this house. */

struct bundle;
struct record;
struct steps_run;
struct launch;
struct mask;

struct roux {
	struct loop *loop;
	char *cwd;        /* NULL: the process's */
	struct list runs; /* live ones */
	unsigned jobs;
	bool subreaper;
	struct report report; /* of the last call */
	struct buf json, text;
	/* Only for a host that is the whole process: */
	const sigset_t *child_mask;
	const struct rlimit *child_nofile;
	bool own_process;
};

struct roux_recipe {
	struct graph *graph;
};

struct roux_plan {
	struct roux *roux;
	struct plan *plan;
	struct buf json;
};

enum { DEFAULT_JOBS = 64, DEFAULT_GRACE_MS = 5000 };

/* How a host of this house starts a run: the public way and what it leaves out. */
struct start_options {
	struct roux_start base;
	bool grace_given; /* base.grace_ms counts even when it is 0 */
	const char *const *env;
	const struct bundle *bundle; /* of a recipe: what prompts are told; may be NULL */
	json_t *artifacts;           /* of a recipe: name → path; a reference is taken */
	event_fn *listen;            /* every event, as it is */
	void *listen_data;
	bool tell_output;
	struct steps_run *steps;     /* of a step recipe */
	const struct launch *launch; /* of a recorded run: which values are secret */
	const struct mask *mask;     /* … and their texts; NULL: none */
	bool terminal;               /* the commands get the terminal */
	struct record *record;       /* writes it down; NULL: nobody does */
	struct str only;             /* the path of the one node to run; empty: all */
};

struct roux_run *start_run(struct roux *r, struct plan *p, const struct start_options *o);
/* The signal goes into the record. */
void cancel_run(struct roux_run *run, int signal);
void kill_run(struct roux_run *run, int signal);
