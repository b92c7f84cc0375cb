#include "loop/signals.h"

#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/lang.h"

static void on_ready(struct watch *w, uint32_t events)
{
	struct signals *s = container_of(w, struct signals, watch);
	struct signalfd_siginfo info;

	(void)events;
	while (w->loop && read(w->fd, &info, sizeof(info)) == sizeof(info))
		s->came(s, (int)info.ssi_signo, info.ssi_int);
}

int signals_start(struct loop *l, struct signals *s, const int *list)
{
	sigset_t set;

	(void)sigemptyset(&set);
	for (; *list; list++) {
		struct sigaction now;

		if (sigaction(*list, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			(void)sigaddset(&set, *list);
	}
	(void)pthread_sigmask(SIG_BLOCK, &set, &s->before);
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	s->watch.ready = on_ready;
	int r = fd < 0 ? -errno : watch_start(l, &s->watch, fd, EPOLLIN);
	if (r < 0) {
		/* Blocked and read by nothing, they would be lost. */
		close_fd(&fd);
		(void)pthread_sigmask(SIG_SETMASK, &s->before, NULL);
	}
	return r;
}

void signals_stop(struct signals *s)
{
	int fd = s->watch.fd;

	struct signalfd_siginfo info;

	if (!s->watch.loop)
		return;
	watch_stop(&s->watch);
	while (read(fd, &info, sizeof(info)) == sizeof(info))
		;
	close_fd(&fd);
	(void)pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}
