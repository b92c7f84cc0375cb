#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"

/* A failed attempt of a command. */
struct failure {
	struct str path, label, item, command;
	int code, signal;
	bool timeout, tolerated;
	bool overcome;   /* a later attempt of it, or of a group around it, succeeded */
	struct str host; /* of the machine that ran it; empty: this one */
	bool lost;       /* the machine that ran it is gone */
	uint64_t attempt;
	struct str err; /* the end of its standard error, or why it could not start */
	struct str out; /* the end of its standard output, for people */
};

/* How many commands a run, or a part of it, has whose last attempt failed: those that were not to
 * fail, and those whose author asked to continue. One that succeeded in a later attempt, its own or
 * that of a group around it, is in neither. */
struct tally {
	uint64_t failed, tolerated;
};

static inline void tally_add(struct tally *t, struct tally more)
{
	t->failed += more.failed;
	t->tolerated += more.tolerated;
}

static inline void tally_take(struct tally *t, struct tally less)
{
	t->failed -= less.failed;
	t->tolerated -= less.tolerated;
}

/* Of one failed command. */
static inline struct tally tally_one(bool tolerated)
{
	return (struct tally){ .failed = !tolerated, .tolerated = tolerated };
}

enum { FAILURES_KEPT = 1000, FAILURE_TEXT_MAX = 4096, FAILURES_LATEST = 4096 };

/* All failures of a run: the first ones in full, the number of all. Of the latest the path is
 * enough: one of them may be what failed the run. */
struct failures {
	struct arena arena;
	VEC(struct failure) kept;
	struct buf
		*latest; /* a ring of paths, by number; NULL until there is one that is not kept */
	uint64_t total;
	struct tally tally; /* as things stand now; frames take back what is tried again */
	struct str only;    /* the one node that the run is about; empty: there is none */
	uint64_t elsewhere; /* those that are not in it: of results that were taken over */
};

/* Copies everything, and counts it. */
void failures_add(struct failures *f, const struct failure *failure);
/* An attempt of the node at `path` has succeeded that began after `before` failures: those of them
 * that were its own are tolerated. */
void failures_tolerate(struct failures *f, struct str path, uint64_t before);
/* The path of the failure with that number, from 1; empty when it is long ago. */
struct str failures_path(const struct failures *f, uint64_t number);
/* Leaves out what was not in the one node that the run is about, whose tally is given. */
void failures_keep_only(struct failures *f, struct tally tally);
void failures_done(struct failures *f);
