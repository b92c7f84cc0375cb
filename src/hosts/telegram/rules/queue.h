#pragma once

#include "base/queue-item.h"

/* In which order turns that wait are taken: by lane, then by place in the lane, then by arrival. */

enum lane { LANE_CONTROL, LANE_PRIORITY, LANE_DEFAULT };

enum waiting_kind { WAITING_PROMPT, WAITING_CONTROL };

/* A place in the queue as two numbers. The ledger keeps them; base/queue-item.h has its words for
 * what the functions below do with them. */
struct order {
	enum lane lane;
	int64_t lane_order;
	int64_t arrival;
};

/* Below 0, 0 or above 0. */
int order_compare(const struct order *a, const struct order *b);

/* A control item belongs into the control lane, and nowhere else. */
bool lane_admits(enum lane lane, enum waiting_kind kind);

/* What is done with a turn, and where it then stands. */
enum lane_move {
	MOVE_ARRIVE,   /* an ordinary message */
	MOVE_PROMOTE,  /* behind those that were promoted before */
	MOVE_DEMOTE,   /* to its place by arrival */
	MOVE_CONTINUE, /* /continue: before every promoted one, behind earlier ones of its kind */
	MOVE_CONTROL,
};

/* The lane and the place in it, for the ledger. */
enum lane move_lane(enum lane_move move);
enum queue_place move_place(enum lane_move move);
/* As numbers: `counter` counts moves of that kind from 0. */
struct order move_order(enum lane_move move, int64_t arrival, int64_t counter);
/* Whether a turn of that kind in that lane can be moved so. Promoting again takes a new number. */
bool move_allowed(enum lane_move move, enum lane lane, enum waiting_kind kind);

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
