#pragma once

#include "app/runs.h"

/* The commands of a run and what became of them, from its events: an array of {"path","label",
 * "state","code","ms"}, a new reference. */
json_t *run_steps(struct run_handle *h);
