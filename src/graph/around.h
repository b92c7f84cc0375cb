#pragma once

#include "graph/node.h"

/* What `cwd` and `env` of a command and of the nodes around it say. */
struct around {
	const char *cwd;        /* as written, resolved; NULL: where the run is */
	const char *const *env; /* NAME=VALUE, NULL-terminated; NULL: none */
};

/* `tty`, `needs` and `runs_on`. */
struct members;
void machine_read(struct arena *a, struct node *n, const struct members *m, struct report *r);
/* Reads the two fields and `quorum`; issues are added to `r`. `value` is of a type that the
 * field takes. */
const struct text *cwd_read(struct arena *a, const struct place *place, const json_t *value,
	enum dialect d, struct report *r);
bool env_read(struct arena *a, const struct place *place, const json_t *value, enum dialect d,
	struct node *n, struct report *r);
bool quorum_read(
	const struct place *place, const json_t *value, struct quorum *ret, struct report *r);
/* How many of `count` branches must succeed. */
uint64_t quorum_needs(const struct quorum *q, uint64_t count);

/* Resolved against the scope of the command; everything is in the arena. False with issues. */
bool around_build(const struct node *command, const struct scope *s, struct arena *a,
	struct around *ret, struct report *r);
