#include "remote/writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { AGAIN_MS = 500 };

struct writer {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct buf lines; /* not taken by the thread yet */
	bool sync, tell, busy;
	uint64_t synced_ms, written;
	const struct exchange *x;
	struct exchange_file file;
	int event;
	struct watch watch;
	void (*wrote)(void *data);
	void *data;
};

static void wait_a_moment(struct writer *w)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += AGAIN_MS * 1000000L;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	(void)pthread_cond_timedwait(&w->work, &w->lock, &t);
}

/* One batch; the lock is held before and after, not while it is written. */
static void write_batch(struct writer *w)
{
	AUTO_BUF lines = BUF_INIT;
	bool sync = w->sync, tell = w->tell;
	uint64_t began = clock_boot_ms();

	buf_swap(&lines, &w->lines);
	w->sync = w->tell = false;
	w->busy = true;
	(void)pthread_mutex_unlock(&w->lock);
	int r = exchange_file_append(w->x, &w->file, buf_str(&lines), sync);
	(void)pthread_mutex_lock(&w->lock);
	w->busy = false;
	if (r < 0) {
		/* Behind what came meanwhile nothing may stand that is older. */
		buf_add(&lines, buf_str(&w->lines));
		buf_swap(&lines, &w->lines);
		w->sync |= sync;
		w->tell |= tell;
		wait_a_moment(w);
		return;
	}
	w->written += lines.len;
	if (sync)
		w->synced_ms = began;
	if (tell)
		(void)!write(w->event, &(uint64_t){ 1 }, sizeof(uint64_t));
	(void)pthread_cond_broadcast(&w->done);
}

static void *run(void *data)
{
	struct writer *w = data;

	(void)pthread_mutex_lock(&w->lock);
	for (;;) {
		if (w->lines.len)
			write_batch(w);
		else
			(void)pthread_cond_wait(&w->work, &w->lock);
	}
	return NULL;
}

static void on_event(struct watch *watch, uint32_t events)
{
	struct writer *w = container_of(watch, struct writer, watch);
	uint64_t ignored;

	(void)events;
	(void)!read(w->event, &ignored, sizeof(ignored));
	w->wrote(w->data);
}

struct writer *writer_new(struct loop *l, const struct exchange *x, const char *name,
	void (*wrote)(void *data), void *data)
{
	struct writer *w = mem_new(struct writer);
	pthread_attr_t attr;
	pthread_t thread;

	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_cond_init(&w->work, NULL);
	(void)pthread_cond_init(&w->done, NULL);
	w->x = x;
	w->wrote = wrote;
	w->data = data;
	w->synced_ms = clock_boot_ms();
	exchange_file_init(&w->file, x, name, true, false);
	w->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->watch.ready = on_event;
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (w->event < 0 || watch_start(l, &w->watch, w->event, EPOLLIN) < 0 ||
		pthread_create(&thread, &attr, run, w) != 0)
		return NULL;
	return w;
}

void writer_add(struct writer *w, struct str lines, bool sync, bool tell)
{
	(void)pthread_mutex_lock(&w->lock);
	buf_add(&w->lines, lines);
	w->sync |= sync;
	w->tell |= tell;
	(void)pthread_cond_signal(&w->work);
	(void)pthread_mutex_unlock(&w->lock);
}

uint64_t writer_synced_ms(struct writer *w)
{
	(void)pthread_mutex_lock(&w->lock);
	uint64_t ms = w->synced_ms;
	(void)pthread_mutex_unlock(&w->lock);
	return ms;
}

uint64_t writer_written(struct writer *w)
{
	(void)pthread_mutex_lock(&w->lock);
	uint64_t bytes = w->written;
	(void)pthread_mutex_unlock(&w->lock);
	return bytes;
}

bool writer_flush(struct writer *w, uint64_t within_ms)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)(within_ms / 1000);
	until.tv_nsec += (long)(within_ms % 1000) * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	(void)pthread_mutex_lock(&w->lock);
	while ((w->lines.len || w->busy) &&
		pthread_cond_timedwait(&w->done, &w->lock, &until) != ETIMEDOUT)
		;
	bool all = !w->lines.len && !w->busy;
	(void)pthread_mutex_unlock(&w->lock);
	return all;
}
