#pragma once

#include "data/json.h"
#include "loop/loop.h"

struct answer_plan;
struct bridge;

/* Answers on their way to the chat. Each is in the ledger before anything of it is sent, with what
 * of it was sent already, and is continued after a restart: every one arrives, in order.
 *
 *   kind       "answer" (Markdown with marks), "error", "aborted", "line", "push"
 *   chat, reply, text
 *   run        the run that has the text in its record, because it is large
 *   preview    the message that becomes its first part
 *   shown      what that message says, for one that is marked as ended
 *   files      paths, or artifacts: {run, artifact, path as it is shown}
 *   notice     say so when there is no text
 *   again      the turn that a button runs once more
 *   steps, at  what is sent, and how far that is; made when the delivery begins
 */
struct deliveries {
	json_t *keys; /* of those that are in the ledger, in order */
	json_t *now;  /* the one that is being sent */
	json_t *stepping;
	struct answer_plan *plan; /* of `now`, while handlers work on it */
	struct timer again;
	bool busy, waiting; /* waiting: for the service, or for the person */
	bool lost;          /* the step was sent and may have arrived; it is sent once more */
};

void deliver_start(struct bridge *b);
void deliver_stop(struct bridge *b);
/* In a batch of the ledger or not. Borrowed. */
bool deliver_add(struct bridge *b, const json_t *delivery);
/* Sends what is there, unless it waits. */
void deliver_run(struct bridge *b);
/* The person has written: also what waits is tried. */
void deliver_again(struct bridge *b);
