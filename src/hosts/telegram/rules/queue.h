#pragma once

#include "base/queue-item.h"

/* In which order turns that wait are taken: by lane, then by place in the lane, then by arrival.
 * The ledger keeps that order; here is where a turn stands in it. */

enum lane { LANE_CONTROL, LANE_PRIORITY, LANE_DEFAULT };

/* What is done with a turn, and where it then stands. */
enum lane_move {
	MOVE_ARRIVE,   /* an ordinary message */
	MOVE_PROMOTE,  /* behind those that were promoted before */
	MOVE_DEMOTE,   /* to its place by arrival */
	MOVE_CONTINUE, /* /continue: before every promoted one, behind earlier ones of its kind */
	MOVE_CONTROL,  /* what settles before anything else is taken */
};

/* The lane and the place in it, for the ledger. */
enum lane move_lane(enum lane_move move);
enum queue_place move_place(enum lane_move move);
/* Whether a turn of that lane can be moved so; one of the control lane stays there. Promoting again
 * takes a new place. */
bool move_allowed(enum lane_move move, enum lane lane);

/* -- may the next one start?
 * -------------------------------------------------------------------------
 */

struct dispatch_facts {
	bool compacting;
	bool running;  /* a turn, one at a gate included */
	bool starting; /* one is about to */
	bool idle;     /* the agent does nothing else */
	bool pending;  /* something of the agent's own waits */
	bool lost;     /* the lock is another process's */
	bool held;     /* by /abort */
};

bool dispatch_allowed(const struct dispatch_facts *f);
