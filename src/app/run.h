#pragma once

#include "app/context.h"
#include "recipe/recipe.h"

/* The name of a run and the values that come with it. */

/* A run's id is made of letters, digits, _ . and -. False with an issue. */
bool run_id_check(const char *id, struct report *r);
/* For an attached start: the name, the time and a few random digits. */
void run_id_make(struct str name, struct buf *b);
/* The run's directory: <state root>/runs/<id>. */
void run_dir(const struct recipe_dirs *dirs, struct str id, struct buf *b);
/* The same names, standing for themselves: nobody knows them before a run. Those given stay; NULL:
 * none. */
void run_add_unknown_values(json_t *values);
/* Adds run_id, state_dir, actor_address, default_room and communication_file, which win over
 * others. */
void run_add_values(json_t *values, struct str id, struct str dir);
