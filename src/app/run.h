#pragma once

#include "data/json.h"

/* The name of a run and the values that come with it. */

/* Binds each of those names to its own placeholder, for a plan that is made before a run exists.
 * Those given stay; NULL: none. */
void run_add_unknown_values(json_t *values);
/* Adds run_id, state_dir, actor_address, default_room and communication_file, which win over
 * others. */
void run_add_values(json_t *values, struct str id, struct str dir);
