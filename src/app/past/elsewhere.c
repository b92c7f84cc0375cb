#include "app/past/elsewhere.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "app/past/order.h"
#include "app/past/told.h"
#include "app/record/gates-file.h"
#include "base/file.h"
#include "base/run-status.h"
#include "runs/dir/events.h"
#include "runs/dir/open.h"
#include "runs/dir/run-dir.h"
#include "runs/look/watch.h"

/* How often it is looked at while a process has the run that cannot be watched, because it is just
 * being started; and while its files cannot be, because the user has no inotify left. */
enum { AGAIN_MS = 50, BLIND_MS = 2000, CHUNK = 64 * 1024 };

struct elsewhere {
	struct run_handle handle;
	struct run_look look;
	struct run_watch fds;
	struct watch process;
	struct timer again;
	bool blind; /* its files cannot be watched */
	bool asked; /* the caller waits, and finds out why it cannot be looked at */
	struct deferred first;
	struct event_follower events;
};

static struct elsewhere *of(const struct run_handle *h)
{
	return container_of(h, struct elsewhere, handle);
}

/* -- events --------------------------------------------------------------------------------------
 */

static bool tell_line(void *data, struct str line, uint64_t seq)
{
	struct elsewhere *w = data;

	(void)seq;
	handle_tell_line(&w->handle, line);
	return true;
}

static void tell_events(struct elsewhere *w)
{
	if (handle_wants_lines(&w->handle))
		(void)event_follower_read(&w->events, tell_line, w);
}

/* -- looking -------------------------------------------------------------------------------------
 */

static void stop_watching(struct elsewhere *w)
{
	watch_stop(&w->process);
	timer_stop(&w->again);
	deferred_stop(&w->first);
	run_watch_close(&w->fds);
}

/* A supervisor of its own ends with its run, and lets go of the lock then. A host lives on. */
static bool is_over(const struct run_look *look)
{
	return !look->live || (look->result && look_embedded(look));
}

static bool look_again(struct elsewhere *w, struct report *r)
{
	struct run_look now;

	if (!find_again(w->handle.app, &w->look, &now, r))
		return false;
	look_done(&w->look);
	w->look = now;
	return true;
}

static void finish(struct elsewhere *w)
{
	tell_events(w);
	handle_tell_change(&w->handle);
	stop_watching(w);
	handle_ended(&w->handle);
}

static void check(struct elsewhere *w);

static void on_process(struct watch *watch, uint32_t events)
{
	struct elsewhere *w = container_of(watch, struct elsewhere, process);

	(void)events;
	check(w);
}

static void on_changes(struct notify_file *f, uint32_t events)
{
	struct elsewhere *w = container_of(f, struct elsewhere, fds.file);

	(void)events;
	tell_events(w);
	handle_tell_change(&w->handle);
	if (look_embedded(&w->look) &&
		access(run_file(&w->look.arena, w->look.dir, "result.json"), F_OK) == 0)
		check(w);
}

static void on_again(struct timer *t)
{
	struct elsewhere *w = container_of(t, struct elsewhere, again);

	if (w->blind)
		handle_tell_change(&w->handle);
	check(w);
}

static void on_first(struct deferred *d)
{
	check(container_of(d, struct elsewhere, first));
}

static void start_watching(struct elsewhere *w)
{
	struct loop *loop = app_loop(w->handle.app);

	stop_watching(w);
	int n = run_watch_open(&w->fds, &w->look,
		handle_wants_lines(&w->handle) || handle_wants_changes(&w->handle) ||
			look_embedded(&w->look));
	w->fds.file.changed = on_changes;
	if (n == 0 && notify_is_open(&w->fds.changes))
		n = notify_start(loop, &w->fds.changes);
	w->blind = n < 0;
	if (w->fds.pidfd < 0 ||
		watch_start(loop, &w->process, w->fds.pidfd, EPOLLIN | EPOLLONESHOT) < 0)
		timer_start(loop, &w->again, AGAIN_MS);
	else if (w->blind)
		timer_start(loop, &w->again, BLIND_MS);
}

/* What cannot be looked at now has not ended for that. */
static void cannot_look(struct elsewhere *w)
{
	if (w->asked) {
		stop_watching(w);
		w->handle.ended = true;
	} else {
		timer_start(app_loop(w->handle.app), &w->again, BLIND_MS);
		handle_tell_unseen(&w->handle);
	}
}

/* Watching begins before the look, so that nothing falls in between. */
static void check(struct elsewhere *w)
{
	AUTO_REPORT found = REPORT_INIT;
	bool gone = !look_again(w, &found);

	if (!gone && !is_over(&w->look)) {
		start_watching(w);
		gone = !look_again(w, &found);
	}
	if (gone && report_has_system(&found)) {
		cannot_look(w);
		return;
	}
	/* Nothing will come of it any more. */
	if (gone) {
		w->look.live = false;
		w->look.status = status_str(ROUX_EXITED);
	}
	if (gone || is_over(&w->look))
		finish(w);
	else
		tell_events(w);
}

/* -- what is asked of it -------------------------------------------------------------------------
 */

static struct str id(const struct run_handle *h)
{
	return of(h)->look.id;
}

static struct str dir(const struct run_handle *h)
{
	return of(h)->look.dir;
}

static enum roux_status status(const struct run_handle *h)
{
	enum roux_status s = ROUX_EXITED;

	(void)status_read(of(h)->look.status, &s);
	return s;
}

/* One that has written its result has ended, also while its supervisor still has the lock. */
static bool takes_orders(const struct run_look *look)
{
	return look->live && !look->result;
}

static bool order(struct run_handle *h, enum run_order what, int grace_ms, struct report *r)
{
	struct elsewhere *w = of(h);
	size_t errors = r->errors;

	if (!find_is_current(&w->look, "ended: it has", r))
		return false;
	/* The handle may not know yet that it has ended, or which process looks after it. */
	if (look_again(w, r) && takes_orders(&w->look) && order_tell(&w->look, what, grace_ms, r))
		return true;
	if (r->errors > errors || !look_again(w, r))
		return false;
	return takes_orders(&w->look) ? refuse_starting(w->look.id, r)
				      : refuse_ended(w->look.id, w->look.status, r);
}

static int write_result(struct run_handle *h, struct buf *b, int fd, enum roux_status *ret)
{
	int e = told_result(&of(h)->look, b);

	*ret = status(h);
	if (e == 0 && fd >= 0) {
		e = fd_write_all(fd, buf_str(b));
		buf_reset(b);
	}
	return e;
}

static json_t *summary(struct run_handle *h)
{
	return told_summary(&of(h)->look);
}

static int write_output(struct run_handle *h, int to)
{
	struct elsewhere *w = of(h);
	AUTO_CLOSE int fd = run_open(w->look.dir.p, "stdout.log", O_RDONLY);
	ssize_t n;

	/* One that is done has left one, empty or not. */
	if (fd < 0)
		return fd == -ENOENT && !status_ok(told_status(&w->look)) ? 0 : fd;
	AUTO_FREE char *piece = mem_alloc(CHUNK);
	for (off_t at = 0; (n = fd_read_at(fd, piece, CHUNK, at)) > 0; at += n) {
		int e = fd_write_all(to, (struct str){ piece, (size_t)n });

		if (e < 0)
			return e;
	}
	return n < 0 ? -errno : 0;
}

static int watch_it(struct elsewhere *w)
{
	struct loop *loop = app_loop(w->handle.app);

	if (!loop)
		return -errno;
	w->handle.ended = false;
	if (!list_linked(&w->handle.link))
		list_append(&w->handle.app->runs, &w->handle.link);
	deferred_start(loop, &w->first);
	return 0;
}

/* Lines come from the loop, also those of the past. */
static int observed(struct run_handle *h)
{
	struct elsewhere *w = of(h);

	/* From the beginning: each has what it has not heard yet. */
	event_follower_done(&w->events);
	event_follower_init(&w->events, w->look.dir.p, 0);
	return watch_it(w);
}

static void leave(struct run_handle *h)
{
	stop_watching(of(h));
	list_remove(&h->link);
}

static void free_elsewhere(struct run_handle *h)
{
	struct elsewhere *w = of(h);

	stop_watching(w);
	event_follower_done(&w->events);
	look_done(&w->look);
	handle_done(h);
	free(w);
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
	.free = free_elsewhere,
};

struct run_handle *elsewhere_open(struct app *a, struct run_look *look)
{
	struct elsewhere *w = mem_new(struct elsewhere);

	handle_init(&w->handle, &ops, a);
	run_watch_init(&w->fds);
	w->process = (struct watch){ .fd = -1, .ready = on_process };
	w->again.fire = on_again;
	w->first.call = on_first;
	w->look = *look;
	*look = (struct run_look){ 0 };
	event_follower_init(&w->events, w->look.dir.p, 0);
	w->handle.ended = is_over(&w->look);
	list_remove(&w->handle.link);
	return &w->handle;
}

struct run_handle *runs_open(struct app *a, const char *name, struct report *r)
{
	struct run_look look = { 0 };

	if (find_run(a, name, &look, r))
		return elsewhere_open(a, &look);
	look_done(&look);
	return NULL;
}

struct str run_status_word(const struct run_handle *h)
{
	return h->ops == &ops ? of(h)->look.status : status_str(run_status(h));
}

uint64_t run_cursor(const struct run_handle *h)
{
	const struct run_look *look = elsewhere_look(h);

	if (!look || !h->app->ledger)
		return 0;
	return look->row.seq ? look->row.seq
			     : ledger_seq(h->app->ledger, look->run, look->generation);
}

bool elsewhere_end(struct run_handle *h, enum run_order what, int grace_ms, struct report *r)
{
	if (h->ops == &ops)
		return order_end(h->app, &of(h)->look, what, grace_ms, r);
	if (!run_order(h, what, grace_ms, r))
		return false;
	handle_turn(h);
	return true;
}

/* The lock is waited for even when the result is there already: a caller that waited may delete the
 * run or start it again. A run of the same name that was started meanwhile is waited for too. */
static bool wait_elsewhere(struct elsewhere *w, struct report *r)
{
	struct app *a = w->handle.app;
	struct run_look now;

	if (w->look.back)
		return true;
	for (;;) {
		if (!w->handle.ended) {
			int e = watch_it(w);
			if (e < 0)
				return run_unobserved(&w->handle, e, r);
			w->asked = true;
			handle_turn(&w->handle);
			w->asked = false;
		}
		run_unlocked_wait(w->look.dir.p);
		if (!find_id(a, w->look.id, &now, r)) {
			look_done(&now);
			return false;
		}
		look_done(&w->look);
		w->look = now;
		w->handle.ended = is_over(&now);
		if (w->handle.ended)
			return true;
	}
}

bool run_wait(struct run_handle *h, struct report *r)
{
	if (h->ops == &ops)
		return wait_elsewhere(of(h), r);
	handle_turn(h);
	return true;
}

bool run_is_replaced(struct run_handle *h)
{
	AUTO_REPORT found = REPORT_INIT;
	const struct run_look *look = elsewhere_look(h);
	struct run_look now;

	if (!look || look->back)
		return false;
	bool same = find_id(h->app, look->id, &now, &found)
			    ? str_eq(now.generation, look->generation)
			    : report_has_system(&found);
	look_done(&now);
	return !same;
}

bool elsewhere_look_again(struct run_handle *h, struct report *r)
{
	return look_again(of(h), r);
}

const struct run_look *elsewhere_look(const struct run_handle *h)
{
	return h->ops == &ops ? &of(h)->look : NULL;
}

struct run_look *handle_look(struct run_handle *h, struct report *r)
{
	size_t errors = r->errors;

	if (h->ops == &ops)
		return &of(h)->look;
	look_done(&h->seen);
	h->seen = (struct run_look){ 0 };
	if (!run_id(h).len)
		report_refuse(r, S(""), "not recorded", "the run is not recorded");
	else if (look_at(app_state_root(h->app), app_ledger(h->app, r), run_id(h), &h->seen, r))
		return &h->seen;
	else if (r->errors == errors)
		refuse_gone(run_id(h), r);
	return NULL;
}
