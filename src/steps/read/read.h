#pragma once

#include "steps/read/keys.h"

/* The parts of reading a step recipe, in the order in which they happen. */

struct step_reader {
	struct key_reader keys;
	struct map ids;                 /* step id → the first step that has it */
	VEC(struct step *) all;         /* in file order */
	const struct step_stage *stage; /* that is being read; NULL: none */
};

/* The elements of `list` as steps, nested ones included; `parent` is the loop whose body they are.
 * Steps with mistakes are among them, so that the rest can be looked at. */
struct step *const *steps_read(struct step_reader *rd, const json_t *list,
	const struct place *place, const struct step *parent, size_t *count);

/* What can only be said of all steps together: the ids of `depends_on`. */
void steps_check_order(struct step_reader *rd);

/* Whether every variable that a text needs is known when its step starts, and what is worth a
 * warning about those texts. `given` may be NULL; `called`: a step gives them. */
void variables_check(
	struct step_recipe *recipe, const json_t *given, bool called, struct report *r);
