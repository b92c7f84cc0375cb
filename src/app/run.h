#pragma once

#include "app/context.h"
#include "recipe/recipe.h"
#include "runs/dir/run-dir.h"

/* The name of a run and the values that come with it. */

/* The same names, standing for themselves: nobody knows them before a run. Those given stay; NULL:
 * none. */
void run_add_unknown_values(json_t *values);
/* Adds run_id, state_dir, actor_address, default_room and communication_file, which win over
 * others. */
void run_add_values(json_t *values, struct str id, struct str dir);
