#pragma once

#include "app/runs.h"
#include "hosts/cli/cli.h"

/* Options of every command that works until a run has ended. */
enum progress { PROGRESS_AUTO, PROGRESS_TREE, PROGRESS_PLAIN, PROGRESS_NONE };

struct run_opts {
	uint64_t jobs, grace_ms; /* REQUEST_UNSET: as the settings say, or the run before */
	struct opt_list env, env_files;
	const char *events;
	bool strict, tolerate, quiet, silent;
	bool stream;
	unsigned progress;
};
extern const struct opt run_opts[11];
#define RUN_OPTS_DEFAULTS                                        \
	{                                                        \
		.jobs = REQUEST_UNSET, .grace_ms = REQUEST_UNSET \
	}

/* Puts the options into a request; `env` is a new reference there. False with an issue. */
bool follow_request(struct cli *cli, const struct run_opts *o, struct request *q);

/* One command that starts a run: how, and how it is shown. */
struct follow_start {
	struct run_handle *(*start)(void *data, const struct request *q, struct report *r);
	void *data;
	bool steps;     /* a step recipe: some of its steps may stream */
	json_t *values; /* that were given: a run that is continued at a gate needs secrets again */
	bool answered;  /* out: the run was over, nothing was started */
	/* What is answered when it could not be started; the exit status, or -1: the issues of the
	 * report are. NULL: they are. */
	int (*refused)(void *data, bool json);
};

/* Starts what `how` says and, when it runs here, works until it has ended: progress on standard
 * error, the result on standard output, signals as cancel and kill. A detached one is answered with
 * its id. Returns the exit status. */
int follow(struct cli *cli, struct request *q, const struct run_opts *o, bool json,
	struct follow_start *how);
