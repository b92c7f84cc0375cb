#pragma once

#include "engine/frame.h"
#include "graph/step.h"

/* How the nodes of a step recipe are executed. They use the same frames, slots, attempts and
 * records as any other; beside these they have variables, lists and gates. */

/* -- steps.c -------------------------------------------------------------------------------------
 */

/* The recipe that it is in. */
const struct step_call *step_call_of(const struct frame *f);
/* The call that it is in; NULL: it is in the recipe that was started. */
struct frame *step_caller(const struct frame *f);
/* Sets a variable of the recipe that the frame belongs to; takes the value. */
void step_set(struct frame *f, struct str name, json_t *value);
/* It will not be reached: it is listed as skipped. */
void step_skip_node(struct run *r, const struct node *n);
/* A mistake of the author, found while running: an issue has been added. The run fails. */
void step_mistake(struct frame *f);
/* What a failed step says of itself, as a failure of the run. */
void step_failed(struct frame *f, int code, struct str why);
/* Whether the result lists it: it is a step of the recipe that was started. */
bool step_listed(const struct frame *f);
/* Whether the step itself was to continue after its failure: a loop says so for its body of one
 * step. What only a loop around it tolerates is counted as tolerated, and stores nothing. */
bool step_continues(const struct frame *f);
/* It has run: what it gives is what the recipe gives, unless another step comes after it. */
void step_was_last(struct frame *f);
/* Deletes the files that were made for the command of a step. */
void step_remove_files(struct frame *f);

/* -- rounds.c ------------------------------------------------------------------------------------
 */

/* Of all loops around a frame: what their rounds have done stands, although they are not over. */
void loop_keep_rounds(struct frame *f);

/* -- pace.c --------------------------------------------------------------------------------------
 */

/* An agent may start when it is its turn. */
void pace_want(struct frame *f);
/* Agents are counted over the whole tree of recipes: so many more. False: too many, and an issue
 * has been added. */
bool pace_charge(struct frame *f, uint64_t count);
/* The agent has ended, or will not start: the next one may have its turn. */
void pace_ended(struct frame *f, const struct outcome *o);
