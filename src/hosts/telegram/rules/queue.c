#include "hosts/telegram/rules/queue.h"

#include "base/lang.h"

/* /continue stands before all that were promoted: their numbers begin at 0. */
static const int64_t BEFORE_ALL = 9007199254740991;

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

int order_compare(const struct order *a, const struct order *b)
{
	int order = compare(a->lane, b->lane);

	if (!order)
		order = compare(a->lane_order, b->lane_order);
	return order ? order : compare(a->arrival, b->arrival);
}

bool lane_admits(enum lane lane, enum waiting_kind kind)
{
	return kind == WAITING_PROMPT || lane == LANE_CONTROL;
}

enum lane move_lane(enum lane_move move)
{
	switch (move) {
	case MOVE_ARRIVE:
	case MOVE_DEMOTE:
		return LANE_DEFAULT;
	case MOVE_PROMOTE:
	case MOVE_CONTINUE:
		return LANE_PRIORITY;
	case MOVE_CONTROL:
		return LANE_CONTROL;
	}
	UNREACHABLE("move");
}

enum queue_place move_place(enum lane_move move)
{
	switch (move) {
	case MOVE_ARRIVE:
	case MOVE_PROMOTE:
	case MOVE_CONTROL:
		return QUEUE_BACK;
	case MOVE_DEMOTE:
		return QUEUE_ARRIVAL;
	case MOVE_CONTINUE:
		return QUEUE_AHEAD;
	}
	UNREACHABLE("move");
}

struct order move_order(enum lane_move move, int64_t arrival, int64_t counter)
{
	struct order o = { .lane = move_lane(move), .lane_order = arrival, .arrival = arrival };

	switch (move) {
	case MOVE_ARRIVE:
	case MOVE_DEMOTE:
		break;
	case MOVE_PROMOTE:
	case MOVE_CONTROL:
		o.lane_order = counter;
		break;
	case MOVE_CONTINUE:
		o.lane_order = arrival - BEFORE_ALL;
		break;
	}
	return o;
}

bool move_allowed(enum lane_move move, enum lane lane, enum waiting_kind kind)
{
	if (kind != WAITING_PROMPT || lane == LANE_CONTROL)
		return false;
	return move == MOVE_PROMOTE || (move == MOVE_DEMOTE && lane == LANE_PRIORITY);
}

bool dispatch_allowed(const struct dispatch_facts *f)
{
	return !f->compacting && !f->running && !f->starting && f->idle && !f->pending &&
	       !f->lost && !f->held;
}
