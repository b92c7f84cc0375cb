#pragma once

#include "recipe/recipe.h"

/* What can be asked about recipes, as documents and as text. */

/* Every recipe by id: active, shadowed, invalid, disabled, usage. A directory that cannot be read
 * is an issue in `r`; the others are listed all the same. */
void recipes_list(const struct recipe_dirs *dirs, bool json, struct buf *b, struct report *r);
/* The ids alone, one a line, for completion: without those that are not fit for a terminal. */
void recipes_ids(const struct recipe_dirs *dirs, struct buf *b);
/* The arguments of the first recipe among the words of a command line, for completion: `name=`, or
 * `name=value` for each value where there are few. */
void recipes_argument_words(
	const struct recipe_dirs *dirs, size_t count, const char *const *words, struct buf *b);
/* Only the tools: the active recipes of the user's directory. */
void recipes_tools(const struct recipe_dirs *dirs, bool json, struct buf *b, struct report *r);

/* One recipe resolved. */
void recipes_show(const struct recipe *recipe, bool json, struct buf *b);
/* Its usage line and arguments, like a command of its own. */
void recipes_help(const struct recipe *recipe, struct buf *b);

/* What needs attention, the worst first: one next action, then the rest. Returns how many errors
 * and warnings there are. */
size_t recipes_doctor(const struct recipe_dirs *dirs, bool json, struct buf *b);
/* Checks every recipe: all issues into `r`. */
struct steps_check;
void recipes_check(
	const struct recipe_dirs *dirs, const struct steps_check *steps, struct report *r);
