#include "engine/early.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>

#include "base/file.h"

static void reader_gone(struct early *e)
{
	if (e->fd < 0)
		return;
	early_stop(e);
	e->gone(e);
}

static void push(struct early *e)
{
	const struct executor_ops *ops = e->job ? e->job->executor->ops : NULL;
	uint64_t size = 0;
	int file = ops && ops->peek ? ops->peek(e->job, &size) : -1;

	if (file < 0 || size < EARLY_MIN)
		return;
	while (e->fd >= 0 && e->at < size) {
		struct sigpipe quiet;
		off_t at = (off_t)e->at;

		sigpipe_begin(&quiet);
		ssize_t n = sendfile(e->fd, file, &at, (size_t)(size - e->at));
		int error = errno;
		sigpipe_end(&quiet);
		if (n > 0)
			e->at += (uint64_t)n;
		else if (n < 0 && error == EPIPE)
			reader_gone(e);
		else if (n == 0 || error != EINTR)
			return; /* full: the watch tells when there is room */
	}
}

static void on_ready(struct watch *w, uint32_t events)
{
	struct early *e = container_of(w, struct early, watch);

	if (events & (EPOLLERR | EPOLLHUP))
		reader_gone(e);
	else
		push(e);
}

void early_start(
	struct early *e, struct loop *l, int fd, bool prints, void (*gone)(struct early *e))
{
	e->loop = l;
	e->fd = fd;
	e->prints = prints;
	e->gone = gone;
	e->watch.ready = on_ready;
	/* Edge-triggered: a pipe with room must not wake us all the time. */
	if (fd >= 0 && watch_start(l, &e->watch, fd, EPOLLOUT | EPOLLET) < 0)
		e->fd = -1;
}

void early_stop(struct early *e)
{
	watch_stop(&e->watch);
	e->fd = -1;
	e->job = NULL;
}

void early_came(struct early *e, struct job *j)
{
	if (e->fd < 0 || !e->prints)
		return;
	e->job = j;
	push(e);
}

void early_ended(struct early *e, const struct job *j)
{
	if (e->job == j)
		e->job = NULL;
}
