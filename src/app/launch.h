#pragma once

#include "app/context.h"
#include "recipe/bundle.h"
#include "runs/dir/run-dir.h"
#include "runs/ledger/ledger.h"

/*
 * One start of a recorded run: what was asked for and what it becomes. It is frozen in the run's
 * directory before anything is executed, so that a foreground run, the supervisor of a detached
 * one, a resume and a rerun all begin from the same.
 *
 *   load ─> claim ─> freeze ─> run here, or hand it to a supervisor that thaws it
 */
struct launch {
	struct arena arena;
	struct recipe_dirs dirs;
	struct str root; /* the state root */
	/* What runs: */
	struct recipe *recipe; /* NULL: a template */
	struct graph *graph;
	struct plan *plan;
	json_t *values, *artifacts;
	struct bundle *bundle;
	/* How: */
	struct str id, dir, generation, owner, tool, how, rerun_of;
	struct str only; /* the path of the one node to run; empty: all */
	bool detached, durable;
	bool has_input; /* the caller has given it a standard input */
	bool begun;     /* it was not refused: its commands have been started, or will be */
	bool embedded;  /* its process is a host's own, which signals would end */
	struct str cwd; /* where it runs; empty: where this process is */
	/* Of a supervisor of its own; NULL: this program, with this environment. */
	const char *program;
	const char *const *environment;
	uint64_t jobs, grace_ms;
	json_t *env;        /* array of NAME=VALUE */
	json_t *secrets;    /* array of names whose values are masked everywhere */
	json_t *secret_env; /* array of names whose values are never written down */
	json_t *argv;       /* of the program that started it; for people */
	/* Step recipes: */
	uint64_t created;      /* when the run was first started */
	uint64_t max_parallel; /* the width of `parallel: true` */
	bool stream;           /* every step as if it said so */
	json_t *agents;        /* name → command */
	json_t *collections;   /* name → directory */
	/* While it lives: */
	struct ledger *ledger;
	struct run_row row;
	int lock; /* on DIR/.alive; -1: not ours */
	int away; /* the files of the run before are in generations/<n>; 0: there was none */
};

#define LAUNCH_INIT                           \
	((struct launch){ .lock = -1,         \
		.jobs = DEFAULT_JOBS,         \
		.grace_ms = DEFAULT_GRACE_MS, \
		.max_parallel = DEFAULT_MAX_PARALLEL })

void launch_done(struct launch *l);

/* The recipe or template that `word` means. */
bool launch_load(
	struct launch *l, const char *word, bool template, enum dialect d, struct report *r);
/* The name it gets without --as. */
void launch_name(struct launch *l);
/* Checks the values and makes the plan and the artifacts' paths: every mistake is found here, and
 * nothing has been made yet. `artifacts` replaces the recipe's own; may be NULL. */
bool launch_plan(struct launch *l, json_t *artifacts, struct report *r);

/* Takes the id: directory, lock and ledger row. Refuses (launch_refused) while a live run has it;
 * the files of an ended generation are put away. */
bool launch_claim(struct launch *l, bool *refused, struct report *r);
/* Writes everything that a supervisor needs into the directory. */
bool launch_freeze(struct launch *l, struct report *r);
/* Takes a claim back that came to nothing, with the directory if it is new. */
void launch_abandon(struct launch *l);

/* Reads it back: `dir` is the run's directory. The lock is not taken. */
bool launch_thaw(struct launch *l, struct str dir, struct report *r);
/* run.json, by the process that supervises; and its row. */
bool launch_begin(struct launch *l, struct report *r);
/* What became of its artifacts: a new reference. */
json_t *launch_manifest(const struct launch *l);
/* Whether artifacts that are required are there; what is missing is told. False when that fails the
 * run. */
bool launch_verify(const struct launch *l, struct report *r);
/* How its programs are reached, as the recipe says; NULL: as usual. */
const json_t *launch_control(const struct launch *l);

/* Counts the launch of a recipe, after its answer: it must not cost anybody time. With `in_file`
 * the file of a user's JSON recipe has the numbers too. */
void launch_count(const struct launch *l, bool in_file);

/* Starts a supervisor of its own for a frozen launch and hands it the lock. Returns its pid when it
 * has taken over, -1 with an issue added. With `program` it is no child of this process, and the
 * number is not its. */
int64_t launch_detach(struct launch *l, bool resume, struct report *r);
/* In the supervisor: what it was handed. */
void detached_begin(int *lock, int *ready);
/* … and before that: goes on in a child of its own, so that nobody has to wait for it who did not
 * start roux to do so. */
void detached_leave(void);
/* The word that asks for it. */
#define DETACHED_APART "apart"
