#include "app/watched.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/run-status.h"
#include "runs/dir/events.h"
#include "runs/dir/run-dir.h"
#include "runs/look/watch.h"

/* While somebody has a run who cannot be watched: it is just being started. */
enum { AGAIN_MS = 50 };

struct watched {
	struct roux_run *run;
	struct run_look look;
	struct run_watch fds;
	struct watch process;
	struct timer again;
	struct deferred first;
	struct event_follower events;
};

/* -- events --------------------------------------------------------------------------------------
 */

static bool tell_line(void *data, struct str line, uint64_t seq)
{
	struct watched *w = data;

	(void)seq;
	start_tell_line(w->run, line);
	return true;
}

static void tell_events(struct watched *w)
{
	if (w->run->on_event)
		(void)event_follower_read(&w->events, tell_line, w);
}

/* -- looking -------------------------------------------------------------------------------------
 */

static void stop_watching(struct watched *w)
{
	watch_stop(&w->process);
	timer_stop(&w->again);
	deferred_stop(&w->first);
	run_watch_close(&w->fds);
}

/* A supervisor of its own ends with its run, and lets go of the lock then. A host lives on. */
static bool is_over(const struct run_look *look)
{
	return !look->live || (look->result && runs_embedded(look));
}

/* Looks again. False: the directory is gone, and nothing will come of it any more. */
static bool look_again(struct watched *w)
{
	struct roux *r = w->run->roux;
	struct arena a = ARENA_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	struct run_look now;
	struct runs s;

	runs_open_at(&s, &a, r->root, &ignored);
	bool found = look_at(r->root, s.ledger, w->look.id, &now, &ignored);
	runs_close(&s);
	arena_done(&a);
	/* Another one that has the name now is not this one. */
	bool same =
		found && (!w->look.generation.len || str_eq(now.generation, w->look.generation));
	if (same) {
		look_done(&w->look);
		w->look = now;
	} else {
		look_done(&now);
	}
	return same;
}

static void finish(struct watched *w)
{
	tell_events(w);
	stop_watching(w);
	event_follower_done(&w->events);
	w->run->ended = true;
	list_remove(&w->run->link);
}

static void check(struct watched *w);

static void on_process(struct watch *watch, uint32_t events)
{
	struct watched *w = container_of(watch, struct watched, process);

	(void)events;
	check(w);
}

static void on_changes(struct notify_file *f, uint32_t events)
{
	struct watched *w = container_of(f, struct watched, fds.file);

	(void)events;
	tell_events(w);
	if (runs_embedded(&w->look) &&
		access(run_file(&w->look.arena, w->look.dir, "result.json"), F_OK) == 0)
		check(w);
}

static void on_again(struct timer *t)
{
	check(container_of(t, struct watched, again));
}

static void on_first(struct deferred *d)
{
	check(container_of(d, struct watched, first));
}

static void start_watching(struct watched *w)
{
	struct loop *loop = w->run->roux->loop;

	stop_watching(w);
	(void)run_watch_open(&w->fds, &w->look, w->run->on_event || runs_embedded(&w->look));
	w->fds.file.changed = on_changes;
	if (notify_is_open(&w->fds.changes))
		(void)notify_start(loop, &w->fds.changes);
	if (w->fds.pidfd < 0 ||
		watch_start(loop, &w->process, w->fds.pidfd, EPOLLIN | EPOLLONESHOT) < 0)
		timer_start(loop, &w->again, AGAIN_MS);
}

/* Watching begins before the look, so that nothing falls in between. */
static void check(struct watched *w)
{
	bool gone = !look_again(w);

	if (!gone && !is_over(&w->look)) {
		start_watching(w);
		gone = !look_again(w);
	}
	if (gone) {
		w->look.live = false;
		w->look.status = status_str(ROUX_EXITED);
	}
	if (gone || is_over(&w->look))
		finish(w);
	else
		tell_events(w);
}

/* -- the public side -----------------------------------------------------------------------------
 */

struct roux_run *watched_open(struct roux *r, const char *name, roux_event_fn *fn, void *data)
{
	struct watched *w = mem_new(struct watched);
	struct arena a = ARENA_INIT;
	const char *reason;
	struct runs s;

	run_watch_init(&w->fds);
	w->process = (struct watch){ .fd = -1, .ready = on_process };
	w->again.fire = on_again;
	w->first.call = on_first;
	context_places(r);
	runs_open_at(&s, &a, r->root, &r->report);
	bool found = runs_find(&s, name, &w->look, &reason, &r->report);
	runs_close(&s);
	arena_done(&a);
	if (!found) {
		watched_free(w);
		return NULL;
	}
	event_follower_init(&w->events, w->look.dir.p, 0);
	struct roux_run *run = mem_new(struct roux_run);
	run->roux = roux_ref(r);
	run->watched = w;
	run->on_event = fn;
	run->event_data = data;
	w->run = run;
	/* Events come from the loop, also those of the past. */
	run->ended = !fn && is_over(&w->look);
	if (!run->ended) {
		list_append(&r->runs, &run->link);
		deferred_start(r->loop, &w->first);
	}
	return run;
}

struct roux_run *roux_run_open(
	struct roux *r, const char *name, roux_event_fn *on_event, void *data)
{
	if (!r)
		return NULL;
	report_reset(&r->report);
	if (name)
		return watched_open(r, name, on_event, data);
	report_error(&r->report, (struct where){ 0 }, "a run has a name");
	return NULL;
}

void watched_leave(struct roux_run *run)
{
	stop_watching(run->watched);
	list_remove(&run->link);
}

void watched_free(struct watched *w)
{
	if (!w)
		return;
	stop_watching(w);
	event_follower_done(&w->events);
	look_done(&w->look);
	free(w);
}

const char *watched_id(const struct roux_run *run)
{
	return run->watched->look.id.p;
}

enum roux_status watched_status(const struct roux_run *run)
{
	return runs_status_of(run->watched->look.status);
}

void watched_result(struct roux_run *run, struct buf *b)
{
	(void)runs_result(&run->watched->look, b);
}

bool watched_order(struct roux_run *run, enum run_order order)
{
	struct watched *w = run->watched;
	struct roux *r = run->roux;

	report_reset(&r->report);
	if (runs_tell(&w->look, order, -1, &r->report))
		return true;
	/* It may not have said yet who looks after it. */
	return !r->report.errors && look_again(w) && !is_over(&w->look) &&
	       runs_tell(&w->look, order, -1, &r->report);
}
