/* Ending runs: the order goes to the supervisor, which knows its processes. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "app/past/order.h"
#include "base/clock.h"
#include "base/process.h"
#include "base/run-status.h"
#include "remote/exchange.h"
#include "runs/dir/identity.h"
#include "runs/dir/leftovers.h"
#include "runs/dir/orders.h"
#include "runs/dir/run-dir.h"

/* A supervisor that does not answer to a kill within this time is killed itself; its commands go
 * with it. Those of a batch system do not: it waits until the last of them can be running no more,
 * which a lease says, and what is left then is ended without it. */
enum { STUCK_MS = 10000, STUCK_ELSEWHERE_MS = 180000 };
enum { STOPPED_MS = 500 }; /* how long one that is stopped while it is waited for stays so */

static bool refuse(const struct run_look *look, const char *why, struct report *r)
{
	return report_refuse(
		r, look->id, why, "run '%.*s' cannot be ended: %s", STR(look->id), why);
}

bool order_is_of_other_host(const struct run_look *look)
{
	char here[256] = "";
	struct str host = json_text_of(look->start, "host");

	return host.len && gethostname(here, sizeof(here) - 1) == 0 && !str_eq(host, str_of(here));
}

bool order_refuse_host(const struct run_look *look, struct report *r)
{
	struct str host = json_text_of(look->start, "host");

	report_refuse(r, look->id, "other host",
		"run '%.*s' is controlled on host '%.*s', where its supervisor is", STR(look->id),
		STR(host));
	return report_hint(r, "do that there");
}

static int patience(const struct run_look *look)
{
	/* Without run.json that is not known. */
	bool elsewhere = !look->start || json_text_of(look->start, "on").len ||
			 json_text_of(look->start, "left_on").len;

	return elsewhere ? (int)MAX(remote_ms(STUCK_ELSEWHERE_MS), (uint64_t)STUCK_MS) : STUCK_MS;
}

/* One that is stopped would not hear of it. Any other is left alone: SIGCONT takes back the SIGSTOP
 * with which a debugger or a leak checker has just attached to it, and waits for. */
static void continue_stopped(const struct run_look *look, int pidfd)
{
	struct process_stat is;

	if (process_read(look->row.pid, &is) == 0 && is.state == 'T')
		(void)identity_signal(pidfd, SIGCONT, 0);
}

static void wait_for_end(const struct run_look *look, int pidfd, enum run_order order)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	uint64_t stuck =
		order == RUN_KILL ? clock_mono_ms() + (uint64_t)patience(look) : UINT64_MAX;

	for (;;) {
		int n = poll(&p, 1, STOPPED_MS);

		if (n > 0 || (n < 0 && errno != EINTR))
			return;
		continue_stopped(look, pidfd);
		if (clock_mono_ms() >= stuck) {
			(void)identity_signal(pidfd, SIGKILL, 0);
			stuck = UINT64_MAX;
		}
	}
}

/* The order comes before what lets it continue, so that it starts nothing in between. */
static int deliver(const struct run_look *look, int pidfd, enum run_order order, int grace_ms)
{
	int e = identity_signal(pidfd, ORDER_SIGNAL(order), grace_ms);

	if (e == 0)
		continue_stopped(look, pidfd);
	return e == -ESRCH ? 0 : e; /* it has just ended by itself */
}

static bool refuse_unnamed(const struct run_look *look, struct report *r)
{
	report_refuse(r, look->id, "supervisor unknown",
		"run '%.*s' cannot be ended: its run.json, which names its supervisor, is gone or "
		"damaged",
		STR(look->id));
	return report_hint(
		r, "its supervisor is the process that has %.*s/.alive locked", STR(look->dir));
}

/* Without waiting for what comes of it. */
static bool tell(const struct run_look *look, int pidfd, enum run_order order, int grace_ms,
	struct report *r)
{
	if (!look_embedded(look)) {
		int n = deliver(look, pidfd, order, grace_ms);

		return n == 0 || report_errno(r, -n, "cannot signal the supervisor of run '%.*s'",
					 STR(look->id));
	}
	int e = order_post(look->dir.p, &(struct order){ order, grace_ms });
	return e == 0 || report_errno(r, -e, "cannot write %.*s/" ORDERS_FILE, STR(look->dir));
}

bool order_tell(const struct run_look *look, enum run_order order, int grace_ms, struct report *r)
{
	AUTO_CLOSE int pidfd = look->named ? look_supervisor(&look->row) : -ESRCH;

	if (pidfd == -ESRCH && order_is_of_other_host(look))
		return order_refuse_host(look, r);
	return pidfd >= 0 && tell(look, pidfd, order, grace_ms, r);
}

static bool end(struct app *a, const struct run_look *look, enum run_order order, int grace_ms,
	struct run_look *ret, struct report *r)
{
	if (!find_is_current(look, "ended: it has", r))
		return false;
	if (!look->live || look->result) {
		/* Of what a killed supervisor may have left, no process takes care. */
		if (order == RUN_KILL && status_is(look->status, ROUX_EXITED))
			(void)leftovers_end(look->run, look->generation, look->row.pid_start);
		return refuse_ended(look->id, look->status, r);
	}
	if (!look->named && look->unread)
		return report_errno(
			r, look->unread, "cannot read run.json of run '%.*s'", STR(look->id));
	if (look->begun && !look->named)
		return refuse_unnamed(look, r);
	/* Before it says so itself, the row names which process starts it. */
	AUTO_CLOSE int pidfd = look->named ? look_supervisor(&look->row) : -ESRCH;
	if (pidfd == -EPERM)
		return refuse(look, "pid owner mismatch", r);
	if (pidfd < 0 && pidfd != -ESRCH)
		return report_errno(
			r, -pidfd, "cannot look at the supervisor of run '%.*s'", STR(look->id));
	if (pidfd < 0 && order_is_of_other_host(look))
		return order_refuse_host(look, r);
	if (pidfd < 0) {
		refuse(look, "pid not alive", r);
		if (!look->begun)
			report_hint(r, "it is being started: try again in a moment");
		return false;
	}
	if (!tell(look, pidfd, order, grace_ms, r))
		return false;
	/* A host has more to do than this run, and lives on. */
	if (look_embedded(look))
		run_unlocked_wait(look->dir.p);
	else
		wait_for_end(look, pidfd, order);
	size_t errors = r->errors;
	if (!look_at(app_state_root(a), app_ledger(a, r), look->run, ret, r))
		return r->errors == errors && refuse_gone(look->id, r);
	/* Another process has started or resumed it since, or its disk had no room to say so; what
	 * was asked for has come to pass. */
	if (ret->live || !str_eq(ret->generation, look->generation) || !ret->result)
		ret->status = status_str(order == RUN_KILL ? ROUX_KILLED : ROUX_CANCELLED);
	return true;
}

bool order_end(
	struct app *a, struct run_look *look, enum run_order order, int grace_ms, struct report *r)
{
	struct run_look after = { 0 };
	bool ok = end(a, look, order, grace_ms, &after, r);

	if (ok) {
		look_done(look);
		*look = after;
	} else {
		look_done(&after);
	}
	return ok;
}
