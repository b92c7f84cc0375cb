#pragma once

#include "app/record/launch.h"
#include "engine/run.h"
#include "graph/step.h"

/* What a step recipe needs from whoever runs it: its variables, the recipes that it calls, answers
 * at gates. What must not change between a start and a resume is kept in the run's directory. */
struct steps_run;

struct steps_run *steps_open(struct launch *l, struct report *r);
void steps_close(struct steps_run *s);

const struct step_host *steps_host(const struct steps_run *s);
json_t *steps_vars(const struct steps_run *s);
/* Its secrets, those that turn up while it runs too. */
struct mask *steps_mask(const struct steps_run *s);

/* state.json (step-recipes.md section 14): for people, and written whole. */
void steps_state(
	const struct steps_run *s, const char *status, const struct run_result *res, struct buf *b);
