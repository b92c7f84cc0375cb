#include "app/launch/here.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "app/catalog/secrets.h"
#include "app/launch/away.h"
#include "app/launch/enclose.h"
#include "app/launch/input.h"
#include "app/launch/surroundings.h"
#include "app/launch/take-back.h"
#include "app/logs.h"
#include "app/past/retire.h"
#include "app/record/beginning.h"
#include "app/record/pieces.h"
#include "app/record/record.h"
#include "app/record/result.h"
#include "app/record/secrets.h"
#include "app/record/step-host.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/processors.h"
#include "base/run-status.h"
#include "runs/dir/events.h"
#include "runs/dir/open.h"
#include "runs/dir/run-dir.h"

struct here {
	struct run_handle handle;
	struct launch *launch;
	struct execution x;
	struct record *record;   /* NULL: nothing is written down */
	struct steps_run *steps; /* of a step recipe */
	struct mask *mask;       /* NULL: it has no secrets */
	struct pieces pieces;    /* what commands print and observers see */
	const char *const *env;  /* what commands get beside the environment of this process */
	struct executor *executors[3];
	size_t executor_count, elsewhere;
	bool elsewhere_needs;
	struct rlimit nofile;    /* what commands get when ours was raised */
	struct hub_entry orders; /* linked: other processes speak through files */
	int sandbox;             /* in which its commands are; -1: none */
	int input;               /* what was kept of its standard input; -1: none */
	int stdout_fd;
	/* What was told before its start returned: lines come from the loop. */
	struct deferred early;
	struct buf early_text;
	struct deferred past; /* there are observers that came later */
	struct deferred enter;
	struct timer enter_again;
	bool tells_output;
	bool had_begun; /* before: it is resumed */
	bool rested;
	struct report unwritten; /* what could not be written down of its end */
};

static struct here *here_of(const struct run_handle *h)
{
	return container_of(h, struct here, handle);
}

static bool recorded(const struct here *h)
{
	return h->launch->claim.dir.len > 0;
}

/* -- telling -------------------------------------------------------------------------------------
 */

static void tell_lines(struct here *h, const struct event *e)
{
	AUTO_BUF line = BUF_INIT;

	if (!event_name(e->kind) || !handle_wants_lines(&h->handle))
		return;
	event_json(e, &line);
	if (h->x.run) {
		handle_tell_line(&h->handle, buf_str(&line));
		return;
	}
	buf_add(&h->early_text, buf_str(&line));
	buf_addc(&h->early_text, '\n');
	deferred_start(app_loop(h->handle.app), &h->early);
}

/* Started before the engine's own turn, so nothing comes before it. */
static void tell_early(struct deferred *d)
{
	struct here *h = container_of(d, struct here, early);
	AUTO_BUF text = BUF_INIT;

	buf_swap(&text, &h->early_text);
	struct str all = buf_str(&text);
	for (size_t at = 0; at < all.len;) {
		size_t end = str_find(all, '\n', at);

		handle_tell_line(&h->handle, str_sub(all, at, end - at));
		at = end + 1;
	}
}

static bool tell_past_line(void *data, struct str line, uint64_t seq)
{
	(void)seq;
	handle_tell_line(data, line);
	return true;
}

/* Those that came later hear what is written down; the others have heard it. */
static void catch_up(struct here *h)
{
	uint64_t from = UINT64_MAX;

	list_each (link, &h->handle.watchers) {
		struct watcher *w = list_entry(link, struct watcher, link);

		if (w->behind)
			from = MIN(from, w->next);
		w->behind = false;
	}
	if (from == UINT64_MAX)
		return;
	if (!h->handle.ended)
		record_flush(h->record);
	(void)events_each(h->launch->claim.dir.p, from, tell_past_line, &h->handle);
}

static void tell_past(struct deferred *d)
{
	struct here *h = container_of(d, struct here, past);

	catch_up(h);
	if (h->handle.ended)
		handle_tell_end(&h->handle);
}

/* The observer of the request hears everything as it happens. */
static int observed(struct run_handle *handle)
{
	struct here *h = here_of(handle);
	struct watcher *w = list_entry(handle->watchers.prev, struct watcher, link);

	if (!h->x.run)
		return 0;
	w->behind = h->record && w->o.line;
	if (w->behind || handle->ended)
		deferred_start(app_loop(handle->app), &h->past);
	return 0;
}

/* What commands print goes to the record only, unless an observer asks for it. */
static bool hears(const struct watcher *w, const struct event *e)
{
	return e->kind != EVENT_COMMAND_OUTPUT || w->o.output ||
	       (w->o.errors && e->output.is_stderr);
}

static bool is_shown(const struct here *h, const struct event *e)
{
	list_each (link, &h->handle.watchers)
		if (hears(list_entry(link, struct watcher, link), e))
			return true;
	return false;
}

static void tell_watchers(struct here *h, const struct event *e)
{
	list_each_safe (link, &h->handle.watchers) {
		struct watcher *w = list_entry(link, struct watcher, link);

		if (w->o.event && hears(w, e))
			w->o.event(w->o.data, e);
	}
}

/* A command that has ended prints nothing more: what was kept back of it is shown. */
static void tell_rest(struct here *h, const struct event *e, struct arena *a)
{
	struct event rest;

	if (e->kind == EVENT_COMMAND_START || e->kind == EVENT_COMMAND_DONE ||
		e->kind == EVENT_NODE_RETRY || e->kind == EVENT_RUN_DONE ||
		e->kind == EVENT_RUN_FAILED)
		while (pieces_rest(&h->pieces, h->mask, e->path, &rest, a))
			tell_watchers(h, &rest);
}

static void on_event(void *data, const struct event *e)
{
	struct here *h = data;
	struct arena a = ARENA_INIT;
	struct event masked = *e;
	bool output = e->kind == EVENT_COMMAND_OUTPUT;

	if (h->mask && output && is_shown(h, e)) {
		pieces_take(&h->pieces, h->mask, e, &masked, &a);
	} else if (h->mask && !output) {
		mask_event(h->mask, e, &masked, &a);
		tell_rest(h, e, &a);
	}
	if (h->record && output) {
		struct event kept;

		mask_around(h->mask, e, &kept, &a);
		record_event(h->record, h->x.run, &kept);
	} else if (h->record) {
		record_event(h->record, h->x.run, &masked);
	}
	tell_watchers(h, &masked);
	tell_lines(h, &masked);
	arena_done(&a);
}

/* -- its end -------------------------------------------------------------------------------------
 */

/* Artifacts that must be there. */
static bool verify(void *data, struct report *r)
{
	return launch_verify(((struct here *)data)->launch, r);
}

/* While the first command runs: the ledger must not keep the loop waiting. A run that is over
 * before ENTER_AFTER_MS need not open it. */
enum { ENTER_AFTER_MS = 20, ENTER_WAIT_MS = 20, ENTER_AGAIN_MS = 1000 };

static void try_to_enter(struct here *h)
{
	AUTO_REPORT ignored = REPORT_INIT; /* it is tried until the end, which tells */

	if (!launch_enter(h->launch, ENTER_WAIT_MS, &ignored))
		timer_start(app_loop(h->handle.app), &h->enter_again, ENTER_AGAIN_MS);
}

/* The first command runs: there is time for what it did not need. */
static void on_enter(struct deferred *d)
{
	struct here *h = container_of(d, struct here, enter);

	record_settle(h->record);
	if (h->steps)
		steps_settle(h->steps);
	launch_link_latest(h->launch);
	if (launch_can_tell(h->launch))
		timer_start(app_loop(h->handle.app), &h->enter_again, ENTER_AFTER_MS);
	else
		try_to_enter(h);
}

static void on_enter_again(struct timer *t)
{
	try_to_enter(container_of(t, struct here, enter_again));
}

/* The ledger comes last: it may have to be waited for. */
static void finish_record(struct here *h)
{
	AUTO_REPORT ledger = REPORT_INIT;

	h->x.input_cut = input_was_cut(h->launch, run_result(h->x.run));
	deferred_stop(&h->enter);
	timer_stop(&h->enter_again);
	if (h->steps)
		steps_settle(h->steps);
	bool written = record_finish(h->record, &h->x, &h->unwritten);
	(void)(launch_tell(h->launch) ||
		(launch_enter(h->launch, 0, &ledger) && launch_tell_end(h->launch, &ledger)));
	/* The result is what counts: the run is entered when it is next looked at. */
	if (written)
		app_warn(&ledger, &h->unwritten);
}

static void on_ended(void *data)
{
	struct here *h = data;

	mask_report(h->mask, run_result(h->x.run)->issues);
	if (h->record)
		finish_record(h);
	catch_up(h);
	handle_ended(&h->handle);
	if (list_linked(&h->orders.link))
		list_append(&h->handle.app->ended, &h->handle.link);
	if (h->stdout_fd >= 0 && status_ok(run_status(&h->handle))) {
		struct sigpipe quiet;

		sigpipe_begin(&quiet);
		(void)result_write_output(&h->x, h->stdout_fd);
		sigpipe_end(&quiet);
	}
}

static void rest(struct run_handle *handle)
{
	struct here *h = here_of(handle);
	struct launch *l = h->launch;

	if (h->rested)
		return;
	h->rested = true;
	list_remove(&handle->link);
	hub_leave(&h->orders);
	if (h->record)
		record_rest(h->record);
	if (!recorded(h))
		return;
	retire_after_run(handle->app, l->claim.ledger);
	launch_count(l);
	ledger_close(l->claim.ledger);
	l->claim.ledger = NULL;
	/* A child of the host that has executed nothing yet has the lock too: closing is not
	 * enough. */
	(void)flock(l->claim.lock, LOCK_UN);
	close_fd(&l->claim.lock);
	steps_rest(h->steps);
}

/* -- its beginning -------------------------------------------------------------------------------
 */

static const char *const *give_arguments(
	void *data, const struct node *n, const char *const *argv, size_t argc, struct arena *a)
{
	const struct here *h = data;

	return bundle_arguments(h->launch->subject.bundle, n->origin, argv, argc, a);
}

/* Whether commands read what the run has kept of its standard input, and not the caller's. */
static bool reads_kept(const struct here *h, const struct here_options *o)
{
	const struct asked *asked = &h->launch->asked;

	return o->before || (asked->detached && asked->has_input);
}

static bool has_begun(struct launch *l)
{
	return access(run_file(&l->arena, l->claim.dir, "run.json"), F_OK) == 0;
}

/* From here on the run has a verifiable owner. */
static bool begin_record(struct here *h, const struct here_options *o, struct report *r)
{
	struct launch *l = h->launch;

	h->had_begun = o->before && has_begun(l); /* else it is a rerun */
	if ((reads_kept(h, o) && !input_open(l, o->before, &h->input, r)) ||
		(l->claim.embedded && !hub_prepare(&h->orders, l, r))) {
		leaves_free(o->before);
		return false;
	}
	h->record = record_open(l, app_loop(h->handle.app), o->before, r);
	if (!h->record || !launch_begin(l, r))
		return false;
	if (l->subject.graph->steps || l->subject.graph->calls) {
		h->steps = steps_open(l, r);
		if (!h->steps)
			return false;
	}
	if (l->subject.graph->steps)
		record_steps(h->record, h->steps);
	return true;
}

/* The name must not stay taken by a run that never began, for as long as this process lives. What a
 * supervisor has been handed is taken back by the process that claimed it. One that had begun
 * before is what its files say, which the next look puts into its row. */
static void give_up(const struct here *h)
{
	struct launch *l = h->launch;
	AUTO_REPORT ignored = REPORT_INIT;

	if (h->had_begun)
		resume_unwrite(l);
	if (h->had_begun || (!l->claim.ledger && !l->claim.unlisted))
		return;
	bool begun = l->asked.detached || (l->claim.waits && beginning_write(l, &ignored)) ||
		     has_begun(l);
	if (!begun || !l->claim.row.started || !launch_enter(l, l->app->ledger_wait_ms, &ignored)) {
		launch_abandon(l);
		return;
	}
	l->claim.row.status = status_str(ROUX_FAILED);
	l->claim.row.code = l->claim.row.exit = 1;
	l->claim.row.counted = true;
	l->claim.row.ended = clock_real_ms();
	if (!ledger_update(l->claim.ledger, &l->claim.row, false, &ignored) && !l->asked.detached)
		launch_abandon(l);
}

/* This machine, and where its commands go besides. */
static bool find_executors(struct here *h, const struct here_options *o, struct report *r)
{
	struct executor *local = h->executors[0] =
		executor_here(h->launch, h->env, h->sandbox >= 0 ? &h->sandbox : NULL);

	h->executor_count = 1;
	if (!h->launch->asked.executor && !h->launch->asked.left_executor)
		return true;
	return away_executors(h->launch,
		&(struct away_options){ .loop = h->handle.app->loop,
			.here = local,
			.env = h->env,
			.before = o->before,
			.jobs_given = h->launch->asked.jobs_given },
		h->executors, &h->executor_count, &h->elsewhere, &h->elsewhere_needs, r);
}

/* Standard input: the caller's, or what a recorded run has kept of it. */
static int input_of(const struct here *h, const struct here_options *o)
{
	if (reads_kept(h, o))
		return h->input;
	return h->launch->asked.detached ? -1 : o->stdin_fd;
}

/* Whether a command can be given the terminal: it is this process's own, and a person is there. */
static bool has_terminal(const struct here *h)
{
	return h->handle.app->manners.own_process && !h->launch->asked.detached &&
	       isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static void start(struct here *h, const struct here_options *o)
{
	struct launch *l = h->launch;
	struct run_reader reader = { o->pipe_fd, o->pipe_prints };

	h->x.run = run_start(h->handle.app->loop, l->subject.plan,
		&(struct run_options){
			.id = h->x.id,
			.jobs = (unsigned)l->asked.jobs,
			.executors = h->executors,
			.executor_count = h->executor_count,
			.elsewhere = h->elsewhere,
			.elsewhere_needs = h->elsewhere_needs,
			.jobs_together = h->elsewhere && l->asked.jobs_given,
			.stdin_fd = input_of(h, o),
			.stdin_gone =
				reads_kept(h, o) && h->input < 0 && h->launch->asked.has_input,
			.reader = o->pipe_fd >= 0 ? &reader : NULL,
			.listen = h->record || o->observer ? on_event : NULL,
			.listen_data = h,
			.tell_output = h->record || (o->observer && o->observer->output),
			.tell_errors = o->observer && o->observer->errors,
			.seq = h->record ? record_seq(h->record) : 0,
			.recorder = h->record ? record_recorder(h->record) : NULL,
			.leaves_nothing = o->leaves_nothing,
			.only = l->asked.only,
			.cwd = l->claim.cwd.len ? l->claim.cwd.p : NULL,
			.env = h->env,
			.tty = has_terminal(h),
			.terminal = o->terminal,
			.steps = h->steps ? steps_host(h->steps) : NULL,
			.vars = h->steps ? steps_vars(h->steps) : NULL,
			.arguments = l->subject.bundle ? give_arguments : NULL,
			.arguments_data = h,
			.verify = h->record ? verify : NULL,
			.ended = on_ended,
			.ended_data = h,
		});
}

/* All that can fail. The result of the time before is there until nothing else can. */
static bool prepare(struct here *h, const struct here_options *o, struct report *r)
{
	struct launch *l = h->launch;

	if (!app_loop(l->app))
		return report_errno(r, errno, "cannot make an event loop for the run");
	if (!launch_enclose(l, &h->sandbox, r) || (recorded(h) && !begin_record(h, o, r)))
		return false;
	h->mask = h->steps ? mask_ref(steps_mask(h->steps)) : mask_of(l);
	if (h->record)
		record_hide(h->record, h->mask);
	h->env = surroundings_env(l);
	h->x = (struct execution){ .plan = l->subject.plan,
		.launch = recorded(h) ? l : NULL,
		.mask = h->mask,
		.artifacts = l->subject.artifacts,
		.id = recorded(h) ? l->asked.id.p : NULL };
	return find_executors(h, o, r) && (!h->record || record_put_away(h->record, r));
}

static const struct handle_ops ops;

struct run_handle *here_start(struct launch *l, const struct here_options *o, struct report *r)
{
	struct here *h = mem_new(struct here);
	struct loop *loop = app_loop(l->app);

	handle_init(&h->handle, &ops, l->app);
	h->launch = l;
	h->stdout_fd = o->stdout_fd;
	h->sandbox = h->input = -1;
	h->early.call = tell_early;
	h->past.call = tell_past;
	h->enter.call = on_enter;
	h->enter_again.fire = on_enter_again;
	if (!l->asked.jobs)
		l->asked.jobs = processors_usable();
	surroundings_room(&l->app->manners, &h->nofile, &l->asked.jobs);
	if (!prepare(h, o, r)) {
		give_up(h);
		for (size_t i = h->executor_count; i > 0; i--)
			h->executors[i - 1]->ops->close(h->executors[i - 1]);
		h->handle.ended = true;
		run_close(&h->handle);
		return NULL;
	}
	if (o->observer)
		(void)run_observe(&h->handle, o->observer);
	start(h, o);
	if (l->claim.unlisted && !h->handle.ended)
		deferred_start(loop, &h->enter);
	if (recorded(h) && l->claim.embedded)
		hub_join(&h->orders, &h->handle);
	return &h->handle;
}

/* -- orders --------------------------------------------------------------------------------------
 */

void here_obey(struct run_handle *handle, enum run_order order, int grace_ms, int signal)
{
	struct run *run = here_of(handle)->x.run;

	if (handle->ended || !run)
		return;
	switch (order) {
	case RUN_CANCEL:
		if (grace_ms >= 0)
			run_set_grace(run, (uint64_t)grace_ms);
		run_cancel(run, signal);
		break;
	case RUN_FINISH:
		run_cancel_gently(run);
		break;
	case RUN_KILL:
		run_kill(run, signal);
		break;
	case RUN_ORDERS:
		break;
	}
}

void here_ring(struct run_handle *handle)
{
	struct here *h = here_of(handle);

	if (h->record && !handle->ended)
		record_ring(h->record);
}

static bool order(struct run_handle *h, enum run_order what, int grace_ms, struct report *r)
{
	(void)r;
	here_obey(h, what, grace_ms, 0);
	return true;
}

void run_hold(struct run_handle *h, bool on)
{
	if (handle_is_here(h) && !h->ended)
		run_pause(here_of(h)->x.run, on);
}

/* -- what is asked of it -------------------------------------------------------------------------
 */

static struct str id(const struct run_handle *h)
{
	return recorded(here_of(h)) ? here_of(h)->launch->asked.id : S("");
}

static struct str dir(const struct run_handle *h)
{
	return here_of(h)->launch->claim.dir;
}

static enum roux_status status(const struct run_handle *h)
{
	return (enum roux_status)run_result(here_of(h)->x.run)->status;
}

static int write_result(struct run_handle *h, struct buf *b, int fd, enum roux_status *ret)
{
	return result_document(&here_of(h)->x, b, fd, ret);
}

static json_t *summary(struct run_handle *h)
{
	return result_summary(&here_of(h)->x);
}

static int write_output(struct run_handle *h, int fd)
{
	return result_write_output(&here_of(h)->x, fd);
}

static bool log_ends_line(struct run_handle *h)
{
	AUTO_CLOSE int fd = run_open_path(run_log_path(h, LOG_STDOUT), O_RDONLY);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	char last = '\n';

	return size < 1 || fd_read_at(fd, &last, 1, size - 1) < 1 || last == '\n';
}

bool run_output_ends_line(struct run_handle *h)
{
	if (!status_ok(run_status(h)))
		return true;
	return handle_is_here(h) ? result_ends_line(&here_of(h)->x) : log_ends_line(h);
}

struct report *run_issues(const struct run_handle *h)
{
	return handle_is_here(h) && h->ended ? run_result(here_of(h)->x.run)->issues : NULL;
}

struct report *run_record_issues(struct run_handle *h)
{
	return handle_is_here(h) && here_of(h)->unwritten.issues.len ? &here_of(h)->unwritten
								     : NULL;
}

int run_signal(const struct run_handle *h)
{
	return handle_is_here(h) && h->ended ? run_result(here_of(h)->x.run)->signal : 0;
}

/* Cancels it and waits, whichever thread wakes the loop meanwhile. */
static void leave(struct run_handle *handle)
{
	here_obey(handle, RUN_CANCEL, -1, 0);
	handle_turn(handle);
}

static void free_here(struct run_handle *handle)
{
	struct here *h = here_of(handle);

	if (!handle->ended)
		leave(handle);
	deferred_stop(&h->early);
	deferred_stop(&h->past);
	deferred_stop(&h->enter);
	timer_stop(&h->enter_again);
	if (h->x.run) {
		run_free(h->x.run);
		rest(handle);
	}
	hub_leave(&h->orders);
	record_free(h->record);
	steps_close(h->steps);
	pieces_done(&h->pieces);
	mask_free(h->mask);
	if (handle->app->manners.nofile == &h->nofile)
		handle->app->manners.nofile = NULL;
	close_fd(&h->sandbox);
	close_fd(&h->input);
	buf_done(&h->early_text);
	report_done(&h->unwritten);
	launch_free(h->launch);
	handle_done(handle);
	free(h);
}

static const struct handle_ops ops = {
	.id = id,
	.dir = dir,
	.status = status,
	.order = order,
	.write_result = write_result,
	.summary = summary,
	.write_output = write_output,
	.observed = observed,
	.leave = leave,
	.rest = rest,
	.free = free_here,
};

bool handle_is_here(const struct run_handle *h)
{
	return h->ops == &ops;
}
