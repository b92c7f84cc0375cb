#pragma once

#include "app/launch/past-calls.h"
#include "base/map.h"
#include "runs/dir/leaves.h"
#include "runs/look/look.h"

/* Which nodes of an ended run are to run again, and which of its records hold: everything below a
 * node that runs again does not, nor does what comes after it in a sequence or in a loop that goes
 * round by round. */

struct redo {
	struct arena arena;
	struct called *called; /* the way to nodes, also through calls; borrowed */
	bool whole;            /* nothing holds */
	struct map again;      /* path of a node that runs again → struct redo_node */
	struct map above;      /* paths of the groups around them → anything */
	struct map later;      /* path of a sequence → uint64_t: what comes behind that child */
};

/* Why a node runs again. */
struct redo_node {
	bool failed, timeout;
	int code;
};

void redo_init(struct redo *d, struct called *called);
void redo_done(struct redo *d);

/* Adds one node, or the nearest around it that can be found; NULL: it was asked for. */
void redo_add(struct redo *d, struct str path, const struct redo_node *why);
/* Adds every command that failed and was not tolerated. A group that failed in all its attempts is
 * added whole. `look` has the result, if there is one. */
void redo_add_failed(struct redo *d, const struct run_look *look, const struct leaves *leaves);

/* What the failure of `failed`, which had ended the run, means for the node at `path`, which runs
 * again. */
enum redo_reach {
	REDO_REACHES, /* nothing: it runs again itself, or does not come before that */
	REDO_PASSES,  /* it comes before it in a sequence, and has to be passed over */
	REDO_CUT_OFF, /* the same, but there is more behind it that was not reached either */
};
enum redo_reach redo_reach(const struct redo *d, struct str path, struct str failed);

/* Whether what is recorded of the node at `path` still holds. */
bool redo_holds(const struct redo *d, struct str path);
/* Whether nothing below `path` runs again either. */
bool redo_holds_all(const struct redo *d, struct str path);
/* Why the node at `path`, or one around it, runs again; NULL: only because of another, or it does
 * not. */
const struct redo_node *redo_why(const struct redo *d, struct str path);
