#pragma once

#include "app/catalog/plan-steps.h"
#include "data/mask.h"

struct json_out;
struct plan_away;

/* Every command that would run, in order. */
void planned_walk(
	const struct plan *p, const struct planned_host *host, walk_fn *visit, void *data);
/* The document of a plan: {"argv":[…],"leaves":[…]} with the first 100000 commands, and "truncated"
 * when there are more. Nothing is executed. The texts of `mask`, which may be NULL, are not shown.
 * `away` says where commands go; NULL: that is not asked. False with issues. */
bool planned_json(const struct plan *p, const struct planned_host *host, struct mask *mask,
	struct plan_away *away, struct json_out *o, struct report *r);
