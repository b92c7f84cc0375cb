#pragma once

#include "base/arena.h"
#include "base/vec.h"

/* What needs attention. In order of severity. */
enum finding_kind {
	FINDING_LEDGER,
	FINDING_CONFIG,
	FINDING_BLOCKING_INVALID,
	FINDING_INVALID,
	FINDING_UNREADABLE,
	FINDING_BLOCKING_DISABLED,
	FINDING_WRITABLE,
	FINDING_RUN,
	FINDING_DOUBTFUL_CONFIG,
	FINDING_RISK,
	FINDING_DISABLED,
	FINDING_SHADOWED,
	FINDING_EXITED,
	FINDING_LOCAL,
};

struct finding {
	enum finding_kind kind;
	struct str id, path, message, action;
};

struct app;

struct examination {
	struct app *app;
	struct arena arena;
	VEC(struct finding) findings;
	VEC(struct str) checked; /* what was looked at, for people */
	size_t recipes;
};

/* The settings and the configuration of prompts. */
void doctor_config(struct examination *x);
/* The ledger, runs that ended without a result, and what was left behind. */
void doctor_runs(struct examination *x);
