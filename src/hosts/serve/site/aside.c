#include "hosts/serve/site/aside.h"

#include <stdlib.h>

#include "app/logs.h"
#include "base/file.h"
#include "base/mem.h"
#include "hosts/serve/site/feed.h"

enum {
	THREADS = 2,
	COUNTED_HERE = 1 << 20, /* bytes whose lines are counted on the loop */
	WORTH_WAITING = 64 << 20,
};

struct aside {
	struct dashboard *site;
	struct workers *workers;
	struct log_counts *counts;
	struct list loads, countings;
	struct http_request *resumed; /* the one whose handler is called again: it waits no more */
	bool over;
};

/* -- requests that wait --------------------------------------------------------------------------
 */

struct waiter {
	struct list link;
	struct http_request *q; /* NULL: not a request */
	void (*then)(void *data);
	void *data;
};

static void on_gone(void *data)
{
	struct waiter *w = data;

	list_remove(&w->link);
	free(w);
}

static void add_waiter(struct list *all, const struct waiter *which)
{
	struct waiter *w = mem_new(struct waiter);

	*w = *which;
	list_append(all, &w->link);
	if (w->q)
		http_on_gone(w->q, on_gone, w);
}

static void call_handler(void *data)
{
	struct http_request *q = data;

	http_route(q)->handle(q);
}

void aside_resume(struct http_request *q, void (*go)(void *data), void *data)
{
	struct aside *a = site_of(q)->aside;
	struct http_request *before = a->resumed;

	a->resumed = q;
	go(data);
	a->resumed = before;
}

/* What they waited for is there, or never will be. */
static void release(struct aside *a, struct list *all)
{
	while (!list_empty(all)) {
		struct waiter w = *list_entry(all->next, struct waiter, link);

		on_gone(list_entry(all->next, struct waiter, link));
		if (w.q)
			http_on_gone(w.q, NULL, NULL);
		if (a->over)
			continue;
		if (w.q)
			aside_resume(w.q, call_handler, w.q);
		else
			w.then(w.data);
	}
}

/* -- models --------------------------------------------------------------------------------------
 */

struct load {
	struct job job;
	struct list link;
	struct aside *aside;
	struct buf id;
	struct model_load *model;
	struct list waiters;
};

static void load_work(struct job *j)
{
	model_load_read(container_of(j, struct load, job)->model, &j->stop);
}

static void load_done(struct job *j)
{
	struct load *l = container_of(j, struct load, job);

	list_remove(&l->link);
	model_load_end(l->model, atomic_load(&j->stop) ? NULL : l->aside->site->models);
	release(l->aside, &l->waiters);
	buf_done(&l->id);
	free(l);
}

/* The one that is under way, or a new one; NULL: the model is quick to get. */
static struct load *load_of(struct aside *a, struct str id)
{
	EACH(struct load, l, &a->loads)
	if (str_eq(buf_str(&l->id), id))
		return l;
	struct model_load *model = run_models_load(a->site->models, id);
	if (!model)
		return NULL;
	struct load *l = mem_new(struct load);
	l->job.work = load_work;
	l->job.done = load_done;
	l->aside = a;
	l->model = model;
	buf_add(&l->id, id);
	list_init(&l->waiters);
	list_append(&a->loads, &l->link);
	workers_add(a->workers, &l->job);
	return l;
}

bool aside_run(struct http_request *q, struct str id)
{
	struct aside *a = site_of(q)->aside;
	struct load *l = a->resumed == q || !a->workers ? NULL : load_of(a, id);

	if (l)
		add_waiter(&l->waiters, &(struct waiter){ .q = q });
	return !l;
}

bool aside_run_known(struct aside *a, struct str id, void (*then)(void *data), void *data)
{
	struct load *l = a->workers ? load_of(a, id) : NULL;

	if (!l)
		return true;
	EACH(struct waiter, w, &l->waiters)
	if (w->then == then && w->data == data)
		return false;
	add_waiter(&l->waiters, &(struct waiter){ .then = then, .data = data });
	return false;
}

/* -- line numbers --------------------------------------------------------------------------------
 */

struct counting {
	struct job job;
	struct list link;
	struct aside *aside;
	int fd;
	struct log_counting *part;
	struct list waiters;
};

static void counting_work(struct job *j)
{
	log_counting_work(container_of(j, struct counting, job)->part, &j->stop);
}

static void counting_done(struct job *j)
{
	struct counting *c = container_of(j, struct counting, job);
	struct aside *a = c->aside;
	bool over = atomic_load(&j->stop);
	bool more = log_counting_end(c->part, over ? NULL : a->counts);

	list_remove(&c->link);
	c->part = more ? log_counting_begin(a->counts, c->fd) : NULL;
	release(a, &c->waiters);
	if (c->part) {
		list_append(&a->countings, &c->link);
		workers_add(a->workers, &c->job);
		return;
	}
	close_fd(&c->fd);
	free(c);
}

static void begin_counting(struct aside *a, int *fd, struct http_request *q)
{
	struct log_counting *part = log_counting_begin(a->counts, *fd);

	if (!part)
		return;
	struct counting *c = mem_new(struct counting);
	c->job.work = counting_work;
	c->job.done = counting_done;
	c->aside = a;
	c->part = part;
	c->fd = take_fd(fd);
	list_init(&c->waiters);
	list_append(&a->countings, &c->link);
	if (q)
		add_waiter(&c->waiters, &(struct waiter){ .q = q });
	workers_add(a->workers, &c->job);
}

/* 0: not counted yet; *ret_left bytes are to be counted first. */
static uint64_t number_known(struct aside *a, int fd, uint64_t offset, uint64_t *ret_left)
{
	int64_t lines = offset <= COUNTED_HERE ? log_count_lines(fd, 0, offset)
					       : log_counts_find(a->counts, fd, offset, ret_left);

	return lines < 0 ? 0 : (uint64_t)lines + 1;
}

uint64_t aside_number_known(struct aside *a, int fd, uint64_t offset)
{
	uint64_t left = 0;

	return number_known(a, fd, offset, &left);
}

bool aside_number(struct http_request *q, struct run_model *m, const struct log_at *at,
	uint64_t offset, uint64_t *ret)
{
	struct aside *a = site_of(q)->aside;
	AUTO_CLOSE int fd = run_log_open(run_model_run(m), at->node, at->attempt, at->stream);
	uint64_t left = 0;

	*ret = 0;
	if (fd < 0)
		return true;
	*ret = number_known(a, fd, offset, &left);
	if (!left || !a->workers)
		return true;
	bool waits = left <= WORTH_WAITING && a->resumed != q;
	begin_counting(a, &fd, waits ? q : NULL);
	return !waits || fd >= 0;
}

/* -- documents -----------------------------------------------------------------------------------
 */

struct making {
	struct job job;
	struct http_request *q; /* NULL: it has gone */
	struct buf run, cwd;
	struct aside_document document;
	aside_make_fn *make;
	aside_reply_fn *reply;
};

static void making_work(struct job *j)
{
	struct making *m = container_of(j, struct making, job);
	struct app *a = app_open(&(struct app_options){ .cwd = buf_cstr(&m->cwd), .owner = "" });

	m->make(a, &m->document);
	app_close(a);
}

static void making_reply(void *data)
{
	struct making *m = data;

	m->reply(m->q, &m->document);
}

static void making_done(struct job *j)
{
	struct making *m = container_of(j, struct making, job);

	if (m->q) {
		http_on_gone(m->q, NULL, NULL);
		if (!atomic_load(&j->stop))
			aside_resume(m->q, making_reply, m);
	}
	buf_done(&m->run);
	buf_done(&m->cwd);
	buf_done(&m->document.text);
	json_decref(m->document.value);
	report_done(&m->document.r);
	free(m);
}

static void making_gone(void *data)
{
	((struct making *)data)->q = NULL;
}

struct run_handle *aside_document_run(struct app *a, struct aside_document *d)
{
	AUTO_BUF run = BUF_INIT;

	buf_add(&run, d->run);
	return runs_open(a, buf_cstr(&run), &d->r);
}

void aside_document(struct http_request *q, const struct aside_document *what, aside_make_fn *make,
	aside_reply_fn *reply)
{
	struct making *m = mem_new(struct making);

	m->job.work = making_work;
	m->job.done = making_done;
	m->q = q;
	buf_add(&m->run, what->run);
	buf_add(&m->cwd, app_cwd(site_of(q)->app));
	m->document.run = buf_str(&m->run);
	m->document.from = what->from;
	m->document.limit = what->limit;
	m->document.r = REPORT_INIT;
	m->make = make;
	m->reply = reply;
	http_on_gone(q, making_gone, m);
	aside_add(site_of(q)->aside, &m->job);
}

/* -- all of it -----------------------------------------------------------------------------------
 */

void aside_add(struct aside *a, struct job *j)
{
	if (a->workers) {
		workers_add(a->workers, j);
		return;
	}
	j->work(j);
	j->done(j);
}

struct aside *aside_new(struct dashboard *d)
{
	struct aside *a = mem_new(struct aside);

	a->site = d;
	a->workers = workers_new(app_loop(d->app), THREADS);
	a->counts = log_counts_new();
	list_init(&a->loads);
	list_init(&a->countings);
	return a;
}

void aside_free(struct aside *a)
{
	if (!a)
		return;
	a->over = true;
	workers_free(a->workers);
	log_counts_free(a->counts);
	free(a);
}
