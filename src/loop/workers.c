#include "loop/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/mem.h"

enum { THREADS_MAX = 8 };

struct workers {
	struct watch watch; /* an eventfd: something has been finished */
	pthread_mutex_t lock;
	pthread_cond_t news; /* a job has come, or the end */
	struct list waiting, working, finished;
	unsigned idle, threads, max;
	bool over;
	pthread_t at[THREADS_MAX];
};

/* -- a thread ------------------------------------------------------------------------------------
 */

static void finish(struct workers *w, struct job *j)
{
	const uint64_t one = 1;

	list_remove(&j->link);
	list_append(&w->finished, &j->link);
	/* It cannot be full: the loop has as many to read as there are jobs. */
	(void)!write(w->watch.fd, &one, sizeof(one));
}

static void *serve(void *data)
{
	struct workers *w = data;

	(void)pthread_mutex_lock(&w->lock);
	while (!w->over) {
		if (list_empty(&w->waiting)) {
			w->idle++;
			(void)pthread_cond_wait(&w->news, &w->lock);
			w->idle--;
			continue;
		}
		struct job *j = list_entry(w->waiting.next, struct job, link);
		list_remove(&j->link);
		list_append(&w->working, &j->link);
		(void)pthread_mutex_unlock(&w->lock);
		j->work(j);
		(void)pthread_mutex_lock(&w->lock);
		finish(w, j);
	}
	(void)pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Signals are the loop's. */
static void add_thread(struct workers *w)
{
	sigset_t all, before;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&w->at[w->threads], NULL, serve, w) == 0)
		w->threads++;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* -- the loop's side -----------------------------------------------------------------------------
 */

static struct job *take(struct workers *w, struct list *from)
{
	struct job *j = NULL;

	(void)pthread_mutex_lock(&w->lock);
	if (!list_empty(from)) {
		j = list_entry(from->next, struct job, link);
		list_remove(&j->link);
	}
	(void)pthread_mutex_unlock(&w->lock);
	return j;
}

static void on_finished(struct watch *watch, uint32_t events)
{
	struct workers *w = container_of(watch, struct workers, watch);
	uint64_t count;

	(void)events;
	(void)!read(watch->fd, &count, sizeof(count));
	for (struct job *j; (j = take(w, &w->finished));)
		j->done(j);
}

struct workers *workers_new(struct loop *l, unsigned threads)
{
	struct workers *w = mem_new(struct workers);

	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->watch.ready = on_finished;
	if (fd < 0 || watch_start(l, &w->watch, fd, EPOLLIN) < 0) {
		close_fd(&fd);
		free(w);
		return NULL;
	}
	w->max = MIN(threads, (unsigned)THREADS_MAX);
	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_cond_init(&w->news, NULL);
	list_init(&w->waiting);
	list_init(&w->working);
	list_init(&w->finished);
	return w;
}

void workers_add(struct workers *w, struct job *j)
{
	(void)pthread_mutex_lock(&w->lock);
	list_append(&w->waiting, &j->link);
	if (!w->idle && w->threads < w->max)
		add_thread(w);
	bool none = !w->threads;
	(void)pthread_cond_signal(&w->news);
	(void)pthread_mutex_unlock(&w->lock);
	if (!none)
		return;
	/* The machine has no thread to give: slow is better than never. */
	j = take(w, &w->waiting);
	j->work(j);
	(void)pthread_mutex_lock(&w->lock);
	list_append(&w->finished, &j->link);
	(void)pthread_mutex_unlock(&w->lock);
	const uint64_t one = 1;
	(void)!write(w->watch.fd, &one, sizeof(one));
}

void workers_free(struct workers *w)
{
	int fd;

	if (!w)
		return;
	(void)pthread_mutex_lock(&w->lock);
	w->over = true;
	list_each (link, &w->waiting)
		atomic_store(&list_entry(link, struct job, link)->stop, true);
	list_each (link, &w->working)
		atomic_store(&list_entry(link, struct job, link)->stop, true);
	(void)pthread_cond_broadcast(&w->news);
	(void)pthread_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < w->threads; i++)
		(void)pthread_join(w->at[i], NULL);
	for (struct job *j; (j = take(w, &w->finished)) || (j = take(w, &w->waiting));)
		j->done(j);
	fd = w->watch.fd;
	watch_stop(&w->watch);
	close_fd(&fd);
	(void)pthread_mutex_destroy(&w->lock);
	(void)pthread_cond_destroy(&w->news);
	free(w);
}
