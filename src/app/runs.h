#pragma once

#include "app/app.h"
#include "base/run-order.h"
#include "data/json.h"

/* Runs: starting, continuing and doing them again, looking at them, ending them. One handle stands
 * for a run, whether it lives in this process, under a supervisor of its own, or has ended. */

struct event;
struct recipe_ref;
struct run_handle;

/* -- watching ------------------------------------------------------------------------------------
 */

/* Calls that report what happens in a run, made from the loop. Those that are NULL are left out.
 * The struct is copied; `data` is borrowed until the handle is closed. */
struct observer {
	/* Every event of a run that lives in this process, as it happens and before anything comes
	 * of it; what commands print among them when `output` says so. Secrets are masked. */
	void (*event)(void *data, const struct event *e);
	bool output;
	bool errors; /* … at least what they print to standard error */
	/* One event as a line of JSON without its end: of any run, from number `from_seq` on, the
	 * past ones too as far as they are written down. Of a run here, the observer of a request
	 * hears what this execution does; one that comes later to a run that is not recorded hears
	 * what follows. */
	void (*line)(void *data, uint64_t seq, const char *type, struct str json);
	uint64_t from_seq;
	/* A file of the directory of a run elsewhere has changed: its logs may have grown. */
	void (*changed)(void *data);
	/* All has been told, and the run has ended. */
	void (*ended)(void *data);
	/* A run elsewhere cannot be looked at now; it will be looked at again. run_wait() says why.
	 */
	void (*unseen)(void *data);
	void *data;
};

/* -- starting ------------------------------------------------------------------------------------
 */

#define REQUEST_UNSET UINT64_MAX

enum request_detach {
	DETACH_AS_RECIPE, /* a recipe may say that it is async */
	DETACH_NEVER,
	DETACH_ALWAYS,
};

/* What a host asks for when it starts, continues or repeats a run. A zeroed one with REQUEST_INIT
 * asks for nothing special. Everything is borrowed for the call. */
struct request {
	bool record;       /* ledger and directory, as `roux run`; else as `roux exec` */
	const char *as;    /* the run's name; NULL: one is made */
	const char *name;  /* what a made name begins with; NULL: the recipe's id, or "run" */
	const char *owner; /* NULL: the app's */
	const char *how;   /* "direct", "library", "prompt": kept in the record */
	enum request_detach detach;
	bool durable, stream;
	bool notify; /* of a recorded one: hosts that tell people of ends hear of its own:
			notices_each() */
	bool fresh;  /* a made name of its own also when it is detached */
	bool bare;   /* its commands get only the variables of a bare environment (environ_bare()),
			not all that this process has; for detached runs */
	const char *on; /* where its commands run: an executor, or with a class behind a colon;
			   NULL: as the settings say, or the run before */
	bool careful;   /* a command that is in doubt is not run again: the run stops */
	/* Its commands write only below the working directory, the run's own and those for
	 * temporary files; with `offline` they have no TCP either. The kernel sees to it, and where
	 * it cannot nothing is started. Kept for what continues or repeats
	 * it. */
	bool sandbox, offline;
	const char *
		task; /* by which a client of a protocol knows it: kept in the record; NULL: none */
	bool model;   /* the values come from a model, which may give declared arguments only */
	bool terminal; /* its one command gets the terminal whole */
	uint64_t jobs; /* REQUEST_UNSET, as grace_ms: as the settings say, or the run before */
	uint64_t grace_ms;
	uint64_t max_parallel; /* 0: likewise */
	json_t *env;           /* array of NAME=VALUE; NULL, as all below: none */
	json_t *secrets;       /* array of names whose values are shown nowhere */
	json_t *secret_env;    /* array of names whose values are not even written down */
	json_t *secret_vars;   /* name → variable, of those whose variable has another name */
	/* Texts of JSON files that are shown nowhere either, though the run is not given them:
	 * array of {"file": absolute path, "member": name}. They are looked up when they are
	 * needed and not written down. */
	json_t *secret_files;
	json_t *agents;                /* name → command, for agent steps */
	json_t *collections;           /* name → directory */
	json_t *artifacts;             /* name → path: in place of the recipe's own */
	json_t *argv;                  /* for people who look at the record */
	const struct report *warnings; /* in place of those about the template; NULL: those */
	int stdin_fd;                  /* -1: empty; not closed */
	struct str input; /* what a detached run reads as its standard input; empty: nothing. Step
			     recipes read none */
	int stdout_fd;    /* gets the output when a run here has ended; -1: nothing does */
	/* Our end of a pipe, which does not block, and through which run_output_write() will go: a
	 * run here is cancelled, as by SIGPIPE, when its reader has gone. -1: there is none. With
	 * `pipe_prints` much output goes there as it comes. It must stay open until run_close(). */
	int pipe_fd;
	bool pipe_prints;
	struct observer observer;
};

#define REQUEST_INIT                        \
	((struct request){ .how = "direct", \
		.jobs = REQUEST_UNSET,      \
		.grace_ms = REQUEST_UNSET,  \
		.stdin_fd = -1,             \
		.stdout_fd = -1,            \
		.pipe_fd = -1 })

/* Starts it, here or under a supervisor. The caller ends every handle of this page with
 * run_close(). NULL with issues: every mistake is found before anything has been made. */
struct run_handle *runs_start(
	struct app *a, struct recipe_ref *ref, const struct request *q, struct report *r);

/* What is worth saying before a run is continued. */
enum resume_note {
	RESUME_ENDED_PROCESSES, /* `count` that the run had left behind */
	RESUME_SOURCE_CHANGED,  /* the file `text`; the run is continued or repeated as it was */
	RESUME_WAS_RUNNING,     /* the node `text` runs again: it ran when the run was cut short */
	RESUME_WAS_ENDED,       /* the node `text` runs again: the run was ended while it ran */
	RESUME_LOST,   /* the node `text` runs again: it had ended, but what it printed is gone and
			* needed. Always worth saying */
	RESUME_UNKEPT, /* the node `text` runs again: it had ended, but what it printed could not be
			* kept. Always worth saying */
	RESUME_UNRECORDED,     /* the node `text` runs again: it had run, but its record is lost.
				* Always worth saying */
	RESUME_ROUNDS,         /* the loop `text` runs again from its first round: what its rounds
				* have come to is not kept. Always worth saying */
	RESUME_FAILED_EARLIER, /* the node `text`, its path with label and item, runs again: it
				  failed, with exit code `count` or at its RESUME_TIME_LIMIT */
	RESUME_WATCHES_HOST,   /* it is looked at, for a minute, whether the run has a driver on the
				* host `text` */
	RESUME_INPUT_PART,     /* a command that runs again reads a standard input of which only
				* `count` bytes are kept: no command read more. Always worth
				* saying */
	RESUME_REUSED,         /* `count` commands of the run `text` are not executed again */
};
#define RESUME_TIME_LIMIT SIZE_MAX
/* Why a node runs again, in the words of plans; of RESUME_ROUNDS it is about a loop. Empty: the
 * note is about something else, or has words of its own. */
const char *resume_reason(enum resume_note note);

struct resume_request {
	struct request request; /* only what is to be different now */
	json_t *values;         /* win over the old ones; NULL: none */
	bool stop_in_doubt;     /* do not run commands again: those that were running, or whose
				 * output or record is gone */
	bool stay;              /* work where this process is, not where the run was started */
	void (*note)(void *data, enum resume_note note, struct str text, size_t count);
	void *data;
};

/* Continues a run that was cut short or failed. One that has come to its end is opened, and
 * *ret_over says so. */
struct run_handle *runs_resume(struct app *a, const char *name, const struct resume_request *q,
	bool *ret_over, struct report *r);

struct rerun_request {
	struct request request;
	json_t *values;
	const char *from; /* a node's path or label, with what follows it */
	bool only;        /* nothing but that node */
	bool all; /* the whole; else, without `from`, what failed and what was not reached */
	bool stay;
	void (*note)(void *data, enum resume_note note, struct str text, size_t count);
	void *data;
};

/* Does it, or a part of it, again as a new run. */
struct run_handle *runs_rerun(
	struct app *a, const char *name, const struct rerun_request *q, struct report *r);

/* What would become of one command of an ended run. */
enum planned_fate {
	PLANNED_RUN,    /* executed, for the first time */
	PLANNED_AGAIN,  /* executed again */
	PLANNED_REUSED, /* not executed: its recorded end and output stand */
};

/* Borrowed during the call. */
struct planned_again {
	struct str path, label, note;
	bool gate, agent;
	bool asked; /* of a gate and a resume: the run has asked there, and continues there */
	const char *const *argv; /* NULL: only a note, or it is reused */
	size_t argc;
	struct str cwd, when;
	uint64_t timeout_ms;
	enum planned_fate fate;
	/* "succeeded earlier", "failed earlier: exit 1", "not reached before"; of a gate also
	 * "approved earlier". */
	struct str why;
};

/* False: enough. */
typedef bool planned_again_fn(void *data, const struct planned_again *what);

/* What runs_rerun() would do, or runs_resume(): first what would run, then what would be reused.
 * Nothing is started and nothing is written. What hangs on output that is not there yet stays as it
 * is written. False with issues. */
bool runs_plan_again(struct app *a, const char *name, const struct rerun_request *q, bool resume,
	planned_again_fn *fn, void *data, struct report *r);

/* -- one run -------------------------------------------------------------------------------------
 */

/* A recorded run by its name, whichever process started it: ID, ID~N (the Nth generation of that id
 * before the current one), latest, latest:RECIPE, the beginning of an id, each with or without
 * `run:` before it. NULL with issues. */
struct run_handle *runs_open(struct app *a, const char *name, struct report *r);
/* One that lives in this process is cancelled and waited for first; others continue. */
void run_close(struct run_handle *h);

/* Its place in the list: run_filter.before. 0: it has none. */
uint64_t run_cursor(const struct run_handle *h);

/* Any number of observers; each hears of the run from the loop. -errno: it does not. */
int run_observe(struct run_handle *h, const struct observer *o);
/* Says so. False. */
bool run_unobserved(const struct run_handle *h, int error, struct report *r);

/* Its id; empty when it is not recorded. Its directory, likewise. Borrowed. */
struct str run_id(const struct run_handle *h);
struct str run_dir(const struct run_handle *h);
/* ROUX_RUNNING until a turn of the loop has found its end. */
enum roux_status run_status(const struct run_handle *h);
/* As its record has it: "starting" before it is running. */
struct str run_status_word(const struct run_handle *h);
/* Whether its supervisor has the run: detached from this process. */
bool run_detached(const struct run_handle *h);

/* Ends it: politely, after what runs now, or at once. Returns when the order is given;
 * `grace_ms` < 0: the run's own. False with an issue: it has ended, for example. */
bool run_order(struct run_handle *h, enum run_order order, int grace_ms, struct report *r);
/* The same, and returns when nothing is left of it. */
bool run_end(struct run_handle *h, enum run_order order, int grace_ms, struct report *r);
/* Holds the commands of a run here (Ctrl-Z), or lets them continue. */
void run_hold(struct run_handle *h, bool on);
/* Turns the loop until it has ended and its name is free. False with an issue: it is gone. */
bool run_wait(struct run_handle *h, struct report *r);

/* By which a client of a protocol knows it: request.task, in `b`; nothing: none does. */
void run_task(struct run_handle *h, struct buf *b);

/* Documents for programs; new references. */
json_t *run_status_document(struct run_handle *h);
json_t *run_started_document(const struct run_handle *h); /* of a detached start */
/* The values that it was started with, secrets masked: an object. */
json_t *run_values_document(struct run_handle *h, struct report *r);
/* Of an ended run; from its record also with what only that keeps: when it ended, the manifest of
 * its artifacts. NULL with an issue: its output cannot be read, for example. */
json_t *run_result_document(struct run_handle *h, struct report *r);
/* The same written to `fd` in pieces, with a newline, so that a hundred thousand branches need no
 * memory. *ret is the status that it names: failed when the output could not be kept. -errno. */
int run_result_write(struct run_handle *h, int fd, enum roux_status *ret);
/* The same into `b`. -errno. */
int run_result_text(struct run_handle *h, struct buf *b);
/* Whether the run was deleted since it was looked at, or its name has another one by now: what is
 * not there then is not lost. */
bool run_is_replaced(struct run_handle *h);
/* What of the result a person is shown: "status", "error", "failures" (each with "stderr"
 * and "stdout"), "failures_total", "pending_approval", "answered"; "failed_node": the path
 * of what failed it, or null; "recipe_path", if it has one; "mistake": the
 * place in the recipe, if that ended it; "failed", "tolerated": how many commands ended it as
 * failures; "exit": what a command that waits for it ends with, as far as its options say nothing
 * else. */
json_t *run_summary(struct run_handle *h);
/* Warnings and mistakes that turned up while it ran here; NULL: none. Borrowed, for the
 * host to word. */
struct report *run_issues(const struct run_handle *h);

/* The primary output, byte for byte; nothing when the run failed. -errno. */
int run_output_write(struct run_handle *h, int fd);
/* Whether that is empty or ends with a newline. */
bool run_output_ends_line(struct run_handle *h);
/* What could not be written down of the end of a run here; NULL: all was. Without errors its files
 * are complete and the ledger alone lacks it. Borrowed, for the host to word. */
struct report *run_record_issues(struct run_handle *h);
/* The signal that ended a run here; 0: none. */
int run_signal(const struct run_handle *h);

/* Whether a word that may also name a recipe or be a template means a run: any name of one with
 * `run:` before it; without, latest, ID or ID~N of one that is there when no recipe has that
 * name. */
bool runs_names(struct app *a, const char *word);

/* -- all runs ------------------------------------------------------------------------------------
 */

/* One run as a list shows it. Borrowed during the call; times are milliseconds since 1970. */
struct run_entry {
	struct str id, recipe, status, owner;
	struct str launch; /* request.how of its start */
	uint64_t started, ended, ms;
	bool detached;
	/* Commands that ended as failures, those that were not to fail and those whose author asked
	 * to continue; of a run under way, so far. */
	uint64_t failed, tolerated;
	int exit; /* what `run` ended with; -1: it has not ended */
	uint64_t
		cursor; /* for run_filter.before: the page behind this one; 0: there is no ledger */
};
/* False: enough. */
typedef bool run_fn(void *data, const struct run_entry *e);

/* Zeroed: all. */
struct run_filter {
	struct str owner;  /* of that session */
	struct str status; /* that have one of these now: names with commas between them */
	struct str recipe; /* of the recipe with this id */
	struct str prefix; /* whose id begins so, … */
	struct str match;  /* … or has this in it */
	struct str any;    /* whose id or recipe has this in it */
	int detached;      /* 1: only detached ones, -1: only others */
	uint64_t since_ms; /* started then or later, … */
	uint64_t until_ms; /* … or earlier; 0: no limit */
	size_t limit;      /* how many at most */
	uint64_t before;   /* the page behind the entry with this cursor */
	bool failures;     /* in which a command failed or time ran out */
	bool generations;  /* the earlier ones of each id too, as ID~1 */
};

/* Newest first. `restart` is called when the ledger turns out to be broken and everything is
 * reported again from the directories. NULL filter: all. */
void runs_each(struct app *a, const struct run_filter *f, run_fn *see, void (*restart)(void *data),
	void *data, struct report *r);

/* How many runs have each status, earlier generations not counted. False with an issue: there is no
 * ledger to ask. The numbers are kept until the ledger changes. */
struct runs_counted {
	uint64_t by_status[ROUX_REFUSED + 1];
	uint64_t all;
};
bool runs_count(struct app *a, struct runs_counted *ret, struct report *r);
/* False with an issue: another process has the ledger locked for longer than this host waits.
 * Without a ledger, or with a damaged one, the directories are listed. */
bool runs_can_be_listed(struct app *a, struct report *r);
/* Changes when another process has changed the list; 0: there is no ledger. */
uint64_t runs_version(struct app *a);

/* The same as a document, with a newline: ten thousand runs take a few milliseconds. */
void runs_list_document(struct app *a, const struct run_filter *f, struct buf *b, struct report *r);

/* Makes the ledger anew from the run directories. */
struct runs_rebuilt {
	size_t runs, skipped;
};
bool runs_rebuild(struct app *a, struct runs_rebuilt *ret, struct report *r);

/* -- ends that were asked for --------------------------------------------------------------------
 */

/* The runs that were started with `notify` and about which no host has told anything yet, in no
 * order. `see` may not change them. A host that has told of one, or will never, ends its notice. */
bool notices_each(
	struct app *a, bool (*see)(void *data, struct str run), void *data, struct report *r);
void notice_end(struct app *a, struct str run);

/* -- ended runs ----------------------------------------------------------------------------------
 */

/* Moves an ended run out of the list. *ret_path is where it is now, in the handle. */
bool run_archive(struct run_handle *h, struct str *ret_path, struct report *r);
/* Deletes it. With `preserve` *ret_preserved is name → where the copy of the artifact is, to be
 * shown, a new reference; without, it may be NULL. */
bool run_prune(struct run_handle *h, bool preserve, json_t **ret_preserved, struct report *r);

/* Which runs to delete, each generation counted as one. Zeroed: what is past the limits in
 * [retention] of the settings. Runs with failures are spared unless `status` names them. */
struct prune_selection {
	uint64_t older_ms; /* ended at least that long ago; 0: whenever */
	struct str status; /* with one of these: names with commas between them. "failed" also
			      means what is done or partial with failures. Empty: done, partial,
			      cancelled */
};
/* `see` hears of what is selected; with `yes` it is deleted. */
struct runs_due {
	bool limited; /* something was selected by, or the settings have a limit */
	size_t deleted;
	struct str settings_path; /* in the app */
};
bool runs_prune_due(struct app *a, const struct prune_selection *which, bool yes, run_fn *see,
	void *data, struct runs_due *ret, struct report *r);

/* -- the whole process ---------------------------------------------------------------------------
 */

/* For a host that is the whole process (app_options.own_process), before it starts a run here:
 * signals of other processes become orders. INT, TERM and HUP cancel, the second one and QUIT kill;
 * `came` hears of every signal first and returns true when it has dealt with it; may be NULL.
 * -errno. */
int app_take_signals(struct app *a, bool (*came)(void *data, int signal), void *data);
/* Orders that come later are ignored. */
void app_drop_signals(struct app *a);

/* What `roux supervise DIR [HOW]` does: runs what a detached start has prepared, in the process
 * that the start has made for it. Returns the exit status. */
int app_supervise(struct app *a, const char *dir, const char *how);
