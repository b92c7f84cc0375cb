#pragma once

#include "app/context/context.h"

/* Deletes what is past the limits of [retention], silently: a run has ended. `ledger` may be NULL.
 */
void retire_after_run(struct app *a, struct ledger *ledger);
