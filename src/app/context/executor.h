#pragma once

#include "app/context/context.h"
#include "remote/table.h"

/* Where the commands of a run were asked to go: NAME or NAME:CLASS. */
struct executor_choice {
	struct str name, class; /* both empty: here */
	struct table *table;    /* as the settings have it; NULL: here */
};

/* Takes NAME or NAME:CLASS apart; texts are in the arena. `local` is here: both are empty. False
 * with an issue: one of them is missing, or what is here has no class. */
bool executor_split(
	struct str on, struct arena *a, struct str *name, struct str *class, struct report *r);
/* Whether the table has that class, or none is asked for. False with an issue. */
bool executor_has_class(const struct table *t, struct str class, struct report *r);
/* Finds it in the settings of `a`. False with issues. executor_choice_done() in any case. */
bool executor_choose(struct app *a, struct str on, struct arena *arena, struct executor_choice *ret,
	struct report *r);
void executor_choice_done(struct executor_choice *c);
