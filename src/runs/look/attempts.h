#pragma once

#include "data/json.h"

/* The failures of a run that has no result (yet), as the result document would list them, from its
 * events: every attempt of a command that failed before anybody asked for the end. An array, a new
 * reference. At most 1000; *total counts all. */
json_t *attempts_failed(const char *dir, uint64_t *total);
