#pragma once

#include "app/record/execution.h"
#include "app/record/launch.h"
#include "runs/dir/leaves.h"

/* Writes a run down as it happens: listens at the one door for events and is the engine's recorder.
 * Everything it writes is plain text in the run's directory. */
struct record;

/* Opens the files. `before` is what an earlier execution of the same generation has left, or NULL;
 * it is taken. NULL with an issue added. */
struct record *record_open(
	struct launch *l, struct loop *loop, struct leaves *before, struct report *r);
/* Of a resume: the result of the time before makes room for the new one. It is what the run has
 * come to until then, so that this is done when nothing else can keep it from beginning. False with
 * an issue: the result stays. */
bool record_put_away(struct record *rec, struct report *r);
/* Closes the files; what was written stays. */
void record_free(struct record *rec);

/* The run is one of a step recipe, whose state is written too. */
struct steps_run;
void record_steps(struct record *rec, const struct steps_run *steps);
/* What the record may not show of what roux says; borrowed, may be NULL. Events come masked. */
void record_hide(struct record *rec, struct mask *m);
/* Writes what readers look for and the first command does not need, and makes files for what the
 * end writes: call it when that command runs. Nothing happens when that was done at once. */
void record_settle(struct record *rec);
/* Stops the mailbox; the record can still be read until record_free(). */
void record_rest(struct record *rec);
/* A sender has put a message into the inbox. */
void record_ring(struct record *rec);
/* Borrowed: it is part of the record. */
struct recorder *record_recorder(struct record *rec);
/* What has happened so far is in events.jsonl then. */
void record_flush(struct record *rec);
/* How many events there were before. */
uint64_t record_seq(const struct record *rec);
void record_event(struct record *rec, struct run *run, const struct event *e);

/* The run has ended: progress and result, in that order, and its row is filled. The
 * ledger may have to be waited for, and comes after (launch_tell_end()). False: something of
 * it could not be written; the first such thing is added to `r`, unless the run has ended for it.
 */
bool record_finish(struct record *rec, const struct execution *x, struct report *r);
