#pragma once

#include "base/str.h"

/* The names in a step recipe. */

/* Of a variable: letters, digits and underscores, not all of them underscores. */
bool name_of_variable(struct str s);
/* Kept for the engine. `result`: what a step stores may not be called `stage` either. */
bool name_reserved(struct str s, bool result);
/* Of a recipe: letters, digits, '-' and '_'; of a stage also spaces. Not only of the latter. */
bool name_of_recipe(struct str s);
bool name_of_stage(struct str s);
/* N.N.N */
bool name_of_version(struct str s);
/* Of an environment variable. */
bool name_of_environment(struct str s);
/* Nothing, or white space. */
bool name_blank(struct str s);
