#include "runs/look/watch.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "runs/dir/run-dir.h"

/* Only while a run is being started, and run.json does not name its supervisor yet. */
enum { STARTING_MS = 100 };

void run_watch_init(struct run_watch *w)
{
	*w = (struct run_watch){ .pidfd = -1 };
	notify_init(&w->changes);
}

int run_watch_open(struct run_watch *w, const struct run_look *look, bool files)
{
	run_watch_init(w);
	w->dir = look->dir;
	int fd = look_supervisor(&look->row);
	w->pidfd = fd < 0 ? -1 : fd;
	if (!files)
		return 0;
	int r = notify_open(&w->changes);
	return r < 0 ? r
		     : notify_add(&w->changes, &w->file, look->dir.p,
			       IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_CLOSE_WRITE |
				       IN_ONLYDIR);
}

void run_watch_close(struct run_watch *w)
{
	close_fd(&w->pidfd);
	notify_close(&w->changes);
}

static bool has_result(struct str dir)
{
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%.*s/result.json", STR(dir));
	return access(buf_cstr(&path), F_OK) == 0;
}

enum watch_event run_watch_next(struct run_watch *w, int idle_ms)
{
	/* poll() passes over those that are negative. */
	struct pollfd p[] = { { .fd = w->pidfd, .events = POLLIN },
		{ .fd = w->changes.fd, .events = POLLIN } };
	int limit = w->pidfd >= 0 ? idle_ms : idle_ms < 0 ? STARTING_MS : MIN(idle_ms, STARTING_MS);

	int n;
	do {
		n = poll(p, ARRAY_SIZE(p), limit);
	} while (n < 0 && errno == EINTR);
	if (p[1].revents) {
		notify_take(&w->changes);
		/* With its result a run is over, even when its process has others to look after.
		 * The lock is let go at any moment now. */
		if (has_result(w->dir)) {
			run_unlocked_wait(w->dir.p);
			return WATCH_ENDED;
		}
	}
	if (p[0].revents || (w->pidfd < 0 && !run_locked(w->dir.p)))
		return WATCH_ENDED;
	return WATCH_CHANGED;
}
