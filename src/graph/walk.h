#pragma once

#include "graph/plan.h"

/* The node that calls the recipe that another stands in. */
struct walk_call {
	const struct node *node;
	const struct walk_call *up; /* of the recipe of that node; NULL: it is the first */
};

/* A command that would run, with everything about it resolved. Borrowed until the visitor returns.
 */
struct walk_leaf {
	const struct node *node;
	struct str path;
	const char *const *argv; /* NULL-terminated */
	size_t argc;
	uint64_t timeout_ms;
	const char *cwd;                /* where it runs; NULL: where the run does */
	const struct walk_call *within; /* NULL: it is of the first recipe */
	/* Of a step recipe that the node imports: what it begins with. Then there is no argv. */
	const json_t *passed;
	/* Of a step recipe: */
	struct str note; /* what cannot be known before, for people; without argv it is all */
};

/* False ends the walk. */
typedef bool walk_fn(void *data, const struct walk_leaf *leaf);

/* Every command in tree order; skipped nodes and recoveries left out. The visitor's false, or an
 * issue, makes it return false. */
bool plan_walk(const struct plan *p, walk_fn *visit, void *data, struct report *r);

/* Resolves everything that a run would, so that it cannot fail on a template error later. Copies
 * that cannot differ are looked at once; beyond WALK_COPIES_MAX visits only the first copy of each
 * repeat is. */
bool plan_check(const struct plan *p, struct report *r);

enum { WALK_COPIES_MAX = 1 << 20 };
