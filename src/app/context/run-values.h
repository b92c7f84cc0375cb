#pragma once

#include "data/json.h"

/* The values that every recorded run has. */

/* Binds each of those names to its own placeholder, for a plan that is made before a run exists.
 * Those given stay. `values` may be NULL. */
void run_add_unknown_values(json_t *values);
/* Adds run_id, state_dir, actor_address, default_room and communication_file, which win over
 * others. */
void run_add_values(json_t *values, struct str id, struct str dir);
/* Whether a text may name one of them, or what else tells a command which run it is in. */
bool run_values_in(struct str text);
