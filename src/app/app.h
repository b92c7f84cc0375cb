#pragma once

#include "base/report.h"
#include "loop/loop.h"
#include "roux/roux.h"

/* The face of roux: all that a host may include is here and beside it in app/. A host is a protocol
 * and calls of these functions; what they answer is data, and the host words it.
 *
 * A call that can fail takes a report and returns NULL or false with issues in it. An issue of kind
 * ISSUE_REFUSED says that the request was right and the state of a run forbids it; answers.h makes
 * documents from a report. */

/* One host: where things are, what the settings say, its ledger, who asks, its loop. Everything is
 * found or read once, when it is first asked for. Strings and settings that are returned are
 * borrowed: they live until app_close(). */
struct app;
struct settings;

struct app_options {
	const char *cwd;       /* the working directory of runs, to which paths are relative; NULL:
				  that of the process */
	const char *agent_dir; /* NULL, as the next two: the usual places */
	const char *packaged_dir;
	const char *state_dir;    /* NULL: in agent_dir, when that is given */
	const char *owner;        /* the session that asks; NULL: $ROUX_OWNER, "": the operator */
	unsigned jobs;            /* commands of a run at once; 0: as the settings say */
	unsigned ledger_wait_ms;  /* how long another process may have the ledger locked; 0: a
				     minute. A host that serves others waits less. */
	unsigned directories_max; /* how many runs are listed when there is no ledger, the newest;
				     0: all */
	bool own_process;         /* the process is this host's alone: runs here take orders as
				     signals, and commands work where the process is */
	bool is_roux;             /* this program is roux: it can supervise runs itself */
	bool subreaper;           /* may become the parent of orphans, so that no process is lost */
};

/* NULL options: all defaults. */
struct app *app_open(const struct app_options *given);
/* Cancels and waits for runs that live in this process; others continue. Handles may be closed
 * before or after. */
void app_close(struct app *a);

/* Made when it is first asked for; NULL, with errno, when the kernel has no descriptors left. */
struct loop *app_loop(struct app *a);
/* Turns the loop once, at most `timeout_ms` (-1: for ever). Returns how many runs of this app are
 * live, or -errno. */
int app_turn(struct app *a, int timeout_ms);

/* What the user's config.toml says; NULL with issues added: it has a mistake. */
const struct settings *app_settings(struct app *a, struct report *r);

/* Absolute paths: the directory of the user's agent, the state root, where the host works. */
struct str app_agent_dir(struct app *a);
struct str app_state_root(struct app *a);
struct str app_cwd(const struct app *a);
/* The session that asks; empty: the operator. */
struct str app_owner(const struct app *a);
