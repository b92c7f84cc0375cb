#pragma once

#include "base/buf.h"
#include "steps/read/recipe.h"

/* The steps of a recipe for people: stages, types, conditions and loops, a line each. */
void steps_text(const struct step_recipe *recipe, struct buf *b);
