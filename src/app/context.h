#pragma once

#include <signal.h>
#include <sys/resource.h>

#include "app/settings.h"
#include "base/list.h"
#include "base/report.h"
#include "graph/event.h"
#include "graph/plan.h"
#include "loop/loop.h"
#include "recipe/dirs.h"
#include "roux/roux.h"

/* What stands behind the public types, for the hosts that live in this house. */

struct bundle;
struct record;
struct recipe;
struct steps_run;
struct launch;
struct mask;

struct roux {
	unsigned references; /* the caller's, and one of each plan and run */
	struct loop *loop;
	struct list runs;  /* live ones */
	struct list ended; /* … whose end has not been dealt with */
	unsigned jobs;
	bool subreaper;
	bool closed;           /* the caller has freed it */
	struct embed_hub *hub; /* of its recorded runs; NULL: there were none */
	struct report report;  /* of the last call */
	struct buf json, text, answer;
	/* Where things are (context_places()): */
	struct arena arena;
	struct str cwd;                                /* absolute; empty: there was none */
	struct str agent_dir, packaged_dir, state_dir; /* as given; empty: as usual */
	struct recipe_dirs dirs;
	struct str root;              /* the state root; empty: not looked for yet */
	const char *const *variables; /* for those who look for the same places: NAME=VALUE */
	/* Of the settings (context_settings()): */
	bool settled, jobs_given;
	uint64_t grace_ms, max_parallel;
	bool durable, usage_in_file;
	json_t *collections;
	/* Only for a host that is the whole process: */
	const sigset_t *child_mask;
	const struct rlimit *child_nofile;
	bool own_process;
};

struct roux *roux_ref(struct roux *r);
void roux_unref(struct roux *r);
/* Looks for the places once. */
void context_places(struct roux *r);
/* Reads the settings once. False with issues in the report. */
bool context_settings(struct roux *r);

/* Shared by its caller and the plans made from it. */
struct roux_recipe {
	unsigned references;
	struct graph *graph;
	struct recipe *recipe; /* NULL: a template */
};

struct roux_recipe *recipe_share(struct roux_recipe *recipe);

struct roux_plan {
	struct roux *roux;
	struct roux_recipe *recipe; /* of a step recipe: read again with the values */
	json_t *values;             /* as given: an object */
	/* What is shown, where values that only a recorded run has stand for themselves. */
	struct plan *plan;
	struct plan *bare; /* without those; NULL: not made yet */
	struct buf json;
};

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
