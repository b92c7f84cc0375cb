#pragma once

#include "base/arena.h"
#include "base/vec.h"

/* What needs attention. In order of severity. */
enum finding_kind {
	FINDING_LEDGER,
	FINDING_BLOCKING_INVALID,
	FINDING_INVALID,
	FINDING_UNREADABLE,
	FINDING_BLOCKING_DISABLED,
	FINDING_WRITABLE,
	FINDING_RUN,
	FINDING_RISK,
	FINDING_DISABLED,
	FINDING_SHADOWED,
	FINDING_EXITED,
};

struct finding {
	enum finding_kind kind;
	struct str id, path, message, action;
};

struct examination {
	struct arena arena;
	VEC(struct finding) findings;
};

/* The ledger, runs that died without a word, and what was left behind. */
void doctor_runs(struct examination *x);
