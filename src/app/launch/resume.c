/* Continuing a run that was cut short or failed. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app/launch/away.h"
#include "app/launch/fate.h"
#include "app/launch/flush.h"
#include "app/launch/go-there.h"
#include "app/launch/input.h"
#include "app/launch/kept.h"
#include "app/launch/start.h"
#include "app/launch/take-back.h"
#include "app/past/elsewhere.h"
#include "app/past/left.h"
#include "app/past/order.h"
#include "app/record/freeze.h"
#include "app/record/gates-file.h"
#include "app/record/secrets.h"
#include "base/run-status.h"
#include "runs/dir/events.h"
#include "runs/dir/leftovers.h"
#include "runs/dir/open.h"
#include "runs/dir/outputs.h"
#include "runs/dir/partial-files.h"
#include "runs/dir/run-dir.h"
#include "runs/dir/unrecorded.h"

/* How long a process that was killed a moment ago may take to be gone. */
enum { DYING_MS = 250, LOCK_MS = 512 };

/* -- finding it ----------------------------------------------------------------------------------
 */

/* A process that is killed keeps its lock until the kernel has taken it apart, and so does what it
 * was forking in that moment: `kill -9 PID; roux resume RUN` comes while that happens. */
static bool ends_now(const struct run_look *look)
{
	AUTO_CLOSE int fd = look_supervisor(&look->row);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd >= 0 && poll(&p, 1, DYING_MS) <= 0)
		return false;
	for (long ms = 1; run_locked(look->dir.p); ms *= 2) {
		if (ms > LOCK_MS)
			return false;
		(void)nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
	}
	return true;
}

bool find_settled(struct app *a, const char *name, struct run_look *ret, struct report *r)
{
	if (!find_run(a, name, ret, r))
		return false;
	if (!ret->live || !ends_now(ret))
		return true;
	look_done(ret);
	return find_run(a, name, ret, r);
}

bool go_there(struct launch *l, const struct run_look *look, bool stay, struct report *r)
{
	AUTO_BUF dir = BUF_INIT;

	if (stay || !look->row.cwd.len)
		return true;
	if (!l->app->manners.own_process) {
		l->claim.cwd = arena_str(&l->arena, look->row.cwd);
		return true;
	}
	buf_add(&dir, look->row.cwd);
	if (chdir(buf_cstr(&dir)) == 0)
		return true;
	report_errno(r, errno, "cannot go to %s, where the run was started", buf_cstr(&dir));
	return report_action(r, ACTION_OTHER_DIR, S(""));
}

/* Another process may have resumed it since we looked. */
static bool still_as_seen(const struct run_look *look, struct report *r)
{
	AUTO_JSON *run = freeze_json(look->dir, "run.json", false, r);

	return run && json_integer_value(json_object_get(run, "pid")) == look->row.pid &&
	       (uint64_t)json_integer_value(json_object_get(run, "pid_start")) ==
		       look->row.pid_start;
}

/* -- what runs again -----------------------------------------------------------------------------
 */

/* What is asked about when nothing is to run again without that. */
static const struct doubt {
	enum resume_note why;
	const char *before, *behind; /* the paths */
	const char *hint;
} doubts[] = {
	{ RESUME_WAS_RUNNING, "", " was running when the run was cut short",
		"see what it has done" },
	{ RESUME_UNKEPT, "", " ended, but what it printed could not be kept",
		"see what it has done" },
	{ RESUME_LOST, "what ", " printed is gone and needed",
		"bring it back, or let it run again" },
	{ RESUME_UNRECORDED, "the record of ", " is lost", "see what it has done" },
	{ RESUME_ROUNDS, "what the rounds of ", " have come to is not kept",
		"see what they have done" },
};

static bool refuse_doubt(struct launch *l, const char *what, const char *hint, struct report *r)
{
	report_refuse(r, l->asked.id, "cannot go on", "in doubt: %s", what);
	report_hint(r, "%s", hint);
	return report_action(r, ACTION_RERUN_IN_DOUBT, l->asked.id);
}

static bool refuse_fates(struct launch *l, const struct fates *fates, struct report *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(doubts); i++) {
		AUTO_BUF paths = BUF_INIT;
		AUTO_BUF what = BUF_INIT;

		fates_list(fates, doubts[i].why, &paths);
		if (!paths.len)
			continue;
		buf_printf(&what, "%s%s%s", doubts[i].before, buf_cstr(&paths), doubts[i].behind);
		return refuse_doubt(l, buf_cstr(&what), doubts[i].hint, r);
	}
	return true;
}

/* Where no host hears the notes, those that are always worth saying. */
static void warn_of_fates(const struct fates *fates, struct report *r)
{
	static const enum resume_note always[] = { RESUME_UNRECORDED, RESUME_LOST, RESUME_ROUNDS,
		RESUME_UNKEPT };

	for (size_t i = 0; i < ARRAY_SIZE(always); i++) {
		AUTO_BUF paths = BUF_INIT;

		fates_list(fates, always[i], &paths);
		if (paths.len)
			report_warning(r, (struct where){ 0 }, "%s runs again%s: %s",
				buf_cstr(&paths),
				always[i] == RESUME_ROUNDS ? " from its first round" : "",
				resume_reason(always[i]));
	}
}

static void tell_fates(const struct launch *l, const struct taken_back *back,
	const struct fates *fates, const struct resume_request *q, struct report *r)
{
	if (!q->note) {
		warn_of_fates(fates, r);
		return;
	}
	vec_each (failed, &back->all)
		q->note(q->data, RESUME_FAILED_EARLIER, failed->name, failed->code);
	resume_note_sources(l, q->note, q->data);
	vec_each (fate, &fates->all)
		q->note(q->data, fate->why, fate->path, 0);
}

/* A standard input that was kept as far as it was read. */
static void name_input(struct buf *b, uint64_t bytes)
{
	buf_printf(b, "the standard input was kept as far as it was read (%" PRIu64 " byte%s)",
		bytes, bytes == 1 ? "" : "s");
}

static bool refuse_input(struct launch *l, uint64_t bytes, struct report *r)
{
	AUTO_BUF what = BUF_INIT;

	name_input(&what, bytes);
	return refuse_doubt(
		l, buf_cstr(&what), "see whether a command that runs again reads more", r);
}

static void tell_input(uint64_t bytes, const struct resume_request *q, struct report *r)
{
	AUTO_BUF what = BUF_INIT;

	if (q->note) {
		q->note(q->data, RESUME_INPUT_PART, S(""), (size_t)bytes);
		return;
	}
	name_input(&what, bytes);
	report_warning(r, (struct where){ 0 }, "%s: a command that reads more finds its end there",
		buf_cstr(&what));
}

/* Says what runs again and why. False: it was not to be run without being asked. */
static bool explain(struct launch *l, const struct run_look *look, const struct leaves *leaves,
	const struct taken_back *back, const struct resume_request *q, struct report *r)
{
	struct fates fates = { 0 };
	struct called called;
	uint64_t bytes;

	if (input_is_lacking(l, leaves))
		return input_refuse_lacking(l, look, r);
	bool part = input_is_part(l, leaves, &bytes);
	called_init(&called, l, look->dir);
	fates_find(&fates, &called, leaves);
	bool ok = !q->stop_in_doubt ||
		  (refuse_fates(l, &fates, r) && (!part || refuse_input(l, bytes, r)));
	if (ok)
		tell_fates(l, back, &fates, q, r);
	if (ok && part)
		tell_input(bytes, q, r);
	fates_done(&fates);
	called_done(&called);
	return ok;
}

/* What is left of a killed supervisor's trees is ended before anything is started beside it. One
 * that came to its end has left only what was meant to stay. */
static void end_leftovers(
	const struct launch *l, const struct run_look *look, const struct resume_request *q)
{
	size_t n = look->result
			   ? 0
			   : leftovers_end(l->asked.id, l->claim.generation, look->row.pid_start);

	if (n && q->note)
		q->note(q->data, RESUME_ENDED_PROCESSES, S(""), n);
}

static void forget(void *data, struct str path, const struct leaf_record *record UNUSED)
{
	(void)leaves_forget(data, path);
}

/* Whether values given now leave what is kept as it is. */
static bool keeps(struct launch *l, const struct run_look *look, const struct kept_values *values,
	struct report *r)
{
	struct called called;

	if (!values->given)
		return true;
	struct leaves *leaves = leaves_read(run_file(&l->arena, look->dir, LEAVES_FILE), r);
	if (!leaves)
		return false;
	struct str failed = resume_failed_node(l, look, leaves);
	if (failed.len)
		resume_forgets(l, leaves, failed, json_text_of(look->result, "retried_node"),
			forget, leaves);
	called_init(&called, l, look->dir);
	bool ok = kept_check(l, look->id, values, &called, leaves, NULL, r);
	called_done(&called);
	leaves_free(leaves);
	return ok;
}

/* Not what another process is just writing: an answer at a gate. */
static void remove_partial_files(struct launch *l)
{
	AUTO_REPORT ignored = REPORT_INIT;
	bool gates = access(run_file(&l->arena, l->claim.dir, GATES_FILE), F_OK) == 0;
	AUTO_CLOSE int lock = gates ? gates_lock(l->claim.dir, &ignored) : -1;

	if (!gates || lock >= 0)
		partial_files_remove(l->claim.dir.p, 0);
}

static bool take_up(struct launch *l, const struct run_look *look, const struct resume_request *q,
	struct leaves **ret_leaves, struct report *r)
{
	AUTO_BUF lines = BUF_INIT;
	struct taken_back back = { 0 };

	l->claim.row.created = look->row.created;
	l->claim.row.seq = look->row.seq;
	l->asked.detached = q->request.detach == DETACH_ALWAYS;
	l->claim.embedded &= !l->asked.detached;
	struct str was_on = l->asked.on;
	bool was_durable = l->asked.durable;
	AUTO_JSON *was = json_incref(l->asked.executor);
	AUTO_JSON *before = json_copy(l->subject.values);
	const struct kept_values values = { before, q->values };
	if (!launch_ask(l, &q->request, r) || !launch_values(l, q->values, r) ||
		!launch_plan_again(l, r) || !keeps(l, look, &values, r) || !away_prepare(l, r))
		return false;
	secret_keep_former(l, before);
	l->asked.careful |= q->stop_in_doubt;
	away_keep_left(l, was_on, was);
	l->asked.stops_in_doubt = q->stop_in_doubt;
	end_leftovers(l, look, q);
	remove_partial_files(l);
	*ret_leaves = leaves_of_run(l->claim.dir.p, r);
	if (!*ret_leaves)
		return false;
	resume_take_back(l, look, *ret_leaves, &lines, &back);
	/* Nothing is written, or said of it, before all that may refuse has been asked. */
	bool ok = away_knows(l, *ret_leaves, r) && resume_lose(l, *ret_leaves, &lines, r) &&
		  explain(l, look, *ret_leaves, &back, q, r) && resume_write(l, &lines, r);
	taken_back_done(&back);
	if (!ok)
		return false;
	if (flush_taken(l, !was_durable, r) && freeze_write(l, r))
		return true;
	resume_unwrite(l);
	return false;
}

/* -- all of it -----------------------------------------------------------------------------------
 */

static bool has_lines(const struct run_look *look, const char *name)
{
	AUTO_CLOSE int fd = run_open(look->dir.p, name, O_RDONLY);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0;
}

/* run.json may have been lost in a power cut while the record was not. Without the one of commands
 * the events know which have run. */
static bool has_records(const struct run_look *look)
{
	return has_lines(look, LEAVES_FILE) || has_lines(look, EVENTS_FILE);
}

/* Whether commands have left anything else, or the ledger knows of some: then it had begun, and
 * which have run is not known. */
static bool has_traces(const struct run_look *look)
{
	AUTO_CLOSE int out = run_open_dir(look->dir.p, OUTPUTS_DIR, false);

	return out >= 0 || status_rests(look->status, STATUS_BROKEN) || look->row.failed ||
	       look->row.tolerated || has_lines(look, "result.json") ||
	       has_lines(look, "stdout.log");
}

static bool refuse_unbegun(const struct run_look *look, struct report *r)
{
	if (look->unread)
		return report_errno(r, look->unread, "cannot read the files of run '%.*s' in %.*s",
			STR(look->id), STR(look->dir));
	if (has_traces(look)) {
		report_refuse(r, look->id, "cannot go on", "the record of run '%.*s' is lost",
			STR(look->id));
		return report_hint(r, "see what it has done, then start it again");
	}
	report_refuse(r, look->id, "not begun", "the run '%.*s' was ended before it began",
		STR(look->id));
	return report_hint(r, "nothing of it has been run: start it again");
}

/* Where the lock of another host is not seen, its driver's beat tells. A process that has more to
 * do does not wait for that. */
static bool has_other_driver(
	const struct launch *l, const struct run_look *look, const struct resume_request *q)
{
	bool elsewhere =
		json_text_of(look->start, "on").len || json_text_of(look->start, "left_on").len;

	if (look->live || look->result || !elsewhere || !order_is_of_other_host(look))
		return false;
	if (!l->app->manners.own_process)
		return true;
	if (q->note)
		q->note(q->data, RESUME_WATCHES_HOST, json_text_of(look->start, "host"), 0);
	return left_driver_beats(look);
}

/* Takes the lock and reads what was asked for then. *again: another process was faster. */
static bool thaw(struct launch *l, const struct run_look *look, const struct resume_request *q,
	bool *again, struct report *r)
{
	if (!go_there(l, look, q->stay, r))
		return false;
	if (has_other_driver(l, look, q))
		return order_refuse_host(look, r);
	int locked = look->live ? -EWOULDBLOCK : run_lock(look->dir.p, &l->claim.lock);
	if (locked == -EWOULDBLOCK)
		return refuse_running(look->id, r);
	/* Of an input whose end has not come nothing can be used, also when this is refused. */
	if (locked == 0)
		(void)unlink(run_file(&l->arena, look->dir, "stdin.part"));
	if (!look->start && !has_records(look))
		return refuse_unbegun(look, r);
	if (locked == 0 && look->start && !still_as_seen(look, r)) {
		*again = !r->errors;
		return false;
	}
	if (locked < 0)
		return report_errno(r, -locked, "cannot lock %.*s", STR(look->dir));
	return launch_thaw(l, look->dir, r);
}

struct run_handle *runs_resume(struct app *a, const char *name, const struct resume_request *q,
	bool *ret_over, struct report *r)
{
	AUTO_LOOK look = { 0 };
	struct leaves *leaves = NULL;
	bool again;

	do {
		again = false;
		look_done(&look);
		if (!find_settled(a, name, &look, r))
			return NULL;
		if (!find_is_current(&look, "continued", r)) {
			report_action(r, ACTION_RERUN, look.id);
			return NULL;
		}
		*ret_over = status_rests(look.status, STATUS_COMPLETE);
		if (*ret_over)
			return elsewhere_open(a, &look);
		struct launch *l = launch_new(a);
		if (thaw(l, &look, q, &again, r) && take_up(l, &look, q, &leaves, r))
			return start_frozen(l, &q->request, leaves, r);
		leaves_free(leaves);
		leaves = NULL;
		launch_free(l);
	} while (again);
	return NULL;
}
