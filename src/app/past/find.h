#pragma once

#include "app/context/context.h"
#include "runs/dir/refusal.h"
#include "runs/look/look.h"

/* The run that an operand names (ID or run:ID), looked at now, when the caller may. False with an
 * issue: a refusal when there is none or another session has it. */
bool find_run(struct app *a, const char *operand, struct run_look *ret, struct report *r);
/* The same, whichever session has it: for a program of the run itself. */
bool find_any_run(struct app *a, const char *operand, struct run_look *ret, struct report *r);
/* Whether its process is a host's own: it is told through orders.h and not by signals. */
bool look_embedded(const struct run_look *look);
