#include "hosts/telegram/rules/queue.h"

#include "base/lang.h"

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

bool move_allowed(enum lane_move move, enum lane lane)
{
	if (lane == LANE_CONTROL)
		return false;
	return move == MOVE_PROMOTE || (move == MOVE_DEMOTE && lane == LANE_PRIORITY);
}

bool dispatch_allowed(const struct dispatch_facts *f)
{
	return !f->compacting && !f->running && !f->starting && f->idle && !f->pending &&
	       !f->lost && !f->held;
}
