#pragma once

#include "engine/executor.h"
#include "engine/run.h"
#include "engine/schedule.h"
#include "graph/step.h"

/*
 * A frame is a node being executed, as a stack frame is a function being executed: it exists from
 * the moment the node is entered until its outcome has been handed to the frame above.
 *
 *   enter ──guard false──────────────────────────────────────────────────────────> end (skipped)
 *     │
 *     └─delay─> attempt ─> command or group ─> attempt_done ──ok, or none left──> end ─> above
 *                  ^                                 │
 *                  └────── recovery <── `recover` ───┘
 *
 * Nothing here calls upwards or downwards directly: a frame puts its next step into the run's
 * queue, so that neither depth nor a million quick steps use the C stack.
 */

/* What a node came to. */
struct outcome {
	bool ok, skipped;
	bool live;   /* its output is the run's own input, which nobody has read */
	bool halted; /* not finished because something else failed or was cancelled: no failure of
			its own */
	enum failure_scope carried; /* how far its failure reaches by itself */
	int code, signal;
	bool timed_out;
	struct content *out;
	struct content *err;    /* the beginning of standard error, for a join */
	struct join_list joins; /* of the last attempt */
	uint64_t untolerated;   /* failures in it that nobody asked to tolerate */
	uint64_t failure;       /* which failure it was, counted from 1; 0: none of a command */
	/* Steps: */
	json_t *value; /* its result; NULL: none */
	bool partial;  /* it has failed, and the rest of the run is to be left out */
	bool no_retry; /* trying again would change nothing */
	bool retried;  /* it has failed after all the attempts of a group; run->retried_path */
	bool cut;      /* it printed more than is kept */
};

void outcome_done(struct outcome *o);

enum frame_role { FRAME_CHILD, FRAME_COPY, FRAME_RECOVERY };
enum frame_state {
	FRAME_QUEUED,
	FRAME_DELAYED, /* waiting for its delay */
	FRAME_WAITING, /* a command waiting for a slot */
	FRAME_RUNNING,
	FRAME_TAKING, /* its output is the run's own input, which is read to its end */
	FRAME_RECOVERING,
	FRAME_ENDED,
};

struct frame {
	struct run *run;
	struct frame *up;
	const struct node *node;
	enum frame_role role;
	enum frame_state state;
	uint64_t index;  /* among its siblings, or the copy's number */
	uint64_t copies; /* of a copy: how many there are */
	const struct scope *scope;
	struct scope room;
	struct content *in;
	bool in_live; /* its input is the run's own, still coming */
	uint64_t attempt, attempts, timeout_ms;
	struct timer timer; /* delay, then the time limit */
	uint64_t entered_ms;
	uint64_t began_ms;  /* this attempt */
	bool tolerated;     /* somebody here or above asked to go on after failures */
	bool halted;        /* nothing new may start in it during this attempt */
	bool timed_out;     /* its own limit ran out during this attempt */
	struct list link;   /* among the active children of the frame above */
	struct list active; /* children */
	struct list queued; /* in the run's queue */
	void (*call)(struct frame *f);
	struct outcome outcome;
	uint64_t untolerated_before; /* of earlier attempts */
	uint64_t failures_before;    /* in the whole run, when this attempt began */

	/* NODE_COMMAND */
	struct job *job;
	struct job_owner owner;
	struct pool *pool;        /* where it waits for a slot or has one */
	struct list slot;         /* in the list of those that wait for one */
	bool announced;           /* told, but the machine had no room yet */
	struct job_record record; /* in a run that is written down */

	/* steps */
	struct step_state *steps; /* NULL: it needs none */
	json_t *own_vars;         /* variables of a parallel round; NULL: those above */
	bool finished;            /* its result has been read */
	bool recalled;            /* … from a record of an earlier execution */
	bool paced;               /* an agent that counts as running */

	/* groups */
	uint64_t count, next; /* children in all; the next to start */
	struct content *flow; /* sequence: what the next child reads */
	bool flow_live;
	struct join *join;    /* parallel */
	struct list unfilled; /* parallel: it has children to start */
	uint64_t done_count;
	/* Parallel: the first child whose failure reaches the root, and the first failed one;
	 * UINT64_MAX: none. And which failures those were. */
	uint64_t root_index, failed_index;
	uint64_t root_failure, failed_failure;
	struct content *root_out; /* what the first of them printed; NULL: nothing */
};

/* frame.c */
struct frame *frame_new(struct run *r, struct frame *up, const struct node *n, enum frame_role role,
	uint64_t index, struct content *in, bool in_live);
/* The first call of a new frame, for schedule_call(). */
void frame_enter(struct frame *f);
void frame_path(const struct frame *f, struct buf *b);
/* Takes the outcome: the attempt is over; tries again, recovers or ends. */
void frame_attempt_done(struct frame *f, struct outcome *o);
/* Which execution of its path this is, whatever attempt of its own or of a group above. */
uint64_t frame_number(const struct frame *f);
/* What it prints is what the run prints, whatever else happens. */
bool frame_is_last(const struct frame *f);
/* Ends it without an outcome of its own, before or between commands. */
void frame_end_halted(struct frame *f);
/* Whether something at or above it has stopped new commands. */
bool frame_halted(const struct frame *f);
/* A failure that reaches the root has happened in `f`: stops new commands in the frame that can
 * still try again, or everywhere. */
void frame_fail_root(struct frame *f);
/* Nothing new starts in it; `stop` also ends its running commands. */
void frame_halt(struct frame *f, bool stop);
/* The run's own input has come to its end: it is the output of a branch that waited for it. */
void frame_take_input(struct frame *f);
void frame_free(struct frame *f);

/* parallel.c */
void group_begin(struct frame *f);
void group_child_ended(struct frame *f, struct frame *child);
/* Starts the next child of a parallel group. */
void group_feed(struct frame *f);
/* Looks whether a halted parallel group is over. */
void group_settle(struct frame *f);

/* command.c */
void leaf_begin(struct frame *f);
/* Whether its next attempt has been executed before. */
bool leaf_recorded(const struct frame *f);
/* It has a slot: starts the command. False when the machine cannot start one more now. */
bool leaf_start(struct frame *f);

/* run.c */
void run_emit(struct run *r, struct event *e);
/* The same with the path and label of a frame. */
void run_emit_frame(struct run *r, struct event *e, const struct frame *f);
/* Nothing new starts and nothing is running: the run ends so. */
void run_stop(struct run *r, enum run_status status);
/* The whole run fails: a template error found late, or the machine. Issues are in r->issues. */
void run_fail(struct run *r, enum run_status status);

struct run {
	struct loop *loop;
	struct plan *plan;
	struct run_options options;
	struct schedule schedule;
	struct store store;
	struct failures failures;
	struct report issues;
	struct run_result result;
	struct buf error;
	struct frame *root;
	struct list taking; /* branches that wait for the end of the run's own input */
	size_t sweeps;      /* executors that are still ending what was left behind */
	uint64_t seq, began_ms;
	enum run_status stopping; /* RUN_RUNNING: not; else what it will come to */
	bool root_timed_out;      /* the root's own limit ran out in its last attempt */
	bool finished, sweeping;  /* the root has ended; what was left behind is being ended */
	bool collecting;          /* … or its input is being read, to be its output */
	bool hurry;               /* asked for twice: no grace */
	bool gentle;              /* stopping, but running commands may finish */
	struct live_owner input;
	struct live *live;      /* standard input while it is shared by several readers */
	struct outcome outcome; /* of the root */
	bool only_ended;        /* … or of the one node that was asked for */
	struct buf limit_path;  /* of the group whose time limit ran out last */
	struct buf failed_path;
	struct buf retried_path; /* of the outermost group that failed in all its attempts */
	/* Steps: */
	struct scope scope;          /* the outermost */
	struct step_call first_call; /* the recipe that was started */
	json_t *step_list, *skipped, *rounds;
	struct str last_output; /* the variable that the last step has set */
	struct buf gate, gate_prompt;
	bool executing;    /* something has been begun that was not taken from a record */
	uint64_t agents;   /* started so far */
	struct list paced; /* agents that wait for their turn */
	struct timer pace_timer;
	uint64_t agents_running, pace_until_ms, pace_backoff_ms, pace_successes;
};
