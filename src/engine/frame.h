#pragma once

#include "data/needs.h"
#include "engine/early.h"
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
 * frame.c knows this life and nothing of what a node does in it: that is a table of operations,
 * chosen by the kind of the node when the frame is made. A frame does not call the frame above or
 * below: it puts the next call into the schedule, so that neither depth nor a million quick calls
 * use the C stack.
 */

/* What a node came to. */
struct outcome {
	bool ok, skipped;
	bool unread; /* its output is the run's own input, passed through unread */
	bool halted; /* not finished, because another node failed or the run was ended: this is not
			a failure of its own */
	enum failure_scope carried; /* how far its failure reaches by itself */
	int code, signal;
	bool timed_out;
	/* Steps: */
	bool partial;  /* it has failed, and the rest of the run is to be left out */
	bool no_retry; /* trying again would change nothing */
	bool retried;  /* it has failed after all the attempts of a group; ending.retried_path */
	bool cut;      /* it printed more than is kept */
	json_t *value; /* its result; NULL: none */

	struct content *out;
	struct content *err;    /* the beginning of standard error, for a join */
	struct join_list joins; /* of the last attempt */
	struct tally tally;     /* the commands in it that ended as failures */
	uint64_t failure;       /* which failure it was, counted from 1; 0: none of a command */
};

void outcome_done(struct outcome *o);

enum frame_role { FRAME_CHILD, FRAME_COPY, FRAME_RECOVERY };
enum frame_state {
	FRAME_QUEUED,
	FRAME_DELAYED, /* until its delay, or the pause before a retry, is over */
	FRAME_WAITING, /* a command without a slot */
	FRAME_RUNNING,
	FRAME_WAITS_FOR_STDIN, /* its output is the run's own input, which is read to its end */
	FRAME_RECOVERING,
	FRAME_ENDED,
};

/* Attempts of one frame. */
struct tries {
	uint64_t now, most;     /* which attempt this is, and how many it may have */
	uint64_t limit_ms;      /* of each attempt; 0: none */
	uint64_t entered_ms;    /* when the node was entered, … */
	uint64_t began_ms;      /* … and this attempt began; of a command: when it executed */
	struct tally last;      /* of the attempt before, taken out of that of the run */
	struct tally recovery;  /* of the last recovery */
	uint64_t failed_before; /* failures of the whole run when this attempt began */
};

/* -- what is only a command's, a sequence's … ----------------------------------------------------
 */

struct leaf {
	struct job *job; /* NULL: not started, or ended */
	struct job_owner owner;
	struct pool *pool;        /* where it waits for a slot or has one */
	struct job_record record; /* in a run that is written down */
	struct buf remove;        /* files to delete when it has ended, each with a NUL behind it */
	bool announced;           /* told, but the machine had no room yet */
	bool recalled;            /* its end comes from a record */
	bool passed;              /* … and its failure does not end anything any more */
	struct buf argv;          /* not told yet: each word with a NUL behind it */
	bool paced;               /* an agent that counts as running */
	bool begun;               /* its record has: it was taken for one under way */
};

struct chain {
	struct content *flow; /* what the next child reads */
	bool flow_unread;     /* … is the run's own input */
};

struct fork {
	struct join *join;
	uint64_t done_count;
	/* The first child whose failure reaches the root, and the first failed one; UINT64_MAX:
	 * none. And which failures those were. */
	uint64_t root_index, failed_index;
	uint64_t root_failure, failed_failure;
	struct content *root_out; /* what the first of them printed; NULL: nothing */
};

struct rounds {
	json_t *list;    /* of a foreach */
	json_t *results; /* of its rounds, in order, when they are collected; else NULL */
	json_t *last;    /* the result of the last round */
	uint64_t last_index;
	json_t *saved;      /* what the loop variable was before; NULL: it was not */
	struct timer pause; /* between rounds */
	uint64_t due_ms;    /* when the next parallel round may begin */
	bool waiting;       /* for that */
	/* Of the latest round, when starts are spaced: its first command, handed over and not
	 * begun, or NULL; whether a command or a pause of it has begun. */
	const struct frame *handed;
	bool begun;
	bool elsewhere, here; /* a command of it goes to another machine; one stays, or would */
	bool over;            /* no further round */
	bool cut_short;       /* a round did not come to its end */
	bool kept;            /* a resume continues with its rounds and does not begin them again */
	bool warned;          /* of something that every round would say */
	bool failed;          /* a round has failed that was not to, with: */
	bool no_retry, retried;
	int code;
	uint64_t failure;
};

struct call {
	struct step_call call;
	bool open;              /* it holds references */
	struct str last_output; /* of an import: as that of struct step_book */
};

struct frame {
	struct run *run;
	struct frame *up;
	const struct node *node;
	const struct frame_ops *ops;
	enum frame_role role;
	enum frame_state state;
	bool tolerated; /* its author, or that of a group above, asked to continue after failures */
	bool halted;    /* nothing new may start in it during this attempt */
	bool timed_out; /* its own limit ran out during this attempt */
	bool in_unread; /* its input is the run's own, still coming */
	struct content *in;
	uint64_t index; /* among its siblings, or the copy's number */
	const struct scope *scope;
	struct scope room;
	json_t *own_vars; /* steps: variables of a parallel round; NULL: those above */
	struct tries tries;
	struct timer timer;   /* delay, then the time limit */
	struct list link;     /* among the active children of the frame above */
	struct list active;   /* children */
	uint64_t count, next; /* children in all; the next to start */
	struct list queued;   /* in the schedule, with … */
	void (*call)(struct frame *f);
	/* For a slot, for children to start, for the end of the input, for its turn among agents:
	 * never two of these at once. */
	struct list waits;
	struct outcome outcome;
	union {
		struct leaf leaf;
		struct chain chain;
		struct fork fork;
		struct rounds rounds;
		struct call called;
		struct timer pause;
	};
};

struct command_kind;
enum frame_open { OPEN_BEGINS, OPEN_EMPTY, OPEN_MISTAKE };

/* What a frame does by the kind of its node. Calls that say so may be NULL. */
struct frame_ops {
	const struct frame_dialect *dialect;
	const struct command_kind *command; /* of commands: engine/command.h */
	/* Its time limit begins with its command, and not with the attempt. */
	bool late_limit;
	/* Steps: its guard is true. Finds out how many children there are; may be NULL. */
	enum frame_open (*open)(struct frame *f);
	/* An attempt begins. It ends with frame_attempt_done() or frame_end_halted(). */
	void (*begin)(struct frame *f);
	/* Whether the attempt that would be next is in the record of an earlier process, so that
	 * nothing has to be waited for; may be NULL. */
	bool (*recorded)(const struct frame *f);
	/* Commands: it has a slot. False: the machine cannot start one more now. */
	bool (*start)(struct frame *f);
	/* Groups: a child has ended, and is freed after this. */
	void (*child_ended)(struct frame *f, struct frame *child);
	/* Groups whose children run at once: a slot is free for the next child. */
	void (*feed)(struct frame *f);
	/* Nothing new may start in it while it runs; with `stop` what runs is asked to end. May be
	 * NULL. */
	void (*halt)(struct frame *f, bool stop);
	/* What runs ends at once; may be NULL. */
	void (*kill)(struct frame *f);
	/* It will have no outcome of its own; may be NULL. */
	void (*abandoned)(struct frame *f);
	/* Frees what is in its part of the union; may be NULL. */
	void (*done)(struct frame *f);
};

/* What a dialect (templates, step recipes) does with nodes of every kind, and with a run. Calls
 * that say so may be NULL. */
struct frame_dialect {
	/* Finds scope, guard and settings of a new frame; then frame_skip() or frame_delay(). Or
	 * the run fails, and the frame is ended halted. */
	void (*enter)(struct frame *f, const struct scope *up);
	void (*skipped)(struct frame *f); /* may be NULL */
	/* All attempts are over: the last chance to change the outcome. May be NULL. */
	void (*finish)(struct frame *f);
	/* The pause before the next attempt in ms, which has been told. May be NULL. */
	uint64_t (*retry)(struct frame *f);
	/* The code of a group whose time limit ran out. */
	int limit_code;
	/* The run's output is that of its last command. */
	bool prints;
	/* The run is about to be told as ended: decides about its output. */
	void (*conclude)(struct run *r); /* may be NULL */
	/* The run begins, or has come to its end. */
	void (*tell_run)(struct run *r, bool begins); /* may be NULL */
};

extern const struct frame_dialect frame_templates, frame_steps;
/* By kind of node: of templates … */
extern const struct frame_ops command_ops, sequence_ops, parallel_ops;
/* … and of step recipes. */
extern const struct frame_ops step_command_ops, stage_ops, rounds_ops, parallel_rounds_ops,
	call_ops, gate_ops, wait_ops;
/* A step recipe that a template imports: a node of a template above, steps below. */
extern const struct frame_ops import_ops;

/* -- frame.c -------------------------------------------------------------------------------------
 */

/* Takes references to what it needs. It is owned by the run and frees itself after its end. */
struct frame *frame_new(struct run *r, struct frame *up, const struct node *n, enum frame_role role,
	uint64_t index, struct content *in, bool in_unread);
/* Enters it, from the schedule. */
void frame_begin(struct frame *f);
/* Makes and enters the next child of a group. */
void frame_next_child(struct frame *f, struct content *in, bool in_unread);
/* For dialect.enter: time limit, attempts and delay. False: an issue has been added. */
bool frame_settings(struct frame *f, uint64_t *delay_ms);
/* For dialect.enter: its guard is false. */
void frame_skip(struct frame *f);
/* For dialect.enter: the first attempt, after the delay. */
void frame_delay(struct frame *f, uint64_t delay_ms);
/* Takes the outcome: the attempt is over; tries again, recovers or ends. */
void frame_attempt_done(struct frame *f, struct outcome *o);
/* Ends it without an outcome of its own, before or between commands. */
void frame_end_halted(struct frame *f);
/* The run's own input has come to its end: it is the output of a branch that waited for it. */
void frame_take_input(struct frame *f);

/* What it prints is what the run prints, whatever else happens. */
bool frame_is_last(const struct frame *f);
/* Whether a frame at or above it has stopped new commands. */
bool frame_halted(const struct frame *f);
/* How far the failure of a child reaches by itself, … */
enum failure_scope failure_scope_own(const struct frame *child);
/* … and with what its group says. */
enum failure_scope failure_scope_of(const struct frame *f, const struct frame *child);
/* A failure that reaches the root has happened in `f`: stops new commands in the frame that can
 * still try again, or everywhere. */
void frame_fail_root(struct frame *f);
/* Nothing new starts in it; `stop` also ends its running commands. */
void frame_halt(struct frame *f, bool stop);
/* Ends its running commands at once. */
void frame_kill(struct frame *f);

/* -- rounds.c ------------------------------------------------------------------------------------
 */

/* A round begins with its first command or pause. Where a parallel loop spaces its starts, the next
 * round is due so long after that, and a command may begin long after it was handed over: */

/* An executor has it. */
void round_handed_over(const struct frame *command);
/* A command or a pause executes. */
void round_begins(const struct frame *f);
/* The command is with its executor no more. */
void round_taken_back(const struct frame *command);
/* What waits for the command to begin, were it handed over now. */
struct job_behind round_behind(const struct frame *command);
/* The command is to run here, or elsewhere. */
void round_goes(const struct frame *command, bool here);

/* -- emit.c --------------------------------------------------------------------------------------
 */

void frame_path(const struct frame *f, struct buf *b);
/* Which execution of its path this is. `path` holds the path of the key. */
struct leaf_key frame_key(const struct frame *f, struct buf *path);
/* What it and the groups around it say about where it runs. */
enum runs_on frame_runs_on(const struct frame *f);
/* What it asks of its machine, the inner groups before the outer ones. False: nothing. */
bool frame_needs(const struct frame *f, struct needs *ret);
/* Where a command ran, for its events. */
struct event_away event_away(const struct job_away *away);
void run_emit(struct run *r, struct event *e);
/* The same warning of many rounds is given once. */
void run_warn_once(struct run *r, struct str message);
/* Its label, with what its placeholders stand for; one that stands for nothing stays as written. */
void frame_label(const struct frame *f, struct buf *b);
/* What the innermost round or copy is about that it is in: a text as it is, the name, id or title
 * of an object, else its number. Nothing when it is in none. */
void frame_item(const struct frame *f, struct buf *b);
/* The same with path, label and item of a frame. */
void run_emit_frame(struct run *r, struct event *e, const struct frame *f);

/* -- ending.c ------------------------------------------------------------------------------------
 */

/* Why a run is to end before its root does. */
struct stop {
	enum run_status status; /* RUN_RUNNING: it is not; else what it will come to */
	int signal;
	bool gentle; /* running commands may finish */
	bool hurry;  /* there is no grace time */
};

enum run_phase {
	PHASE_EXECUTING,  /* until the root has ended */
	PHASE_COLLECTING, /* the run's input is read to its end, to be its output */
	PHASE_SWEEPING,   /* the executors end what commands have left behind */
	PHASE_ENDED,
};

struct ending {
	enum run_phase phase;
	struct stop stop;
	struct outcome outcome; /* of the root, … */
	bool only;              /* … or of the one node that was asked for */
	bool leaving;           /* PHASE_SWEEPING of a run that has come to its end */
	bool timed_out;         /* the root's own limit ran out in its last attempt */
	size_t sweeps;          /* executors that are not through with it */
	struct buf error;
	struct buf limit_path; /* of the group whose time limit ran out last */
	struct buf failed_path;
	struct buf retried_path; /* of the outermost group that failed in all its attempts */
};

/* After each turn of the schedule: the run ends when its root has. */
void ending_turned(struct schedule *s);
/* PHASE_COLLECTING is through, or the input has failed. */
void ending_collected(struct run *r, bool ok);
void ending_done(struct ending *e);
/* Nothing new starts and nothing is running: the run ends so. */
void run_stop(struct run *r, enum run_status status);
/* The whole run fails: a template error found late, or the machine. Issues are in r->issues. */
void run_fail(struct run *r, enum run_status status);

/* -- the run -------------------------------------------------------------------------------------
 */

/* What the result of a step recipe lists. */
struct step_book {
	struct step_call first_call; /* the recipe that was started */
	json_t *steps, *skipped, *rounds;
	struct str last_output; /* the variable of the last step that ran; empty: it has none */
	struct buf gate, gate_prompt;
};

/* How many agents run at once, and how soon after each other. */
struct pace {
	struct list waiting;
	struct timer timer;
	uint64_t started, running;
	uint64_t until_ms; /* the next may start then */
	uint64_t backoff_ms, successes;
	const struct step_graph *limits; /* of the import that began last; NULL: none */
};

struct run {
	struct loop *loop;
	struct plan *plan;
	struct run_options options;
	const struct frame_dialect *dialect;
	struct schedule schedule;
	struct store store;
	struct failures failures;
	struct report issues;
	struct run_result result;
	struct frame *root;
	struct scope scope; /* the outermost */
	uint64_t seq, began_ms;
	bool executing; /* a command or a pause has been begun that is not in a record */
	struct live_owner input;
	struct live *live;           /* standard input while it is shared by several readers */
	bool live_kept;              /* … which the recorder keeps */
	bool input_lost;             /* … and could not be read or kept to its end */
	bool live_complete;          /* … and has kept whole */
	struct list waits_for_stdin; /* branches whose output it is */
	struct list waits_to_read;   /* commands that run elsewhere and are given all of it */
	struct early early;          /* who reads what it prints */
	struct ending ending;
	struct step_book book;
	struct pace pace;
};

static inline bool run_stopping(const struct run *r)
{
	return r->ending.stop.status != RUN_RUNNING;
}
