#pragma once

#include "base/report.h"
#include "data/json.h"

struct app;

/* What needs attention in the recipes, their directories, the configuration, the ledger and the
 * runs: {"ok", "findings": [{"severity","id","path","message","action"}], "checked": […]}, the
 * worst first; `words` are the host's for what to do. `ok` is false when a finding is an error or a
 * warning. A new reference. */
json_t *doctor_document(struct app *a, const action_words words);

/* Whether an executor works, NAME or NAME:CLASS: {"ok", "on", "checks": [{"hop","ok","message"}]},
 * in the order in which a command comes by the hops. `try_it`: one worker of a minute is asked for,
 * used and ended. A new reference; NULL with issues: there is no such executor. */
json_t *doctor_executor(struct app *a, const char *on, bool try_it, struct report *r);
