#include "runs/dir/refusal.h"

#include "base/run-status.h"

bool refuse_running(struct str run, struct report *r)
{
	report_refuse(r, run, "running", "run '%.*s' is running", STR(run));
	report_action(r, ACTION_WAIT, run);
	return report_action(r, ACTION_CANCEL, run);
}

bool refuse_starting(struct str run, struct report *r)
{
	report_refuse(
		r, run, "running", "run '%.*s' is being started by another process", STR(run));
	return report_hint(r, "try again in a moment");
}

static bool offer_answers(struct str run, struct report *r)
{
	report_action(r, ACTION_APPROVE, run);
	return report_action(r, ACTION_DENY, run);
}

bool refuse_waiting(struct str run, struct report *r)
{
	report_refuse(r, run, "paused", "run '%.*s' waits for an approval", STR(run));
	return offer_answers(run, r);
}

bool refuse_ended(struct str run, struct str status, struct report *r)
{
	report_refuse(r, run, "not running", "run '%.*s' is not running: it is %.*s", STR(run),
		STR(status));
	if (status_rests(status, STATUS_AT_GATE))
		return offer_answers(run, r);
	if (status_rests(status, STATUS_CUT_SHORT))
		return report_action(r, ACTION_RESUME, run);
	return report_action(r, ACTION_STATUS, run);
}

bool refuse_gone(struct str run, struct report *r)
{
	return report_refuse(r, run, "no such run", "run '%.*s' is gone", STR(run));
}
