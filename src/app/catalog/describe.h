#pragma once

#include "app/recipes.h"
#include "recipe/arguments.h"

/* Name, `required`, `list` and `path`; the rest is empty. */
struct recipe_argument argument_in_short(const struct public_argument *arg);
