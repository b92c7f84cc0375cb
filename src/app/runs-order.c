/* Ending runs: the order goes to the supervisor, which knows its processes. */
#include <errno.h>
#include <poll.h>
#include <signal.h>

#include "app/runs.h"
#include "base/run-status.h"
#include "runs/dir/identity.h"
#include "runs/dir/leftovers.h"
#include "runs/dir/orders.h"
#include "runs/dir/run-dir.h"

/* A supervisor that does not answer to a kill within this time is killed itself; its commands go
 * with it. */
enum { STUCK_MS = 10000 };

static bool refuse(
	const struct run_look *look, const char *why, const char **reason, struct report *r)
{
	*reason = why;
	report_error(r, (struct where){ 0 }, "run '%.*s' cannot be ended: %s", STR(look->id), why);
	return false;
}

static bool refuse_ended(const struct run_look *look, const char **reason, struct report *r)
{
	*reason = "not running";
	report_error(r, (struct where){ 0 }, "run '%.*s' is not running: it is %.*s", STR(look->id),
		STR(look->status));
	if (status_is(look->status, ROUX_EXITED))
		return report_hint(r, "`roux resume %.*s` goes on where it was", STR(look->id));
	if (status_is(look->status, ROUX_PAUSED))
		return report_hint(r, "it waits: `roux deny %.*s`, or `roux approve %.*s`",
			STR(look->id), STR(look->id));
	return report_hint(r, "`roux status %.*s` says how it ended", STR(look->id));
}

static void wait_for_end(int pidfd, enum run_order order)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int limit = order == RUN_KILL ? STUCK_MS : -1;

	for (;;) {
		int n = poll(&p, 1, limit);

		if (n > 0 || (n < 0 && errno != EINTR))
			return;
		if (n == 0) {
			(void)identity_signal(pidfd, SIGKILL, 0);
			limit = -1;
		}
	}
}

static bool deliver(int pidfd, enum run_order order, int grace_ms)
{
	static const char offsets[] = { [RUN_CANCEL] = 0, [RUN_FINISH] = 1, [RUN_KILL] = 2 };
	int e = identity_signal(pidfd, ORDER_CANCEL + offsets[order], grace_ms);

	/* One that was stopped would never hear of it. */
	if (e == 0)
		(void)identity_signal(pidfd, SIGCONT, 0);
	return e == 0 || e == -ESRCH; /* it has just ended by itself */
}

bool runs_embedded(const struct run_look *look)
{
	return json_is_true(json_object_get(look->start, "embedded"));
}

/* Without waiting for what comes of it. */
static bool tell(const struct run_look *look, int pidfd, enum run_order order, int grace_ms,
	struct report *r)
{
	if (!runs_embedded(look))
		return deliver(pidfd, order, grace_ms) ||
		       report_system(r, (struct where){ 0 },
			       "cannot signal the supervisor of run '%.*s'", STR(look->id));
	int e = order_post(look->dir.p, &(struct order){ (enum order_kind)order, grace_ms });
	return e == 0 || report_errno(r, -e, "cannot write %.*s/" ORDERS_FILE, STR(look->dir));
}

bool runs_tell(const struct run_look *look, enum run_order order, int grace_ms, struct report *r)
{
	AUTO_CLOSE int pidfd = look->start ? look_supervisor(&look->row) : -ESRCH;

	return pidfd >= 0 && tell(look, pidfd, order, grace_ms, r);
}

bool runs_order(struct runs *s, struct run_look *look, enum run_order order, int grace_ms,
	struct run_look *ret, const char **reason, struct report *r)
{
	*ret = (struct run_look){ 0 };
	if (!look->live || look->result) {
		/* Nobody looks after what a killed supervisor may have left. */
		if (order == RUN_KILL && status_is(look->status, ROUX_EXITED))
			(void)leftovers_end(look->id, look->generation, look->row.pid_start);
		return refuse_ended(look, reason, r);
	}
	/* Before it says so itself, the row names who starts it. */
	AUTO_CLOSE int pidfd = look->start ? look_supervisor(&look->row) : -ESRCH;
	if (pidfd == -EPERM)
		return refuse(look, "pid owner mismatch", reason, r);
	if (pidfd < 0) {
		refuse(look, "pid not alive", reason, r);
		return report_hint(r, "it is being started: try again in a moment");
	}
	if (!tell(look, pidfd, order, grace_ms, r)) {
		*reason = NULL;
		return false;
	}
	/* A host has more to do than this run, and lives on. */
	if (runs_embedded(look))
		run_unlocked_wait(look->dir.p);
	else
		wait_for_end(pidfd, order);
	if (look_at(s->root, s->ledger, look->id, ret, r)) {
		/* Somebody has started or resumed it since; what was asked for has come to pass. */
		if (ret->live || !str_eq(ret->generation, look->generation))
			ret->status = status_str(order == RUN_KILL ? ROUX_KILLED : ROUX_CANCELLED);
		return true;
	}
	*reason = "no such run";
	return report_error(r, (struct where){ 0 }, "run '%.*s' is gone", STR(look->id));
}
