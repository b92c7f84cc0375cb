/*
 * libroux: load, check, plan, run, observe and cancel recipes, exactly as the roux command does.
 *
 * Ownership: what a _new, _load, _start or _open returns belongs to the caller, who ends it with
 * its _free. Strings that are returned are borrowed: valid until the next call on the same object
 * or its end. Strings that are passed in are copied. They are UTF-8; values may hold any byte but
 * NUL.
 *
 * NULL: every _free accepts it. What a failed call returned may be passed on: a call that is given
 * NULL for its object does nothing and fails, and the errors of the call that failed first stay.
 *
 * Threads: a struct roux and everything made from it belong to the thread that made it, which must
 * live as long as its runs: the kernel ends a command when the thread that started it ends.
 * Contexts share nothing and may live in different threads. Only roux_wake() may be called from
 * anywhere; to cancel from another thread, leave a note for the owning thread and call roux_wake():
 * the owning thread cancels. Events arrive inside roux_turn() and roux_run_wait(); a callback may
 * cancel and kill, but neither turn nor free.
 *
 * Manners: no global state, no signal handler, no chdir, umask or setenv, nothing written to the
 * standard streams. Descriptors are close-on-exec. Out of memory aborts. The process must not
 * ignore SIGCHLD: the kernel would forget how commands ended.
 */
#ifndef ROUX_ROUX_H
#define ROUX_ROUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROUX_API 2 /* grows with every addition */
#define ROUX_EXPORT __attribute__((visibility("default")))

/* One embedder: its directories, its loop, its runs. */
struct roux;
/* A recipe or template as read, imports resolved. Immutable. */
struct roux_recipe;
/* A recipe with values, ready to run: nothing in it can be missing any more. Immutable. */
struct roux_plan;
/* One execution: in this process, or in that of a supervisor. */
struct roux_run;

/* More may be added: callers must cope with statuses that they do not know. */
enum roux_status {
	ROUX_RUNNING,
	ROUX_DONE,
	ROUX_PARTIAL,   /* a step recipe ended early, as its author wanted after a failure */
	ROUX_PAUSED,    /* a step recipe waits for an approval; nothing of it is running */
	ROUX_FAILED,    /* it failed, or the machine did */
	ROUX_DENIED,    /* an approval was denied */
	ROUX_TIMEOUT,   /* its own time limit ran out */
	ROUX_CANCELLED, /* everything it started has ended */
	ROUX_KILLED,
	ROUX_EXITED,  /* its supervisor is gone and has left no result */
	ROUX_INVALID, /* the request was wrong; nothing was started */
	ROUX_REFUSED,
};

/* Structs that the caller fills begin with their size, so that they can grow: set it to sizeof the
 * struct. Members behind it count as not given. */
struct roux_options {
	size_t size;
	const char *cwd;       /* the working directory of runs, to which paths are relative; NULL:
				  that of the process now */
	const char *agent_dir; /* NULL, as the next two: the usual places */
	const char *packaged_dir;
	const char *state_dir; /* NULL: in agent_dir, when that is given */
	unsigned jobs;         /* commands of a run at once; 0: as the settings say, else 64 */
	bool subreaper; /* may change this attribute of the whole process, so that no process is
			   lost */
};

struct roux_start {
	size_t size;
	const char *as;    /* the run's name; NULL: one is made. Needs record */
	const char *owner; /* session id; NULL: $ROUX_OWNER. Only recorded */
	bool record;       /* ledger and run directory, as `roux run`; else as `roux exec` */
	bool detach;       /* needs record; the run outlives this process. Its input is empty, and
			      nothing goes to stdout_fd */
	int stdin_fd;      /* -1: empty; not closed. Step recipes read none */
	int stdout_fd;     /* gets the output when the run has ended. -1: it is only in the result;
			      not closed */
	uint64_t grace_ms; /* between asking commands to end and ending them; 0: the default */
};

struct roux_event {
	size_t size;
	uint64_t seq;     /* from 1, without gaps */
	const char *type; /* "command.done"; more may come */
	const char *json; /* the whole event, one line */
	size_t json_len;
};
/* `event` and its strings are valid until the callback returns. */
typedef void roux_event_fn(struct roux_run *run, const struct roux_event *event, void *data);

/* Of the library; static. */
ROUX_EXPORT const char *roux_version(void);
/* NULL: all defaults. Returns NULL, with errno, only when the kernel has no descriptors left. */
ROUX_EXPORT struct roux *roux_new(const struct roux_options *options);
/* Cancels and waits for attached runs; detached ones continue. What was made from it may be freed
 * before or after. */
ROUX_EXPORT void roux_free(struct roux *r);

/* Why the last call on `r`, or on what was made from it, returned NULL or false: as a JSON array of
 * {"file","line","column","message","hint"}, and as text for people. "[]" and "" when it did not
 * fail. */
ROUX_EXPORT const char *roux_errors_json(const struct roux *r);
ROUX_EXPORT const char *roux_errors_text(const struct roux *r);

/* `source` is what a user would type: the id of a recipe, a path, a command line with a space in
 * it, JSON text, @file.json. NULL with every mistake among the errors. */
ROUX_EXPORT struct roux_recipe *roux_load(struct roux *r, const char *source);
/* The text of a template, or of a recipe when `name` ends with .md, .yaml or .yml. `name` is what
 * diagnostics call it; imports are looked for beside it. */
ROUX_EXPORT struct roux_recipe *roux_load_text(
	struct roux *r, const char *name, const char *text, size_t len);
/* Plans made from it stay valid. */
ROUX_EXPORT void roux_recipe_free(struct roux_recipe *recipe);

/* Every mistake that can be found without values. False when there is an error. */
ROUX_EXPORT bool roux_check(struct roux *r, const struct roux_recipe *recipe);

/* `values` is a JSON object or NULL. Starts nothing. NULL with every mistake among the errors. */
ROUX_EXPORT struct roux_plan *roux_plan_new(
	struct roux *r, const struct roux_recipe *recipe, const char *values);
/* As `roux plan --json` prints it. */
ROUX_EXPORT const char *roux_plan_json(struct roux_plan *plan);
/* Runs made from it stay valid. */
ROUX_EXPORT void roux_plan_free(struct roux_plan *plan);

/* Starts a run; `how` NULL: not recorded, without input. The plan may be freed at once, and used
 * again. `on_event` may be NULL. Returns NULL when nothing was started: a live run has the name,
 * for example. A detached start returns when the supervisor of the run has taken over. */
ROUX_EXPORT struct roux_run *roux_run_start(
	struct roux_plan *plan, const struct roux_start *how, roux_event_fn *on_event, void *data);
/* A recorded run by its name, whichever process started it: to wait for it, to end it, to get its
 * result. `on_event` is called for all events from the first on, and the run counts as ended when
 * it was called for the last. Returns NULL when there is none, or when it cannot be watched. */
ROUX_EXPORT struct roux_run *roux_run_open(
	struct roux *r, const char *name, roux_event_fn *on_event, void *data);
/* ROUX_RUNNING until a turn has found its end. */
ROUX_EXPORT enum roux_status roux_run_status(const struct roux_run *run);
/* Its name; NULL when not recorded. */
ROUX_EXPORT const char *roux_run_id(const struct roux_run *run);
/* The result document, as `roux run --json` prints it; NULL while running. */
ROUX_EXPORT const char *roux_run_result(struct roux_run *run);
/* Ends every command of the run, politely and after the grace time by force; returns at once. The
 * run has ended when nothing is left of them. False when it has ended already. */
ROUX_EXPORT bool roux_run_cancel(struct roux_run *run);
/* The same by force at once. */
ROUX_EXPORT bool roux_run_kill(struct roux_run *run);
/* A live attached run is cancelled and waited for first; others continue. */
ROUX_EXPORT void roux_run_free(struct roux_run *run);

/* All recorded runs, newest first, as `roux runs --json` prints them. NULL with errors. */
ROUX_EXPORT const char *roux_runs_json(struct roux *r);
/* One of them now, as `roux status NAME --json` prints it. NULL with errors: there is none,
 * for example. */
ROUX_EXPORT const char *roux_status_json(struct roux *r, const char *name);

/* Driving it: wait here, or put the descriptor into your own loop and turn when it is ready. */

/* Turns until the run has ended, or until roux_wake() was called: then it is ROUX_RUNNING. Other
 * runs of the context continue meanwhile. */
ROUX_EXPORT enum roux_status roux_run_wait(struct roux_run *run);
/* Readable when a turn has something to do. It stays the same, and belongs to `r`. */
ROUX_EXPORT int roux_fd(const struct roux *r);
/* Handles what is due, after waiting for it at most `timeout_ms` (-1: for ever, 0: not at all).
 * Returns the number of live runs, or -errno. */
ROUX_EXPORT int roux_turn(struct roux *r, int timeout_ms);
/* Ends a wait or turn, or the next one, from another thread or from a signal handler. */
ROUX_EXPORT void roux_wake(struct roux *r);

#ifdef __cplusplus
}
#endif

#endif
