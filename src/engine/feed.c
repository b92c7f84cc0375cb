#include "engine/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

struct live {
	struct loop *loop;
	struct watch watch;
	struct timer again; /* for a source that epoll cannot watch */
	struct list feeds;
	int source, file;
	off_t size;
	bool ended, started, collecting;
	size_t readers; /* that are through */
	off_t taken;    /* by one of them, at most */
	bool cut;       /* one of them was ended before it was through */
	int error;      /* errno: it could not be kept, or … */
	bool unread;    /* … it could not be read */
	struct live_owner *owner;
};

static void push(struct feed *f)
{
	struct live *l = f->live;
	struct sigpipe quiet;

	while (f->fd >= 0 && f->at < l->size) {
		sigpipe_begin(&quiet);
		ssize_t n = sendfile(f->fd, l->file, &f->at, (size_t)(l->size - f->at));
		sigpipe_end(&quiet);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			f->waiting = true;
			return;
		}
		if (n <= 0)
			feed_stop(f); /* the command does not want it: no error */
	}
	f->waiting = false;
	if (l->ended && f->at >= l->size)
		feed_stop(f);
}

static void push_all(struct live *l)
{
	list_each_safe (link, &l->feeds)
		push(list_entry(link, struct feed, link));
}

/* -- the source ----------------------------------------------------------------------------------
 */

/* Whether there is a use for more of it: a reader whose pipe has room. */
static bool wanted(const struct live *l)
{
	list_each (link, &l->feeds)
		if (!list_entry(link, struct feed, link)->waiting)
			return true;
	return l->collecting;
}

static void end(struct live *l);
static void unreadable(struct live *l, int error);

/* Listens while more is wanted. */
static void listen(struct live *l)
{
	if (!l->started || l->ended)
		return;
	if (!wanted(l)) {
		watch_stop(&l->watch);
		timer_stop(&l->again);
		return;
	}
	if (l->watch.loop || timer_running(&l->again))
		return;
	int r = watch_start(l->loop, &l->watch, l->source, EPOLLIN);
	if (r == -EPERM)
		timer_start(l->loop, &l->again, 0); /* a file or device: always ready */
	else if (r < 0)
		unreadable(l, -r);
}

static void end(struct live *l)
{
	l->ended = true;
	watch_stop(&l->watch);
	timer_stop(&l->again);
	push_all(l);
	if (!l->error && l->owner->complete)
		l->owner->complete(l->owner);
	if (l->error)
		l->owner->failed(l->owner, l->error, l->unread);
	else if (l->collecting)
		l->owner->collected(l->owner);
}

/* What cannot be read is not its end: a command must not take a part for the whole. */
static void unreadable(struct live *l, int error)
{
	l->error = error;
	l->unread = true;
	end(l);
}

/* Reads some; 0 at the end or when it cannot be kept. */
static ssize_t pull(struct live *l)
{
	char chunk[16384];
	ssize_t n = read(l->source, chunk, sizeof(chunk));

	if (n > 0) {
		int r = fd_write_all(l->file, (struct str){ chunk, (size_t)n });

		if (r < 0) {
			l->error = -r;
			return 0;
		}
		l->size += n;
	}
	return n;
}

static void on_source(struct watch *w, uint32_t events)
{
	struct live *l = container_of(w, struct live, watch);
	ssize_t n = pull(l);

	(void)events;
	if (n > 0)
		push_all(l);
	else if (n == 0 || errno == EBADF) /* what is open for writing only has nothing to read */
		end(l);
	else if (errno != EINTR && errno != EAGAIN)
		unreadable(l, errno);
	listen(l);
}

static void on_again(struct timer *t)
{
	struct live *l = container_of(t, struct live, again);

	on_source(&l->watch, 0);
}

struct live *live_new(struct loop *loop, int fd, int keep, struct live_owner *owner)
{
	struct live *l = mem_new(struct live);

	l->loop = loop;
	l->source = fd;
	l->owner = owner;
	l->watch.ready = on_source;
	l->again.fire = on_again;
	list_init(&l->feeds);
	l->file = keep >= 0 ? keep : file_temp();
	return l;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	while (!list_empty(&l->feeds))
		feed_stop(list_entry(l->feeds.next, struct feed, link));
	watch_stop(&l->watch);
	timer_stop(&l->again);
	close_fd(&l->file);
	free(l);
}

/* The source is touched only once a reader wants it. */
static void start(struct live *l)
{
	l->started = true;
	listen(l);
}

void live_collect(struct live *l)
{
	l->collecting = true;
	if (l->ended)
		l->owner->collected(l->owner);
	else
		start(l);
}

struct content *live_content(struct live *l)
{
	int fd = fcntl(l->file, F_DUPFD_CLOEXEC, 3);

	return fd < 0 || !l->size ? NULL : content_from_fd(fd, 0, (uint64_t)l->size);
}

bool live_taken(const struct live *l, uint64_t *bytes)
{
	*bytes = (uint64_t)(l->ended ? l->size : l->taken);
	/* A part of what cannot be read or kept is not the whole. */
	return !l->error && (l->ended || (l->readers && !l->cut));
}

bool live_had_all(const struct live *l, uint64_t bytes)
{
	struct pollfd p = { .fd = l->source, .events = POLLIN };
	struct stat st;

	if (l->ended || bytes != (uint64_t)l->size || fstat(l->source, &st) < 0)
		return l->ended;
	if (S_ISREG(st.st_mode))
		return lseek(l->source, 0, SEEK_CUR) >= st.st_size;
	/* A pipe without writers that is empty. */
	return poll(&p, 1, 0) == 1 && (p.revents & (POLLIN | POLLHUP)) == POLLHUP;
}

/* -- readers -------------------------------------------------------------------------------------
 */

static void on_room(struct watch *w, uint32_t events)
{
	struct feed *f = container_of(w, struct feed, watch);
	struct live *l = f->live;

	if (events & EPOLLERR)
		feed_stop(f);
	else
		push(f);
	listen(l);
}

int feed_start(struct live *l, struct feed *f, int *child_end)
{
	int ends[2];

	if (l->file < 0)
		return l->file;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	(void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
	*f = (struct feed){ .live = l, .fd = ends[1] };
	f->watch.ready = on_room;
	/* Edge-triggered: an idle reader with room must not wake us all the time. */
	int r = watch_start(l->loop, &f->watch, ends[1], EPOLLOUT | EPOLLET);
	if (r < 0) {
		close_fd(&ends[0]);
		close_fd(&f->fd);
		return r;
	}
	list_append(&l->feeds, &f->link);
	*child_end = ends[0];
	push(f);
	start(l);
	return 0;
}

void feed_stop(struct feed *f)
{
	struct live *l = f->live;
	int unread = 0;

	if (!l)
		return;
	if (f->fd >= 0) {
		(void)ioctl(f->fd, FIONREAD, &unread);
		l->taken = MAX(l->taken, f->at - unread);
	}
	if (list_linked(&f->link))
		l->readers++;
	l->cut |= f->cut;
	list_remove(&f->link);
	watch_stop(&f->watch);
	close_fd(&f->fd);
}
