#pragma once

#include "app/catalog/ref.h"
#include "app/context/context.h"
#include "app/runs.h"
#include "graph/plan.h"
#include "recipe/bundle.h"
#include "runs/dir/run-dir.h"

/*
 * One start of a run: what was asked for and what it becomes. A recorded one is frozen in the run's
 * directory before anything is executed, so that a foreground run, the supervisor of a detached
 * one, a resume and a rerun all begin from the same.
 *
 *   prepare ─> claim ─> freeze ─> run here, or hand it to a supervisor that thaws it
 */

/* What was asked for. A resume asks for the same again: freeze.c has the table of what start.json
 * keeps. Texts are in the launch's arena or outlive it; every json_t is owned. */
struct asked {
	struct str id, owner, tool, how, rerun_of, task;
	struct str only; /* the path of the one node to run; empty: all */
	bool detached, durable;
	bool has_input;       /* the caller has given it a standard input */
	bool stream;          /* every step as if it said so */
	bool notify;          /* its end is reported by hosts that tell of ends */
	bool bare;            /* commands get a bare environment */
	bool sandbox;         /* commands write only below some places: loop/sandbox.h */
	bool offline;         /* … and have no TCP */
	bool fresh;           /* its name is made, also when it is detached; not kept */
	bool made;            /* its name was; not kept */
	struct str on, class; /* the executor of its commands, and the class of it; empty: here */
	bool careful;         /* a command that is lost, and thereby in doubt, stops it */
	bool stops_in_doubt;  /* … and so does one that was when the run was last taken up */
	bool jobs_given, max_parallel_given; /* the user has said how many */
	uint64_t jobs, grace_ms;
	uint64_t max_parallel; /* the width of `parallel: true` */
	uint64_t created;      /* when the run was first started */
	json_t *env;           /* array of NAME=VALUE */
	json_t *secrets;       /* array of names whose values are masked everywhere */
	json_t *secret_env;    /* array of names whose values are never written down */
	json_t *secret_vars;   /* name → variable, of those whose variable has another name */
	json_t *secret_files;  /* array of {"file", "member"}: texts that are masked everywhere */
	json_t *secret_texts;  /* array of those that turned up while it ran */
	json_t *argv;          /* of the program that started it; for people */
	json_t *agents;        /* name → command, of step recipes */
	json_t *collections;   /* name → directory */
	json_t *executor;      /* the executor, as it was when the run was started; NULL: here */
	struct str left_on;    /* the one before, which may still run some; empty: there was none */
	json_t *left_executor;
};

/* What runs. Everything is owned. */
struct subject {
	struct recipe_ref *ref; /* NULL: it was thawed */
	struct recipe *recipe;  /* of `ref`, when there is one; NULL: a template */
	struct recipe_dirs dirs;
	struct graph *graph;
	struct plan *plan;
	json_t *values, *artifacts;
	struct bundle *bundle;
};

/* The name and the directory that it has taken. */
struct claim {
	struct str root; /* the state root */
	struct str dir;  /* empty: the run is not recorded */
	struct str generation;
	struct str cwd; /* where it runs; empty: where this process is */
	struct ledger *ledger;
	struct run_row row;
	bool unlisted;  /* it has begun, and the ledger does not know of it yet */
	bool waits;     /* what readers look for is not written yet (app/record/beginning.h) */
	json_t *kept;   /* what that says (beginning_kept()); NULL: it was not asked for */
	bool linked;    /* `latest` names it */
	int own;        /* the directory, of a run that has made it; -1: it is opened by its path */
	int lock;       /* on DIR/.alive; -1: not ours */
	off_t recorded; /* how long leaves.jsonl was before resume_write(); 0: nothing was added */
	bool anew;      /* the name was claimed by this process, for a run that has not begun */
	off_t taken;    /* how much of leaves.jsonl is of the run that this one repeats */
	uint64_t away;  /* the files of the run before are in generations/<n>; 0: there was none */
	bool embedded;  /* its process is a host's own, which signals would end */
};

struct launch {
	struct arena arena;
	struct app *app; /* a reference */
	bool counts; /* a start of the recipe: neither its supervisor nor a resume is another one */
	enum caller caller; /* whose values it is given */
	struct asked asked;
	struct subject subject;
	struct claim claim;
};

struct identity;

struct launch *launch_new(struct app *a);
/* Whatever was claimed stays as it is; the lock is let go. */
void launch_free(struct launch *l);

/* Ends one that has claimed nothing and whose memory is its caller's. */
void launch_done(struct launch *l);

/* Who this process is, into the row. */
void launch_identify(struct launch *l, struct identity *ret);
/* False with an issue: where it runs cannot be found out. */
bool launch_fill_row(struct launch *l, struct report *r);
/* What became of its artifacts: a new reference. */
json_t *launch_manifest(const struct launch *l);
/* Whether artifacts that are required are there; what is missing is reported. False when that fails
 * the run. */
bool launch_verify(const struct launch *l, struct report *r);
/* How its programs are reached, as the recipe says; NULL: as usual. */
const json_t *launch_control(const struct launch *l);
/* What the recipe says about the artifacts that the run has: a new reference; NULL: nothing. */
json_t *launch_declared(const struct launch *l);
/* Other runs are mostly over before a message comes. */
bool launch_expects_messages(const struct launch *l);
/* When it ended: its start and the time that it took, so that the two are the same number in every
 * list. A clock that has been set meanwhile, or a machine that has slept, makes it later; never
 * earlier, so that no run ends before its start. */
void launch_ended(struct launch *l, uint64_t took_ms);
/* The row of a run that has ended and the rows of its leaves, in one transaction; when the leaves
 * cannot be read, the row alone. */
bool launch_tell_end(struct launch *l, struct report *r);

/* -- prepare.c: every mistake is found here, and nothing has been made yet ------------------------
 */

/* A new start of `ref`. */
bool launch_prepare(
	struct launch *l, struct recipe_ref *ref, const struct request *q, struct report *r);
/* Puts what a request says into a launch, over what is there. */
bool launch_ask(struct launch *l, const struct request *q, struct report *r);
/* The name it gets when none was given: `name` with time and digits, or plain when detached. */
void launch_name(struct launch *l, struct str name);
/* Values given now, over the old ones; then the plan is made anew. */
bool launch_values(struct launch *l, json_t *given, struct report *r);
bool launch_plan_again(struct launch *l, struct report *r);

/* -- claim.c -------------------------------------------------------------------------------------
 */

/* Takes the id: directory, lock and ledger row. Refuses while a live run has it; the files of an
 * ended generation are put away. */
bool launch_claim(struct launch *l, struct report *r);
/* If it is durable: the names of the directory, of those above it and of what was put away are on
 * the disk. A record in a directory that is not there would be lost with it. */
bool launch_sync_names(struct launch *l, struct report *r);
/* Enters a run in the ledger that has begun without; nothing happens when it has a row. `wait_ms`
 * as in ledger_manner. */
bool launch_enter(struct launch *l, unsigned wait_ms, struct report *r);
/* Whether its end is early enough for the ledger to hear of it, when it is over at once: nothing
 * else has to be written there. */
bool launch_can_tell(const struct launch *l);
/* The end of one that the ledger does not know of, without opening it. False: it has to be entered.
 */
bool launch_tell(struct launch *l);
/* From now on `latest` names it. */
void launch_link_latest(struct launch *l);
/* Takes a claim back that came to nothing, with the directory if it is new. */
void launch_abandon(struct launch *l);

/* -- begin.c -------------------------------------------------------------------------------------
 */

/* Reads a frozen launch back: `dir` is the run's directory. The lock is not taken, and the plan is
 * yet to be made. */
bool launch_thaw(struct launch *l, struct str dir, struct report *r);
/* run.json, by the process that supervises; and its row. */
bool launch_begin(struct launch *l, struct report *r);
/* Counts the launch of a recipe, after its answer, which must not wait for it. With
 * `usage = "file"` the file of a user's JSON recipe has the numbers too. */
void launch_count(const struct launch *l);

/* -- detach.c ------------------------------------------------------------------------------------
 */

/* Whether a supervisor could be started, when one is wanted: found out before anything is made. */
bool launch_can_detach(struct launch *l, struct report *r);
/* Starts a supervisor of its own for a frozen launch and hands it the lock. Returns its pid when it
 * has taken over, -1 with an issue added. In a host's own process the supervisor is not a child of
 * this process, and the number is not its. */
int64_t launch_detach(struct launch *l, bool resume, struct report *r);
/* In the supervisor: what it was handed. */
void detached_begin(int *lock, int *ready);
/* Forks and continues in the child: a library's host must not have to reap the supervisor. */
void detached_leave(void);
/* The word that asks for it. */
#define DETACHED_APART "apart"
