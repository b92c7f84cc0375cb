#pragma once

#include <signal.h>
#include <sys/resource.h>

#include "app/app.h"
#include "app/settings.h"
#include "base/list.h"
#include "recipe/dirs.h"
#include "runs/ledger/ledger.h"

/* What stands behind `struct app`, for the rooms of app. */

/* How commands are started from this process. */
struct manners {
	bool own_process, subreaper, is_roux;
	bool alone; /* it had no children when it began: all that it has come from its commands */
	const sigset_t *mask;        /* the signal mask of commands; NULL: ours */
	const struct rlimit *nofile; /* their limit of descriptors; NULL: ours */
};

struct hub;
struct look_kept;
struct process;

struct app {
	unsigned references; /* the caller's, and one of each plan and run */
	struct arena arena;
	struct str cwd;                                /* absolute; empty: there was none */
	struct str agent_dir, packaged_dir, state_dir; /* as given; empty: as usual */
	struct str owner;
	unsigned jobs; /* as given; 0: as the settings say */
	struct manners manners;
	struct loop *loop; /* NULL: not asked for yet */
	struct list runs;  /* live ones */
	struct list ended; /* whose end has not been dealt with */
	struct hub *hub;   /* of recorded runs in a host's process; NULL: there were none */
	void (*hub_free)(struct hub *hub);
	/* Of handle.c, once there is a run: ends or leaves the live ones; deals with ends. */
	void (*leave_runs)(struct app *a);
	void (*rest_runs)(struct app *a);
	struct process *process; /* whose signals it takes; NULL: none are taken */
	bool closed;             /* the caller has closed it */
	/* Found once, when they are first asked for. */
	struct recipe_dirs dirs;
	struct str root;              /* the state root; empty: not looked for yet */
	const char *const *variables; /* NAME=VALUE: programs that a run starts, roux among them,
					 find the same places by these */
	/* Read once: app_settings(). */
	struct settings settings;
	bool settled;
	/* Opened once: app_ledger(). */
	struct ledger *ledger;
	bool looked_for_ledger;
	unsigned ledger_wait_ms;  /* as given; 0: as usual */
	unsigned directories_max; /* as given; 0: all */
	uint64_t ledger_held_ms;  /* when that was waited for in vain; 0: never */
	struct look_kept *kept;   /* of a host that looks at runs again and again; NULL */
};

struct app *app_ref(struct app *a);
void app_unref(struct app *a);

const struct recipe_dirs *app_dirs(struct app *a);
/* The ledger, when there is one. NULL otherwise; one that cannot be used is a warning, because the
 * run directories say enough. Borrowed. */
struct ledger *app_ledger(struct app *a, struct report *r);
/* The same to change it: one that cannot be used is an error. */
struct ledger *app_ledger_to_change(struct app *a, struct report *r);
/* The same, made when there is none: for what must be written. NULL with an issue. */
struct ledger *app_make_ledger(struct app *a, struct report *r);
/* Runs are kept below the home directory unless a place is given: false with an issue when there is
 * none. */
bool app_may_record(struct app *a, struct report *r);
/* The same of the user's recipes. */
bool app_may_keep_recipes(struct app *a, struct report *r);
/* False with a refusal when another user owns the state root or can write to it: such a user could
 * put runs of theirs in the place of ours. A missing one is fine. */
bool app_root_is_ours(struct app *a, struct report *r);
/* Adds the issues of a ledger as warnings: the directories can be read without it. */
void app_warn(const struct report *issues, struct report *r);
/* It broke while it was read: from now on the directories are looked at. */
void app_drop_ledger(struct app *a);
/* Its collections as name → directory: a new reference, NULL when there are none. `a` has read its
 * settings. */
json_t *app_collections(const struct app *a);
