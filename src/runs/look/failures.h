#pragma once

#include "data/json.h"

/* The failures of a run that has no result (yet), as the result document would list them, from its
 * events: every attempt of a command that failed before the run's end was asked for. An array, a
 * new reference. At most 1000; *ret_total counts all. */
json_t *run_failures(const char *dir, uint64_t *ret_total);
