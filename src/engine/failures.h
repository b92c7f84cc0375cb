#pragma once

#include "base/arena.h"
#include "base/vec.h"

/* A failed attempt of a command. */
struct failure {
	struct str path, label, command;
	int code, signal;
	bool timeout, tolerated;
	uint64_t attempt;
	struct str err; /* the end of its standard error, or why it could not start */
	struct str out; /* the end of its standard output, for people */
};

enum { FAILURES_KEPT = 1000, FAILURE_TEXT_MAX = 4096 };

/* All failures of a run: the first ones in full, the number of all. */
struct failures {
	struct arena arena;
	VEC(struct failure) kept;
	uint64_t total;
};

/* Copies everything. */
void failures_add(struct failures *f, const struct failure *failure);
/* A later attempt of the node at `path` has succeeded: what failed in it before is tolerated. */
void failures_tolerate(struct failures *f, struct str path);
void failures_done(struct failures *f);
