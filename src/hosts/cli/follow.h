#pragma once

#include "app/context.h"
#include "hosts/cli/cli.h"

/* Options of every command that works until a run has ended. */
enum progress { PROGRESS_AUTO, PROGRESS_TREE, PROGRESS_PLAIN, PROGRESS_NONE };

struct launch;
struct leaves;

struct run_opts {
	uint64_t jobs, grace_ms; /* RUN_OPT_UNSET: as the launch or the settings say */
	struct opt_list env;
	const char *events;
	bool strict, tolerate, quiet;
	unsigned progress;
};
extern const struct opt run_opts[8];
#define RUN_OPT_UNSET UINT64_MAX
#define RUN_OPTS_DEFAULTS                                        \
	{                                                        \
		.jobs = RUN_OPT_UNSET, .grace_ms = RUN_OPT_UNSET \
	}

/* What a run has beside its plan. */
struct follow_run {
	struct launch *launch; /* of a recorded run; NULL: nothing is written down */
	struct leaves *before; /* … that goes on: what it has done already; taken */
	bool terminal;         /* its one command gets the terminal whole */
	int ready;             /* told when it has begun, for whoever waits; -1: nobody does */
};

/* Runs the plan in the foreground and answers: progress on standard error, the result on standard
 * output, signals as cancel and kill. Takes the plan. Returns the exit status. */
int follow_plan(struct cli *cli, struct plan *p, const struct run_opts *o, bool json,
	bool stdin_used, const struct follow_run *run);
