#pragma once

#include "runs/look/look.h"

/* What becomes of ended runs (docs/runs.md, "Tidy up"). Nothing is deleted unasked. */

/* Moves the run's directory to archived/ID-TIME; a tombstone stays in its place. *ret_path is where
 * it is now, in the arena of the look. Refused (false, *busy set, no issue) when it is live. */
bool retention_archive(struct str root, struct ledger *l, struct run_look *look,
	struct str *ret_path, bool *busy, struct report *r);

/* Deletes what a run that has been deleted has outside its directory. What stays is a warning. */
typedef void retention_outside_fn(const struct run_look *look, struct report *r);

/* Deletes the run. With `preserve` (name → path of an artifact, as it can be opened) existing
 * artifacts are first copied to preserved-artifacts/ID/, never over anything; *ret_preserved is
 * then name → where it is now, a new reference. A failure to copy, or to write the ledger for
 * another reason than a full disk, leaves everything as it was. */
bool retention_prune(struct str root, struct ledger *l, struct run_look *look,
	const json_t *preserve, json_t **ret_preserved, bool *busy, retention_outside_fn *outside,
	struct report *r);

/* The ledger cannot forget it, which is `why`, so the run is left as it was. */
void retention_refuse(struct run_look *look, struct report *why, struct report *r);

/* Its files are gone (`whole`: those of all its generations), and the ledger is to forget it. False
 * with an issue that says both. */
bool retention_forget(struct ledger *l, struct run_look *look, bool whole, struct report *r);

/* The same for a ledger that cannot be opened, which is `why`. */
void retention_unforgotten(struct run_look *look, struct report *why, struct report *r);

/* Which runs go, each generation counted as one. */
struct retention_limits {
	/* `[retention]` of the settings; 0: no limit. */
	uint64_t max_age_days, max_runs;
	/* What was asked for, in place of these: ended that long ago, with one of these statuses.
	 */
	uint64_t older_ms;
	struct str status;
};

/* Whether there is a limit at all. */
bool retention_is_limited(const struct retention_limits *limits);
/* What they choose from when the ledger lacks some, or there is none: all runs, the newest first.
 */
struct retention_runs {
	const struct run_row *at;
	size_t count;
};

/* Calls `see` with every run past the limits, the newest first, of `all` or when that is NULL of
 * the ledger. Those of the settings are about runs that are done, partial or cancelled: too old, or
 * more than max_runs of them. One with failures goes only when `status` says "failed". Without
 * limits there is none. */
bool retention_due(struct ledger *l, const struct retention_runs *all,
	const struct retention_limits *limits, uint64_t now_ms,
	bool (*see)(void *data, const struct run_row *row), void *data, struct report *r);
/* Deletes them; `l` may be NULL when `all` is given. Returns how many went; what could not be
 * deleted is an issue. */
size_t retention_sweep(struct str root, struct ledger *l, const struct retention_runs *all,
	const struct retention_limits *limits, uint64_t now_ms, retention_outside_fn *outside,
	struct report *r);
