#pragma once

#include "base/buf.h"
#include "base/str.h"
#include "roux/roux.h"

/* The statuses of a run: one table, and everything that knows something about a status asks it. It
 * stands in `base` because the engine names statuses in events, `runs` keeps them as text in the
 * ledger and in result.json, and `render` colours them: `base` is the only module that all three
 * may use. */

/* What a resume finds. */
enum status_rest {
	STATUS_LIVE,      /* it has not ended */
	STATUS_COMPLETE,  /* it came to its end: a resume tells the same result again */
	STATUS_AT_GATE,   /* it waits for an approval */
	STATUS_BROKEN,    /* something in it failed: a resume does that again */
	STATUS_CUT_SHORT, /* it was stopped from outside; nothing in it failed: a resume continues
			     it */
	STATUS_NEVER,     /* it was not started, so nothing is recorded under this status */
};

/* What a row of the ledger and progress.json say between the claim of a name and `running`. It is
 * not a status that a run is shown with, so status_read() does not know it. */
#define STATUS_STARTING "starting"

/* How many there are, from 0. */
extern const size_t status_count;

/* As it stands in files and documents. */
const char *status_name(enum roux_status s);
struct str status_str(enum roux_status s);
/* False: it is not the name of a status, and *ret is as it was. */
bool status_read(struct str name, enum roux_status *ret);
/* Whether the name is that of `s`. */
bool status_is(struct str name, enum roux_status s);

/* `ok` of the documents. */
bool status_ok(enum roux_status s);
/* The exit status of a command whose run has this status. */
int status_exit(enum roux_status s);
/* The same of a run in which that many commands ended as failures, and which that signal has
 * cancelled; 0: its end was asked for otherwise, or not at all. */
int status_exit_after(enum roux_status s, uint64_t failed, int signal);
enum status_rest status_rest(enum roux_status s);
/* The event that asked for this end: "run.cancel", "run.kill"; empty: the end was not asked for. */
struct str status_asked_by(enum roux_status s);
/* The status with what it leaves out: "done, 2 failed", "done, 1 tolerated". `failed` is said of
 * every status but that one; tolerated failures only where nothing else has failed. */
void status_phrase(struct buf *b, struct str status, uint64_t failed, uint64_t tolerated);
/* Whether a limit of [retention] may delete runs with this status. */
bool status_expires(enum roux_status s);

/* Whether `name` is one of `names`, which have commas between them. */
bool status_listed(struct str names, struct str name);

/* The same of a name that was read; one that is not known is in no state and has not ended. */
bool status_is_end(struct str name);
bool status_rests(struct str name, enum status_rest rest);
