#pragma once

#include "runs/ledger/ledger.h"

struct look_kept;

/* The state of a run at one moment: its status, whether it is alive, and what its files say. It
 * comes from its lock, its directory and its row in the ledger, in this order of trust. A look is a
 * copy: what happens later it does not know. */
struct run_look {
	struct str id;  /* as it is called: ID, or ID~1 of an earlier generation */
	struct str run; /* ID in any case */
	uint64_t back;  /* how many generations before the current one it is */
	struct str dir, generation;
	struct str status;  /* a name of base/run-status.h */
	bool live;          /* its supervisor is there, or it is being started */
	struct run_row row; /* of the ledger, or as the directory tells it */
	bool in_ledger;
	bool begun; /* its supervisor has taken over: run.json or the ledger says so */
	bool named; /* the row names that supervisor, and not only the process that starts it */
	/* The gate that it waited at was denied: that is its end, though the result says paused. */
	bool denied;
	struct str denial; /* one sentence about that */
	/* The files; NULL: not there, or broken, or of an earlier generation. */
	json_t *start, *progress, *result;
	json_t *gates;          /* of a run that is paused or denied: gates.json; may be NULL */
	int unread;             /* errno: one of them is there, or may be, and could not be read */
	const char *unusable;   /* the last of them that is there and could not be used, or NULL */
	struct look_kept *kept; /* where results are found that were read before; may be NULL */
	struct arena arena;
};

/* Looks at the run `id`; `l` may be NULL. An end that its supervisor did not write down is written
 * into progress.json and the ledger. Files that cannot be understood are warnings. False: there is
 * no such run (no issue), or it cannot be looked at (with one). */
bool look_at(
	struct str root, struct ledger *l, struct str id, struct run_look *ret, struct report *r);
/* The same, with results that were read before (runs/look/kept.h); `kept` may be NULL. */
bool look_with(struct str root, struct ledger *l, struct look_kept *kept, struct str id,
	struct run_look *ret, struct report *r);
/* The same of an earlier generation (runs/dir/generations.h): the one before the current when
 * `back` is 1. It is not live, and nothing is written. */
bool look_back(
	struct str root, struct str id, uint64_t back, struct run_look *ret, struct report *r);
void look_done(struct run_look *look);

#define AUTO_LOOK __attribute__((cleanup(look_done))) struct run_look

/* What a directory alone says: the row that the ledger should have, of the current generation when
 * `back` is 0. Its id is the plain one. Status `running` only when the lock is held or its
 * process is there. False when there is no such generation, or it is not the directory of a run.
 * Texts live in the arena. */
bool look_row(struct str root, struct str id, uint64_t back, struct arena *a, struct run_row *ret,
	struct report *r);
/* The same of all generations, the newest first. False: there is none. */
typedef void look_row_fn(void *data, const struct run_row *row);
bool look_rows(struct str root, struct str id, struct arena *a, look_row_fn *see, void *data,
	struct report *r);
/* Whether a directory without run.json is that of a run all the same. */
bool look_is_run(const char *dir);
/* Calls `see` with the name of everything below runs/ that is a directory and could be a run, in no
 * order. -errno; a missing runs/ is 0. */
int look_each_directory(struct str root, bool (*see)(void *data, struct str id), void *data);

/* A pidfd of the process that the row names, as identity_open() gives it. */
int look_supervisor(const struct run_row *row);
/* Whether the run has no result and the process that its run.json names, which is its alone, is
 * still there: it lives then, whatever became of its lock. Waits a moment for one that ends. What
 * cannot be found out is left to the lock. */
bool look_is_supervised(const struct run_look *look);
/* The same of the run in a directory that was not looked at. */
bool look_supervises(const char *dir);
/* Milliseconds since 1970 of a time as clock_rfc3339() writes it; 0: none. */
uint64_t look_time(const json_t *text);
