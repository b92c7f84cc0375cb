#pragma once

#include "data/mask.h"
#include "recipe/recipe.h"

/* The recipe context bundle: what a child agent learns about the recipe that launched it. */
struct bundle;

/* NULL when the recipe opted out. The recipe must outlive it. Secrets that stand in a recipe, as
 * defaults for example, are masked: `m` may be NULL. */
struct bundle *bundle_new(const struct recipe *recipe, struct mask *m);
void bundle_free(struct bundle *b);
/* How many records it has, and all of them, one a line. */
size_t bundle_count(const struct bundle *b);
void bundle_write(const struct bundle *b, struct buf *ret);

/* The arguments of a command with the bundle behind its prompt, in the arena; `argv` itself when
 * the command is not a prompt launch. `origin` is the recipe that its node was written in. */
const char *const *bundle_arguments(const struct bundle *b, const struct origin *origin,
	const char *const *argv, size_t argc, struct arena *a);
