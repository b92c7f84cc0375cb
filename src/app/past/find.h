#pragma once

#include "app/context/context.h"
#include "runs/dir/refusal.h"
#include "runs/look/look.h"

/* The run that an operand names, looked at now, when the caller may. An operand is, with or without
 * `run:` before it:
 *
 *   ID              the current generation of that id
 *   ID~1            the one before it, and so on: of those that are still there
 *   latest          the newest run that this session may see
 *   latest:RECIPE   the newest of that recipe
 *   PREFIX          at least 4 characters that one id alone begins with
 *
 * False with an issue: a refusal when there is none or another session has it. */
bool find_run(struct app *a, const char *operand, struct run_look *ret, struct report *r);
/* The same, whichever session has it: for a program of the run itself. */
bool find_any_run(struct app *a, const char *operand, struct run_look *ret, struct report *r);
/* The current generation of that very id. */
bool find_id(struct app *a, struct str id, struct run_look *ret, struct report *r);
/* What `look` shows, looked at again. False with an issue: a refusal when it is gone; else it
 * cannot be looked at now. */
bool find_again(struct app *a, const struct run_look *look, struct run_look *ret, struct report *r);
/* Refuses what can be done with the current generation only. False with an issue. */
bool find_is_current(const struct run_look *look, const char *doing, struct report *r);

/* Warns, once in a report, that there is no ledger although there are runs: these are found without
 * it. */
void find_tell_missing(struct app *a, struct report *r);

/* Whether its process is a host's own: it gets orders through orders.h and not by signals. */
bool look_embedded(const struct run_look *look);
