/* Jobs of a batch system that the dead driver of a run has left. */
#include <errno.h>

#include "app/past/elsewhere.h"
#include "app/past/left.h"
#include "app/past/order.h"
#include "app/record/freeze.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/run-status.h"
#include "graph/event.h"
#include "remote/remote.h"
#include "runs/dir/events.h"
#include "runs/dir/leftovers.h"
#include "runs/dir/lines.h"
#include "runs/dir/refusal.h"
#include "runs/dir/run-dir.h"

/* -- ending --------------------------------------------------------------------------------------
 */

/* A run without a result is what the last order says that it is. */
static bool write_order(const struct run_look *look, enum run_order order, struct report *r)
{
	struct event e = { .kind = order == RUN_KILL ? EVENT_RUN_KILL : EVENT_RUN_CANCEL,
		.seq = events_count(look->dir.p) + 1,
		.time_ms = clock_real_ms(),
		.mono_ms = clock_mono_ms() };
	AUTO_BUF line = BUF_INIT;
	struct line_log log;

	event_json(&e, &line);
	line_log_init(&log, look->dir.p, EVENTS_FILE, 0);
	int n = line_log_append(&log, str_trim(buf_str(&line)));
	line_log_done(&log);
	return n >= 0 || report_errno(r, -n, "cannot write %.*s/" EVENTS_FILE, STR(look->dir));
}

/* The ledger has it as a run whose driver is gone. */
static bool tell_ledger(struct app *a, const struct run_look *look, struct report *r)
{
	struct ledger *l = app_ledger_to_change(a, r);
	struct arena arena = ARENA_INIT;
	struct run_row now = { 0 };
	bool ok = l && look_row(app_state_root(a), look->run, 0, &arena, &now, r) &&
		  ledger_correct(l, &look->row, &now, r);

	arena_done(&arena);
	return ok;
}

static bool end_jobs(struct app *a, const struct run_look *look, size_t which, enum run_order order,
	int grace_ms, struct report *r)
{
	struct table *t = left_table(look, which, r);
	json_int_t grace = json_number_of(look->start, "grace_ms");

	if (!t)
		return false;
	return remote_end(
		&(struct remote_options){ .loop = app_loop(a),
			.table = t,
			.class = json_text_of(look->start, "class"),
			.run = look->run,
			.generation = look->generation,
			.run_dir = look->dir,
			.state_dir = app_state_root(a),
			.cwd = look->row.cwd,
			.grace_ms = grace_ms >= 0 ? (uint64_t)grace_ms : (uint64_t)MAX(grace, 0),
			.resumed = true },
		order == RUN_KILL, r);
}

static bool end(struct app *a, const struct run_look *look, enum run_order order, int grace_ms,
	struct report *r)
{
	AUTO_CLOSE int lock = -1;

	if (order == RUN_FINISH) {
		report_refuse(r, look->id, "driver gone",
			"what the workers of run '%.*s' finish, no process would take",
			STR(look->id));
		return report_action(r, ACTION_RESUME, look->id);
	}
	int n = run_lock(look->dir.p, &lock);
	if (n == -EWOULDBLOCK)
		return refuse_running(look->id, r);
	if (n < 0)
		return report_errno(r, -n, "cannot lock %.*s", STR(look->dir));
	if (left_driver_beats(look))
		return order_refuse_host(look, r);
	(void)leftovers_end(look->run, look->generation, look->row.pid_start);
	for (size_t i = 0; i < LEFT_EXECUTORS; i++)
		if (left_jobs_of(look, i) && !end_jobs(a, look, i, order, grace_ms, r))
			return false;
	if (!write_order(look, order, r))
		return false;
	close_fd(&lock);
	return tell_ledger(a, look, r);
}

bool run_end(struct run_handle *h, enum run_order what, int grace_ms, struct report *r)
{
	const struct run_look *look = elsewhere_look(h);

	if (!look || !left_jobs(look)) {
		if (!elsewhere_end(h, what, grace_ms, r))
			return false;
		/* A supervisor that did not answer was killed, and its jobs are left. */
		if (!look || !left_jobs(look))
			return true;
	}
	if (!end(h->app, look, what, grace_ms, r))
		return false;
	return elsewhere_look_again(h, r);
}
