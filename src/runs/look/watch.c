#include "runs/look/watch.h"

#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "runs/dir/place.h"

/* Only while a run is being started, and nobody has written down yet who supervises it. */
enum { STARTING_MS = 100 };

int run_watch_open(struct run_watch *w, const struct run_look *look, bool files)
{
	*w = (struct run_watch){ .pidfd = -1, .changes = -1, .dir = look->dir };
	int fd = look_supervisor(&look->row);
	w->pidfd = fd < 0 ? -1 : fd;
	if (!files)
		return 0;
	w->changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->changes < 0)
		return -errno;
	int watch = inotify_add_watch(w->changes, look->dir.p,
		IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_CLOSE_WRITE | IN_ONLYDIR);
	return watch < 0 ? -errno : 0;
}

void run_watch_close(struct run_watch *w)
{
	close_fd(&w->pidfd);
	close_fd(&w->changes);
}

/* What changed is found out by looking; the events only say when. */
static void drain(int fd)
{
	char events[8192] __attribute__((aligned(__alignof__(struct inotify_event))));

	while (read(fd, events, sizeof(events)) > 0)
		;
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
		{ .fd = w->changes, .events = POLLIN } };
	int limit = w->pidfd >= 0 ? idle_ms : idle_ms < 0 ? STARTING_MS : MIN(idle_ms, STARTING_MS);

	int n;
	do {
		n = poll(p, ARRAY_SIZE(p), limit);
	} while (n < 0 && errno == EINTR);
	if (p[1].revents) {
		drain(w->changes);
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
