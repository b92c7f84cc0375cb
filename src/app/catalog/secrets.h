#pragma once

#include "data/mask.h"
#include "graph/plan.h"
#include "recipe/recipe.h"

/* Adds the texts of the values that `names`, an array, lists: as they are given in `values`, as the
 * recipe and those it imports, or the template, write them down, in placeholders too, and as they
 * are bound at the nodes of the plan. All but `m` may be NULL. */
void secrets_collect(struct mask *m, const json_t *names, const json_t *values,
	const struct recipe *recipe, const struct plan *plan);

/* The names that a recipe declares as secret, or without one the template: a new reference. */
json_t *secrets_declared(const struct recipe *recipe, const struct graph *g);
/* The texts of these, with these values: NULL when there is none. The caller ends it with
 * mask_free(). All but `g` may be NULL. */
struct mask *recipe_mask(const struct recipe *recipe, const struct graph *g, const json_t *values);
/* plan_new() for a recipe, which may be NULL: what is wrong with a secret is reported without it.
 */
struct plan *secrets_plan_new(
	struct graph *g, const struct recipe *recipe, json_t *values, struct report *r);
/* graph_read(): what is wrong with a template is reported without the secrets that it declares. */
struct graph *secrets_graph_read(
	struct str name, struct str text, enum dialect d, struct report *r);
/* The same for the issues of a recipe that could not be opened, as far as its files can be read.
 * `text` is what the first of them has; without one it is read from `path`. */
void secrets_hide_written(
	const struct recipe_dirs *dirs, struct str path, struct str text, struct report *r);
/* The names that it declares, as members of an object: a new reference. */
json_t *recipe_secret_members(const struct recipe *recipe);
