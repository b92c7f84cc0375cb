#pragma once

#include "engine/frame.h"
#include "graph/step.h"

/* How the nodes of a step recipe are executed. They use the same frames, slots, attempts and
 * records as any other; what is theirs is what they know beside: variables, lists, gates. */
struct step_state {
	json_t *list;    /* of a foreach */
	json_t *results; /* of its rounds, in order, when they are collected; else NULL */
	json_t *last;    /* the result of the last round */
	uint64_t last_index;
	json_t *saved;  /* what the loop variable was before; NULL: it was not */
	bool over;      /* no further round */
	bool cut_short; /* a round did not come to its end */
	bool failed;    /* a round has failed that was not to */
	int code;       /* … with this code */
	bool no_retry, retried;
	uint64_t failure;
	bool kept;          /* a resume continues with its rounds and does not begin them again */
	bool warned;        /* of something that every round would say */
	bool waiting;       /* for the next round to be due */
	uint64_t due_ms;    /* when it is */
	struct timer pause; /* between rounds */
	struct frame *owner;
	struct step_call call;
	bool called;
	struct buf remove; /* files of the command under way */
};

/* steps.c */
struct step_state *step_state(struct frame *f);
void step_state_free(struct frame *f);
/* The scope of a frame, with variables of its own where it has some. */
const struct scope *step_scope(struct frame *f, const struct scope *up);
/* The recipe that it is in. */
const struct step_call *step_call_of(const struct frame *f);
/* It is about to begin: the variables that say where we are. */
void step_enter(struct frame *f);
/* All attempts are over: results are stored, `on_error` is applied. */
/* Sets a variable of the recipe that the frame belongs to; takes the value. */
void step_set(struct frame *f, struct str name, json_t *value);
void step_finish(struct frame *f);
void step_skip(struct frame *f);
/* It will not be reached any more. */
void step_skip_node(struct run *r, const struct node *n);
/* A mistake of the author, found while running: an issue has been added. The run fails. */
void step_mistake(struct frame *f);
/* Tells an event of this dialect; `more` are members that begin with a comma. */
/* The recipe that was started begins, or has come to its end. */
void step_tell_run(struct run *r, bool begins);
/* What a failed step says of itself, as a failure of the run. */
void step_failed(struct frame *f, int code, struct str why);
/* The output of a step recipe: the text of a variable. */
struct content *step_output(struct run *r);
bool step_listed(const struct frame *f);

/* rounds.c */
enum loop_open { LOOP_BEGINS, LOOP_EMPTY, LOOP_MISTAKE };
enum loop_open loop_open(struct frame *f);
void loop_begin(struct frame *f);
void loop_child_ended(struct frame *f, struct frame *child);
/* The next round of a parallel loop. */
void loop_feed(struct frame *f);
void loop_settle(struct frame *f);
/* Of all loops around a frame: what their rounds have done stands, although they are not over. */
void loop_keep_rounds(struct frame *f);

/* call.c */
void call_begin(struct frame *f);
void call_child_ended(struct frame *f, struct frame *child);
void gate_begin(struct frame *f);
void wait_begin(struct frame *f);

/* pace.c */
/* An agent may start when it is its turn. */
void pace_want(struct frame *f);
/* Agents are counted over the whole tree of recipes: so many more. False: too many, and an issue
 * has been added. */
bool pace_charge(struct frame *f, uint64_t count);
void pace_ended(struct frame *f, const struct outcome *o);
