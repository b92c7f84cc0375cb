/*
 * libroux: load, check, plan, run, observe and cancel recipes, exactly as the roux command does.
 *
 * Ownership: what a _new, _load or _start returns belongs to the caller, who ends it with its
 * _free; every _free accepts NULL. Text that comes back is borrowed: valid until the next call on
 * the same object or its end. Text that goes in is copied. Strings are UTF-8; values may hold any
 * byte but NUL.
 *
 * Threads: a struct roux and everything made from it belong to the thread that made it, which must
 * live as long as its runs. Contexts share nothing and may live in different threads. Only
 * roux_wake() may be called from anywhere. Events arrive inside roux_turn() and roux_run_wait(); a
 * callback may cancel, not free.
 *
 * Manners: no global state, no signal handler, no chdir, umask or setenv, nothing written to the
 * standard streams. Descriptors are close-on-exec. Out of memory aborts.
 */
#ifndef ROUX_ROUX_H
#define ROUX_ROUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ROUX_API 1 /* grows with every addition */
#define ROUX_EXPORT __attribute__((visibility("default")))

/* One embedder: its directories, its loop, its runs. */
struct roux;
/* A recipe or template as read, imports resolved. Immutable. */
struct roux_recipe;
/* A recipe with values, ready to run: nothing in it can be missing any more. Immutable. */
struct roux_plan;
/* One execution. */
struct roux_run;

/* More may come: a caller must bear statuses that it does not know. */
enum roux_status {
	ROUX_RUNNING,
	ROUX_DONE,
	ROUX_PARTIAL,
	ROUX_PAUSED,
	ROUX_FAILED,
	ROUX_DENIED,
	ROUX_TIMEOUT,
	ROUX_CANCELLED,
	ROUX_KILLED,
	ROUX_EXITED,
	ROUX_INVALID,
	ROUX_REFUSED,
};

/* Structs that the caller fills begin with their size, so that they can grow. */
struct roux_options {
	size_t size;
	const char *cwd;       /* NULL: the process's, taken once */
	const char *agent_dir; /* NULL, as the next two: the usual places */
	const char *packaged_dir;
	const char *state_dir;
	unsigned jobs;  /* commands at once; 0: the default */
	bool subreaper; /* may change this attribute of the whole process, so that no process is
			   lost */
};

struct roux_start {
	size_t size;
	const char *as;    /* run id or NULL */
	const char *owner; /* session id or NULL */
	bool record;       /* ledger and run directory, as `roux run`; else as `roux exec` */
	bool detach;       /* needs record; the run outlives this process */
	int stdin_fd;      /* -1: empty; not closed */
	int stdout_fd;     /* -1: only in the result; not closed */
	uint64_t grace_ms; /* between asking commands to end and ending them; 0: the default */
};

struct roux_event {
	size_t size;
	uint64_t seq;
	const char *type; /* "command.done" */
	const char *json; /* the whole event, one line */
	size_t json_len;
};
typedef void roux_event_fn(struct roux_run *run, const struct roux_event *event, void *data);

ROUX_EXPORT const char *roux_version(void);
/* NULL: all defaults. Returns NULL only when the kernel has no descriptors left. */
ROUX_EXPORT struct roux *roux_new(const struct roux_options *options);
/* Cancels and waits for attached runs; detached ones go on. */
ROUX_EXPORT void roux_free(struct roux *r);

/* Why the last call on `r` returned NULL or false, as a JSON array of
 * {"file","line","column","message","hint"}; and as text for people. */
ROUX_EXPORT const char *roux_errors_json(const struct roux *r);
ROUX_EXPORT const char *roux_errors_text(const struct roux *r);

/* `source` is what a user would type: a command line with a blank in it, JSON text, @file.json. */
ROUX_EXPORT struct roux_recipe *roux_load(struct roux *r, const char *source);
/* `name` is what diagnostics call the text. */
ROUX_EXPORT struct roux_recipe *roux_load_text(
	struct roux *r, const char *name, const char *text, size_t len);
/* Plans made from it stay valid. */
ROUX_EXPORT void roux_recipe_free(struct roux_recipe *recipe);

/* Every mistake that can be found without values. False when there is an error. */
ROUX_EXPORT bool roux_check(struct roux *r, const struct roux_recipe *recipe);

/* `values` is a JSON object or NULL. Starts nothing. */
ROUX_EXPORT struct roux_plan *roux_plan_new(
	struct roux *r, const struct roux_recipe *recipe, const char *values);
/* As `roux plan --json` prints it. */
ROUX_EXPORT const char *roux_plan_json(struct roux_plan *plan);
/* Runs made from it stay valid. */
ROUX_EXPORT void roux_plan_free(struct roux_plan *plan);

/* The plan may be freed at once. NULL when nothing was started. */
ROUX_EXPORT struct roux_run *roux_run_start(
	struct roux_plan *plan, const struct roux_start *how, roux_event_fn *on_event, void *data);
ROUX_EXPORT enum roux_status roux_run_status(const struct roux_run *run);
/* NULL when not recorded. */
ROUX_EXPORT const char *roux_run_id(const struct roux_run *run);
/* The result document; NULL while running. */
ROUX_EXPORT const char *roux_run_result(struct roux_run *run);
/* Ends every command of the run; returns at once. False when it has ended already. */
ROUX_EXPORT bool roux_run_cancel(struct roux_run *run);
ROUX_EXPORT bool roux_run_kill(struct roux_run *run);
/* A live attached run is cancelled first. */
ROUX_EXPORT void roux_run_free(struct roux_run *run);

/* Driving it: wait here, or put the descriptor into a loop of one's own and turn when it is ready.
 */
ROUX_EXPORT enum roux_status roux_run_wait(struct roux_run *run);
ROUX_EXPORT int roux_fd(const struct roux *r);
/* Handles what is due; number of live runs or -errno. */
ROUX_EXPORT int roux_turn(struct roux *r, int timeout_ms);
/* Ends a wait in another thread or from a handler. */
ROUX_EXPORT void roux_wake(struct roux *r);

#ifdef __cplusplus
}
#endif

#endif
