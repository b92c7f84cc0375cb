#include "loop/notify.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/mem.h"

static void on_ready(struct watch *w, uint32_t events)
{
	(void)events;
	notify_take(container_of(w, struct notify, watch));
}

void notify_init(struct notify *n)
{
	*n = (struct notify){ .fd = -1, .watch = { .fd = -1, .ready = on_ready } };
	list_init(&n->files);
}

int notify_open(struct notify *n)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd < 0)
		return -errno;
	n->fd = fd;
	return 0;
}

int notify_start(struct loop *l, struct notify *n)
{
	return watch_start(l, &n->watch, n->fd, EPOLLIN);
}

void notify_close(struct notify *n)
{
	watch_stop(&n->watch);
	while (!list_empty(&n->files)) {
		struct notify_file *f = list_entry(n->files.next, struct notify_file, link);

		f->wd = -1;
		list_remove(&f->link);
	}
	close_fd(&n->fd);
}

/* -- files ---------------------------------------------------------------------------------------
 */

int notify_add(struct notify *n, struct notify_file *f, const char *path, uint32_t events)
{
	notify_remove(n, f);
	if (n->fd < 0)
		return -EBADF;
	int wd = inotify_add_watch(n->fd, path, events);
	if (wd < 0)
		return -errno;
	f->wd = wd;
	list_append(&n->files, &f->link);
	return 0;
}

int notify_add_fd(struct notify *n, struct notify_file *f, int fd, uint32_t events)
{
	char path[40];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return notify_add(n, f, path, events);
}

void notify_remove(struct notify *n, struct notify_file *f)
{
	if (!list_linked(&f->link))
		return;
	list_remove(&f->link);
	if (f->wd >= 0)
		(void)inotify_rm_watch(n->fd, f->wd);
	f->wd = -1;
	f->pending = 0;
}

/* -- what has changed ----------------------------------------------------------------------------
 */

static void note(struct notify *n, const struct inotify_event *e)
{
	list_each (link, &n->files) {
		struct notify_file *f = list_entry(link, struct notify_file, link);

		if (e->mask & IN_Q_OVERFLOW) {
			f->pending |= e->mask;
		} else if (f->wd == e->wd) {
			f->pending |= e->mask & ~(uint32_t)IN_IGNORED;
			/* The kernel has ended the watch: the file is gone. */
			if (e->mask & IN_IGNORED)
				f->wd = -1;
		}
	}
}

static struct notify_file *next_pending(struct notify *n)
{
	list_each (link, &n->files) {
		struct notify_file *f = list_entry(link, struct notify_file, link);

		if (f->pending)
			return f;
	}
	return NULL;
}

void notify_take(struct notify *n)
{
	_Alignas(struct inotify_event) char text[4096];
	struct notify_file *f;
	ssize_t len;

	while ((len = read(n->fd, text, sizeof(text))) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct inotify_event *e = (const void *)(text + at);

			note(n, e);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
	/* From the beginning each time: a call may add and remove files. */
	while ((f = next_pending(n))) {
		uint32_t events = f->pending;

		f->pending = 0;
		if (f->changed)
			f->changed(f, events);
	}
}

bool notify_wait(struct notify *n, int timeout_ms)
{
	struct pollfd p = { .fd = n->fd, .events = POLLIN };

	if (poll(&p, 1, timeout_ms) <= 0)
		return false;
	notify_take(n);
	return true;
}
