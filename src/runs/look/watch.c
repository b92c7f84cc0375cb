#include "runs/look/watch.h"

void run_watch_init(struct run_watch *w)
{
	*w = (struct run_watch){ .pidfd = -1 };
	notify_init(&w->changes);
}

int run_watch_open(struct run_watch *w, const struct run_look *look, bool files)
{
	run_watch_init(w);
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
