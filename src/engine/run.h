#pragma once

#include "base/run-status.h"
#include "engine/content.h"
#include "engine/failures.h"
#include "engine/join.h"
#include "engine/recorder.h"
#include "graph/event.h"
#include "graph/plan.h"
#include "loop/loop.h"

/* One execution of a plan. */
struct run;

/* Those statuses of base/run-status.h that the engine can come to, under the same numbers. */
enum run_status {
	RUN_RUNNING = ROUX_RUNNING,
	RUN_DONE = ROUX_DONE,
	RUN_FAILED = ROUX_FAILED,
	RUN_TIMEOUT = ROUX_TIMEOUT,
	RUN_CANCELLED = ROUX_CANCELLED,
	RUN_KILLED = ROUX_KILLED,
	RUN_INVALID = ROUX_INVALID,
	/* step recipes: */
	RUN_PARTIAL = ROUX_PARTIAL, /* ended early, as its author wanted after a failure */
	RUN_PAUSED = ROUX_PAUSED,   /* waits at a gate; nothing is running */
	RUN_DENIED = ROUX_DENIED,
};

/* The other end of a pipe. */
struct run_reader {
	int fd;      /* ours, which does not block; the caller's until the run has been freed */
	bool prints; /* it gets much output as it comes (engine/early.h) */
};

struct run_options {
	const char *id; /* NULL: it has none */
	unsigned jobs;  /* commands at once; 0: one for each processor */
	/* Where commands run, at least one. The run takes them over and closes them. */
	struct executor *const *executors;
	size_t executor_count;
	/* The one for commands that may run anywhere; 0: all run here, with the first. */
	size_t elsewhere;
	bool elsewhere_needs; /* … that say what they need */
	bool jobs_together;   /* `jobs` bounds all executors together, else the first */
	int stdin_fd;         /* handed to the first command; -1: empty */
	bool stdin_gone;     /* … or it was there and is not any more: what reads it is not run */
	uint64_t max_output; /* bytes kept of a command's output; 0: all */
	event_fn *listen;    /* hears every event */
	void *listen_data;
	/* Who reads what it prints: when that reader has gone the run is cancelled, as by SIGPIPE.
	 * NULL: it is not known. Borrowed for the call. */
	const struct run_reader *reader;
	bool tell_output; /* … also EVENT_COMMAND_OUTPUT */
	bool tell_errors; /* … that of standard error at least */
	/* May give a command other arguments than its node says, in the arena; NULL: never. */
	const char *const *(*arguments)(void *data, const struct node *n, const char *const *argv,
		size_t argc, struct arena *a);
	void *arguments_data;
	uint64_t seq;                  /* events before this execution: of a resumed run */
	const struct step_host *steps; /* of a step recipe */
	json_t *vars;                  /* … its variables, which steps set; borrowed */
	const char *cwd;               /* where commands run; NULL: where this process is */
	const char *const *env;        /* what the caller has set for all commands; may be NULL */
	bool tty;                      /* there is a terminal that a command may be given */
	bool terminal;                 /* commands get the three streams of this process */
	struct recorder *recorder;     /* NULL: nothing is written down */
	bool leaves_nothing;           /* what commands leave behind ends with the run */
	struct str only; /* the path of the one node whose end is the run's; empty: the root */
	/* A run that has succeeded is looked at once more: false, with an error added, when it has
	 * not after all. NULL: never. */
	bool (*verify)(void *data, struct report *r);
	void (*ended)(void *data); /* called once from the loop, when nothing is left to do */
	void *ended_data;
};

/* What it came to. Borrowed from the run; complete once the status is not RUN_RUNNING. */
struct run_result {
	enum run_status status;
	int code;          /* of the command that failed the run */
	int signal;        /* that cancelled or killed it; 0: asked for otherwise */
	const char *error; /* one sentence; NULL when it succeeded */
	const struct failures *failures;
	struct str failed;  /* the path of what failed it; empty: nothing did */
	struct str retried; /* … and of the outermost group around it that was tried repeatedly */
	struct tally tally; /* the commands that ended the run as failures */
	const struct join_list *joins; /* in report order */
	struct report *issues;         /* warnings, and with RUN_INVALID the errors */
	uint64_t ms;
	bool input_cut; /* a reader of the standard input was cut short: that is not kept */
	/* Step recipes: */
	const json_t *vars;      /* all variables at the end; NULL: no step recipe */
	const json_t *steps;     /* [{"id","status","code","attempts","ms","path"}] */
	const json_t *rounds;    /* of loops under way: id → how many were begun */
	const json_t *skipped;   /* ids */
	struct str gate, prompt; /* RUN_PAUSED: what it waits for */
	uint64_t gate_since_ms, gate_timeout_ms;
	bool gate_approves;
};

/* The plan is kept by reference. The run works whenever the loop turns. */
struct run *run_start(struct loop *l, struct plan *p, const struct run_options *o);
const struct run_result *run_result(const struct run *r);
/* The commands that have failed so far; one that is tried again counts when it has failed again. */
struct tally run_tally(const struct run *r);
/* Standard output of an ended run; NULL when it is empty or the run failed. When everything was
 * skipped it is the run's own input. */
struct content *run_output(struct run *r);
/* How much of it the reader has got already. */
uint64_t run_output_early(const struct run *r);

/* It was sent a message: told as an event. */
void run_told(struct run *r, struct str id, uint64_t bytes);
/* The run cannot continue: the machine failed it. `what` is a clause. */
void run_abort(struct run *r, const char *what, int error);
/* Nothing new is started; what runs may finish. Then it is cancelled. */
void run_cancel_gently(struct run *r);
/* The grace time from now on. */
void run_set_grace(struct run *r, uint64_t grace_ms);
/* Holds the commands that run (Ctrl-Z), or lets them continue. Their time limits are not held. */
void run_pause(struct run *r, bool on);
/* Ends every command of the run: politely, or at once. */
void run_cancel(struct run *r, int signal);
void run_kill(struct run *r, int signal);
/* Only an ended run. */
void run_free(struct run *r);
