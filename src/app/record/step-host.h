#pragma once

#include "app/record/launch.h"
#include "engine/run.h"
#include "graph/step.h"

/* What a step recipe needs from the process that runs it: its variables, the recipes that it calls,
 * answers at gates. What must not change between a start and a resume is kept in the run's
 * directory. */
struct steps_run;

/* Borrows the launch, which has its plan. Ended with steps_close(). */
struct steps_run *steps_open(struct launch *l, struct report *r);
/* Writes what only people read, when steps_open() has left that for later: call it when the first
 * command runs, and at the end. */
void steps_settle(struct steps_run *s);
/* The run has ended and another process may have it: answers at its gates wait no longer. `s` may
 * be NULL. */
void steps_rest(struct steps_run *s);
void steps_close(struct steps_run *s);
/* What the next three return is borrowed, until steps_close(). */

const struct step_host *steps_host(const struct steps_run *s);
json_t *steps_vars(const struct steps_run *s);
/* Its secrets, including those that turn up while it runs. */
struct mask *steps_mask(const struct steps_run *s);

/* Adds the text of state.json, which is for people, to `b`. `printed`: there may be files with what
 * steps have printed. */
void steps_state(const struct steps_run *s, const char *status, const struct run_result *res,
	bool printed, struct buf *b);
