#pragma once

#include "base/report.h"
#include "base/vec.h"

/* What needs attention. In order of severity. */
enum finding_kind {
	FINDING_NO_RUNS,
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
	FINDING_UNTRUSTED,
	FINDING_EXITED,
	FINDING_LOCAL,
	FINDING_AGENT,
};

/* Its texts live in the arena of the examination, or for ever. */
struct finding {
	enum finding_kind kind;
	struct str id, path, message;
	struct str advice;                          /* what to do; may be empty */
	struct issue_action actions[ISSUE_ACTIONS]; /* more of it, for the host to word */
	/* Of a mistake in a recipe: others that import it. The first of them by name, and all. */
	struct str broken;
	size_t broken_count;
};

/* What was looked at, for people, and what could be done about it. */
struct checked {
	struct str what;
	struct issue_action actions[ISSUE_ACTIONS];
};

struct app;

struct examination {
	struct app *app;
	struct arena arena;
	VEC(struct finding) findings;
	VEC(struct checked) checked;
	size_t recipes;
	const struct json_t *trusted; /* what is trusted among the project's; NULL: nothing */
};

void checked(struct examination *x, struct str what, enum action next);
/* The finding gets the hint and the actions of an issue, or `otherwise`. */
void finding_advise(
	struct examination *x, struct finding *f, const struct issue *i, struct str otherwise);

/* The settings and the configuration of prompts. */
void doctor_config(struct examination *x);
/* The ledger, runs that ended without a result, and what was left behind. */
void doctor_runs(struct examination *x);
