/* What an earlier driver of the run has left under way. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "data/json.h"
#include "loop/loop.h"
#include "remote/remote-own.h"

/* In the exchange, once all that a dead driver left has been ended. */
#define ENDED_FILE "ended"

struct remote_left *remote_left(struct remote *r, const struct leaf_key *key)
{
	for (size_t i = 0; i < r->left_count; i++)
		if (r->left[i].number == key->number && str_eq(r->left[i].path, key->path))
			return &r->left[i];
	return NULL;
}

struct remote_left *remote_left_of(const struct remote_worker *w, uint64_t n)
{
	for (size_t i = 0; i < w->remote->left_count; i++) {
		struct remote_left *l = &w->remote->left[i];

		if (l->n == n && l->worker == w)
			return l;
	}
	return NULL;
}

static struct remote_job *job_of(struct remote_worker *w, uint64_t n)
{
	list_each (link, &w->given) {
		struct remote_job *j = list_entry(link, struct remote_job, link);

		if (j->n == n)
			return j;
	}
	return NULL;
}

static bool lists(const struct said_hello *h, uint64_t n)
{
	vec_each (has, &h->has)
		if (*has == n)
			return true;
	return false;
}

/* -- what people are told ------------------------------------------------------------------------
 */

void remote_left_news(struct remote *r, struct remote_left *l, enum event_left news)
{
	l->news = news;
	l->why = l->ended ? "the run was ended while it was running"
		 : !l->worker || l->worker->state == WORKER_DEAD ? "its worker is gone"
								 : "it had not begun";
	l->untold = r->left_untold = true;
	remote_wake(r);
}

void remote_tell_left(struct remote *r)
{
	if (!r->left_untold || !r->executor.tell)
		return;
	r->left_untold = false;
	for (size_t i = 0; i < r->left_count; i++) {
		struct remote_left *l = &r->left[i];
		struct event e = { .kind = EVENT_COMMAND_LEFT,
			.path = l->path,
			.left = l->news,
			.away = { .on = r->executor.name,
				.host = str_of(l->worker ? l->worker->host : NULL),
				.why = l->news == LEFT_AGAIN ? str_of(l->why) : S(""),
				.worker = l->worker_id } };

		if (!l->untold)
			continue;
		l->untold = false;
		r->executor.tell(r->executor.run_data, &e);
	}
}

static bool is_file_filled(const struct remote *r, uint64_t id, const char *name, struct buf *ret)
{
	char path[80];

	(void)snprintf(path, sizeof(path), "w/%" PRIu64 "/%s", id, name);
	return exchange_read(&r->x, path, 4096, ret) >= 0 && ret->len > 0;
}

/* -- what became of it ---------------------------------------------------------------------------
 */

bool remote_left_doubted(
	const struct remote *r, const struct remote_worker *w, const struct remote_left *l)
{
	return r->stops_left && (!w || (!w->said_bye && (l->began || !r->announced)));
}

bool remote_left_unsure(const struct remote *r)
{
	for (size_t i = 0; i < r->left_count; i++) {
		const struct remote_left *l = &r->left[i];

		if (!l->ended && !l->again && !l->settled && !l->in_doubt)
			return true;
	}
	return false;
}

void remote_left_lost_with(const struct remote *r, const struct remote_left *l, struct buf *b)
{
	AUTO_BUF job = BUF_INIT;
	AUTO_BUF claim = BUF_INIT;

	if (l->worker) {
		remote_worker_name(l->worker, b);
		return;
	}
	/* That is what was kept of it. */
	(void)is_file_filled(r, l->worker_id, "job", &job);
	(void)is_file_filled(r, l->worker_id, "claim", &claim);
	AUTO_JSON *who = json_loadb(buf_cstr(&claim), claim.len, 0, NULL);
	struct remote_worker was = { .remote = (struct remote *)r, .id = l->worker_id };
	remote_set(&was.job, table_job_id(buf_str(&job)));
	remote_set(&was.host, json_text_of(who, "host"));
	remote_worker_name(&was, b);
	free(was.job);
	free(was.host);
}

/* It is not under way: it was never begun, or died with its worker. */
static void let_go(struct remote *r, struct remote_left *l, bool died)
{
	struct remote_job *j = l->taken && l->worker ? job_of(l->worker, l->n) : NULL;

	l->in_doubt = died && remote_left_doubted(r, l->worker, l);
	if (l->in_doubt)
		return; /* who wants to adopt it hears that */
	l->again = true;
	if (!l->taken)
		r->left_open--;
	remote_left_news(r, l, LEFT_AGAIN);
	if (j)
		remote_job_again(j);
}

void remote_settle_left(struct remote_worker *w, const struct said_hello *hello)
{
	struct remote *r = w->remote;

	for (size_t i = 0; i < r->left_count; i++) {
		struct remote_left *l = &r->left[i];

		if (l->worker != w || l->ended || l->again || (l->settled && hello))
			continue;
		if (hello && lists(hello, l->n)) {
			l->settled = true;
			remote_left_news(r, l, LEFT_RUNNING);
		} else if (hello || !l->taken) {
			let_go(r, l, !hello);
		}
	}
	/* What no line of the record knows is not wanted. */
	for (size_t i = 0; hello && i < hello->has.len; i++)
		if (!remote_left_of(w, hello->has.at[i]) && !job_of(w, hello->has.at[i])) {
			remote_order(
				w, &(struct order){ .kind = ORDER_DROP, .n = hello->has.at[i] });
			remote_order(
				w, &(struct order){ .kind = ORDER_STOP, .n = hello->has.at[i] });
		}
}

/* -- reading -------------------------------------------------------------------------------------
 */

enum {
	PIECE_MAX = 1 << 20,
	FIRST_LINE = 4096, /* what an allocation has */
	LAST_WORDS = 4096,
	GONE_MS = 60000, /* a driver that has not beaten for so long is gone */
	BEAT_LOOK_MS = 1000,
};

/* Calls `see` with every line of a file of the exchange behind `from`, of which only a piece is in
 * memory. -errno. */
static int each_line(const struct exchange *x, const char *name, uint64_t from,
	void (*see)(void *data, struct str line), void *data)
{
	struct line_reader reader = { .offset = from };
	struct exchange_file f;
	uint64_t before;
	int n;

	exchange_file_init(&f, x, name, false, false);
	do {
		AUTO_BUF piece = BUF_INIT;

		before = reader.offset;
		n = exchange_file_follow(x, &f, before, PIECE_MAX, &piece);
		if (n >= 0)
			(void)line_reader_take(&reader, buf_str(&piece), see, data);
	} while (n >= 0 && reader.offset > before);
	exchange_file_done(&f);
	line_reader_done(&reader);
	return n;
}

/* -- finding -------------------------------------------------------------------------------------
 */

/* What its allocation had was the first order of its first driver. A machine has the shape of all,
 * whatever its slots are. */
static struct shape shape_was(const struct remote *r, uint64_t id, uint64_t *cpus)
{
	bool own;
	struct shape shape = table_shape(r->table, NULL, r->class, &own);

	*cpus = shape.cpus;

	for (uint64_t epoch = 1; epoch < r->epoch; epoch++) {
		AUTO_BUF text = BUF_INIT;
		struct order o;
		char path[80];
		bool unknown;

		(void)snprintf(path, sizeof(path), "w/%" PRIu64 "/orders.%" PRIu64, id, epoch);
		(void)exchange_read(&r->x, path, FIRST_LINE, &text);
		struct str all = buf_str(&text);
		if (!all.len ||
			!order_line_read(str_sub(all, 0, str_find(all, '\n', 0)), &o, &unknown))
			continue;
		if (o.kind == ORDER_ALLOCATION) {
			*cpus = o.has.cpus;
			shape.cpus = r->table->hosts[0] ? shape.cpus : o.has.cpus;
			shape.mem_mb = o.has.mem_mb;
			shape.gpus = o.has.gpus;
			shape.time_s = o.has.time_s;
		}
		order_done(&o);
		break;
	}
	return shape;
}

static void highest_grant(void *data, struct str line)
{
	struct remote_worker *w = data;
	struct order o;
	bool unknown;

	if (!order_line_read(line, &o, &unknown))
		return;
	w->next_n = MAX(w->next_n, o.n);
	order_done(&o);
}

/* Numbers of grants are never used twice. One that is in the record may be in no order: its driver
 * was killed between the two. */
static void continue_numbers(struct remote_worker *w)
{
	const struct remote *r = w->remote;

	for (size_t i = 0; i < r->left_count; i++)
		if (r->left[i].worker_id == w->id)
			w->next_n = MAX(w->next_n, r->left[i].n);
	for (uint64_t epoch = 1; epoch < r->epoch; epoch++) {
		char path[80];

		(void)snprintf(path, sizeof(path), "w/%" PRIu64 "/orders.%" PRIu64, w->id, epoch);
		(void)each_line(&r->x, path, 0, highest_grant, w);
	}
}

/* Of one that has left only its log may be there. */
static bool is_there(const struct remote *r, uint64_t id)
{
	char path[80];

	(void)snprintf(path, sizeof(path), "w/%" PRIu64 "/records", id);
	return faccessat(r->x.fd, path, R_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void find_worker(void *data, uint64_t id)
{
	struct remote *r = data;
	uint64_t cpus;
	struct shape shape = shape_was(r, id, &cpus);
	AUTO_BUF job = BUF_INIT;
	AUTO_BUF claim = BUF_INIT;
	AUTO_BUF fence = BUF_INIT;
	AUTO_BUF noted = BUF_INIT;
	bool has_job = is_file_filled(r, id, "job", &job) && table_job_id(buf_str(&job)).len;
	bool claimed = is_file_filled(r, id, "claim", &claim);
	bool fenced = is_file_filled(r, id, "fence", &fence);

	if (!is_there(r, id) || exchange_worker_make(&r->x, id, r->epoch, S("")) < 0)
		return;
	struct remote_worker *w = remote_worker_new(r, id, remote_shape(r, &shape), cpus);
	if (has_job)
		remote_worker_job(w, table_job_id(buf_str(&job)));
	w->state = claimed ? WORKER_ALIVE : has_job ? WORKER_QUEUED : WORKER_ASKED;
	w->inherited = true;
	w->adopting = claimed;
	w->fenced = fenced;
	w->fenced_ms = clock_mono_ms();
	for (size_t i = 0; i < r->left_count; i++)
		if (r->left[i].worker_id == id)
			r->left[i].worker = w;
	if (is_file_filled(r, id, "heard", &noted))
		(void)str_to_uint(str_trim(buf_str(&noted)), &w->heard);
	continue_numbers(w);
	/* All that it has said, from the beginning; a driver counts from its own first look. */
	for (uint64_t heard = UINT64_MAX; heard != w->reader.offset;) {
		heard = w->reader.offset;
		remote_hear(w);
	}
	w->seen_ms = clock_mono_ms();
	if (r->all_ended)
		remote_worker_died(w, "ended");
	if (w->state != WORKER_DEAD && !claimed && !has_job) {
		r->strays = true;
		remote_worker_fence(w, "its submission came to nothing");
	}
}

void remote_find_left(struct remote *r, const struct remote_options *o)
{
	r->left_count = r->left_open = o->grant_count;
	r->left = mem_zero((o->grant_count + 1) * sizeof(*r->left));
	for (size_t i = 0; i < o->grant_count; i++)
		r->left[i] = (struct remote_left){ .path = arena_str(&r->arena, o->grants[i].path),
			.number = o->grants[i].number,
			.n = o->grants[i].n,
			.worker_id = o->grants[i].worker };
	/* A worker may still read those that are there. */
	r->next_input = exchange_last_input(&r->x);
	r->all_ended = faccessat(r->x.fd, ENDED_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	(void)exchange_workers(&r->x, find_worker, r);
	(void)unlinkat(r->x.fd, ENDED_FILE, 0);
	/* Those whose worker is gone without a trace. */
	for (size_t i = 0; i < r->left_count; i++)
		if (!r->left[i].worker && !r->left[i].again)
			let_go(r, &r->left[i], true);
	remote_write_orders(r);
	if (r->strays)
		remote_ask_status(r);
}

/* -- of a dead driver ----------------------------------------------------------------------------
 */

struct alive {
	const struct exchange *x;
	size_t count;
};

static void see_said(void *data, struct str line)
{
	bool *bye = data;
	struct said s;
	bool unknown;

	if (!said_read(line, &s, &unknown))
		return;
	*bye |= s.kind == SAID_BYE;
	said_done(&s);
}

/* One whose submission was not answered has no job that is known, and may have one all the same. */
static void see_worker(void *data, uint64_t id)
{
	struct alive *alive = data;
	char path[80];
	bool bye = false;
	struct stat st;

	(void)snprintf(path, sizeof(path), "w/%" PRIu64 "/records", id);
	if (fstatat(alive->x->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	/* It is the last thing that a worker says; half a line before it is not one. */
	uint64_t from = (uint64_t)st.st_size - MIN((uint64_t)st.st_size, (uint64_t)LAST_WORDS);
	if (each_line(alive->x, path, from, see_said, &bye) < 0)
		return;
	alive->count += !bye;
}

size_t remote_alive(struct str exchange)
{
	struct exchange x;
	AUTO_BUF path = BUF_INIT;

	buf_add(&path, exchange);
	if (exchange_open(&x, buf_cstr(&path), false) < 0)
		return 0;
	struct alive alive = { .x = &x };
	if (faccessat(x.fd, ENDED_FILE, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		(void)exchange_workers(&x, see_worker, &alive);
	exchange_close(&x);
	return alive.count;
}

bool remote_beats(struct str exchange)
{
	const uint64_t gap = remote_ms(BEAT_LOOK_MS), began = clock_mono_ms();
	const struct timespec pause = { (time_t)(gap / 1000), (long)(gap % 1000) * 1000000 };
	uint64_t epoch, size, first, first_size;
	struct exchange x;
	AUTO_BUF path = BUF_INIT;
	bool beats = false;

	buf_add(&path, exchange);
	if (exchange_open(&x, buf_cstr(&path), false) < 0)
		return false;
	bool there = exchange_epoch(&x, &first, &first_size) == 0 && first;
	while (there && !beats && clock_since(clock_mono_ms(), began) <= remote_ms(GONE_MS)) {
		(void)nanosleep(&pause, NULL);
		beats = exchange_epoch(&x, &epoch, &size) == 0 &&
			(epoch != first || size != first_size);
	}
	exchange_close(&x);
	return beats;
}

static void on_swept(void *data)
{
	*(bool *)data = true;
}

bool remote_end(const struct remote_options *o, bool at_once, struct report *report)
{
	struct executor *e = remote_executor(o, report);
	struct remote *r = e ? container_of(e, struct remote, executor) : NULL;
	bool swept = false;

	if (!r)
		return false;
	r->ends_left = true;
	/* Jobs that no directory knows are found by their name. */
	if (!r->asking)
		remote_ask_status(r);
	while (r->asking)
		(void)loop_turn(r->loop, -1);
	e->ops->sweep(e, at_once ? SWEEP_KILL : SWEEP_ASK, on_swept, &swept);
	while (!swept)
		(void)loop_turn(r->loop, -1);
	/* What was asked of the batch system last is answered. */
	batch_drain(r->batch);
	int n = exchange_write(&r->x, ENDED_FILE, S("1\n"));
	if (n < 0)
		report_errno(report, -n, "cannot write to %s", r->x.path);
	e->ops->close(e);
	return n >= 0;
}
