#pragma once

#include "app/catalog/plan-steps.h"
#include "data/mask.h"

struct json_out;
struct plan_away;
struct recipe_ref;

/* Every command that would run, in order. */
void planned_walk(
	const struct plan *p, const struct planned_host *host, walk_fn *visit, void *data);
/* Whether steps of it call other recipes. */
bool planned_calls(const struct plan *p);
/* Adds the texts that are secret in the recipes which steps of the plan call, as far as the first
 * `most` nodes tell them. */
void planned_secrets(
	const struct plan *p, const struct planned_host *host, size_t most, struct mask *m);
/* What a plan of the recipe may not show: NULL when that is nothing. The caller ends it with
 * mask_free(). */
struct mask *planned_mask(
	const struct recipe_ref *ref, const struct plan *p, const struct planned_host *host);
/* The document of a plan: {"argv":[…],"leaves":[…]} with the first 100000 commands, and "truncated"
 * when there are more. Nothing is executed. The texts of `mask`, which may be NULL, are not shown.
 * `away` says where commands go; NULL: that is not asked. False with issues. */
bool planned_json(const struct plan *p, const struct planned_host *host, struct mask *mask,
	struct plan_away *away, struct json_out *o, struct report *r);
