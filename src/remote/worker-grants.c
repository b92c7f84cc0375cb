#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "remote/worker-own.h"
#include "runs/dir/open.h"

enum {
	HELD_MS = 200, /* an end may have been the batch system's doing */
	SEND_MS = 250, /* between two pieces of what a command prints */
	PENDING_MAX = 4 * INLINE_MAX,
};

static struct grant *grant_find(struct worker *w, uint64_t n)
{
	list_each (link, &w->grants) {
		struct grant *g = list_entry(link, struct grant, link);

		if (g->order.n == n)
			return g;
	}
	return NULL;
}

static void grant_free(struct grant *g)
{
	list_remove(&g->link);
	timer_stop(&g->limit);
	timer_stop(&g->hold);
	timer_stop(&g->send);
	if (g->job)
		job_free(g->job);
	order_done(&g->order);
	buf_done(&g->printed[0]);
	buf_done(&g->printed[1]);
	said_done(&g->end);
	free(g);
}

/* -- what it prints ------------------------------------------------------------------------------
 */

static void send_piece(struct grant *g, int stream)
{
	struct buf *b = &g->printed[stream - 1];
	struct said s = { .kind = SAID_OUT, .n = g->order.n, .stream = stream };

	if (!b->len)
		return;
	size_t n = MIN(b->len, (size_t)INLINE_MAX);
	buf_add(&s.bytes, (struct str){ b->p, n });
	buf_drop(b, n);
	worker_say(g->worker, &s);
}

static void on_send(struct timer *t)
{
	struct grant *g = container_of(t, struct grant, send);

	send_piece(g, 2);
	send_piece(g, 1);
	if (g->printed[0].len || g->printed[1].len)
		timer_start(g->worker->loop, t, SEND_MS);
}

static void on_output(struct job_owner *o, enum job_stream stream, struct str data, uint64_t total)
{
	struct grant *g = container_of(o, struct grant, owner);
	bool err = stream == JOB_STDERR;
	struct buf *b = &g->printed[err];

	(void)total;
	if (!err && !g->order.run.live)
		return;
	/* What is sent is the beginning without a gap; the rest comes with the end. */
	if (!data.len || b->len + data.len > PENDING_MAX)
		g->unseen[err] = true;
	if (g->unseen[err])
		return;
	buf_add(b, data);
	if (!timer_running(&g->send))
		timer_start(g->worker->loop, &g->send, SEND_MS);
}

static int open_output(void *data, enum job_stream stream)
{
	struct grant *g = data;
	char name[80];

	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/%" PRIu64 ".%s", g->worker->id,
		g->order.n, stream == JOB_STDERR ? "err" : "out");
	return run_open_at(g->worker->x.fd, name, O_RDWR | O_CREAT | O_TRUNC);
}

/* -- its end -------------------------------------------------------------------------------------
 */

static void take_output(struct grant *g, enum job_stream stream, struct said_output *ret)
{
	struct content *c = g->job->executor->ops->take(g->job, stream);

	ret->size = content_size(c);
	ret->file = ret->size > INLINE_MAX;
	if (!ret->file)
		(void)content_head(c, INLINE_MAX, &ret->bytes);
	content_unref(c);
}

static void finish(struct grant *g)
{
	struct worker *w = g->worker;

	w->ended_ms = clock_mono_ms();
	if (w->info.durable)
		w->told_now = true;
	worker_say(w, &g->end);
	worker_expect(w);
	grant_free(g);
	grants_begin(w);
}

static void on_held(struct timer *t)
{
	finish(container_of(t, struct grant, hold));
}

static enum end_why why_of(const struct grant *g, const struct said_end *e)
{
	if (g->timed_out)
		return WHY_TIMEOUT;
	if (g->stopped)
		return WHY_STOPPED;
	return g->worker->terminated && (e->code || e->signal) ? WHY_ALLOCATION : WHY_ITSELF;
}

static void on_ended(struct job_owner *o, const struct job_end *end)
{
	struct grant *g = container_of(o, struct grant, owner);
	struct worker *w = g->worker;
	struct said_end *e = &g->end.end;

	timer_stop(&g->limit);
	timer_stop(&g->send);
	w->running--;
	load_remove(&w->used, &g->load);
	g->end.kind = SAID_END;
	g->end.n = g->order.n;
	*e = (struct said_end){ .code = end->code,
		.signal = end->signal,
		.ms = clock_mono_ms() - g->began_ms,
		.user_us = end->usage.user_us,
		.system_us = end->usage.system_us,
		.memory_kib = end->usage.memory_kib,
		.held = end->held,
		.cut = end->cut,
		.keep_error = end->keep_error };
	take_output(g, JOB_STDOUT, &e->out);
	take_output(g, JOB_STDERR, &e->err);
	job_free(g->job);
	g->job = NULL;
	e->why = why_of(g, e);
	g->state = GRANT_HELD;
	/* The batch system signals every process of the job, in any order. */
	if (e->why == WHY_ITSELF && (e->code || e->signal)) {
		timer_start(w->loop, &g->hold, HELD_MS);
		grants_begin(w);
		return;
	}
	finish(g);
}

void grants_terminated(struct worker *w)
{
	list_each_safe (link, &w->grants) {
		struct grant *g = list_entry(link, struct grant, link);

		if (g->state != GRANT_HELD || g->end.end.why != WHY_ITSELF)
			continue;
		g->end.end.why = WHY_ALLOCATION;
		timer_stop(&g->hold);
		finish(g);
	}
}

/* -- its beginning -------------------------------------------------------------------------------
 */

static void on_limit(struct timer *t)
{
	struct grant *g = container_of(t, struct grant, limit);

	g->timed_out = true;
	job_stop(g->job);
}

/* Who the process is, which it has said before it executed. */
static void read_identity(struct grant *g)
{
	char text[256];
	ssize_t n = read(g->worker->ids[0], text, sizeof(text) - 1);

	if (n <= 0)
		return;
	text[n] = '\0';
	/* NOLINTNEXTLINE(cert-err34-c): it writes numbers, and 0 stands for none */
	(void)sscanf(text, "\"pid\":%" SCNu64 ",\"st\":%" SCNu64, &g->pid, &g->start);
}

static void on_began(struct job_owner *o, const struct job_away *away)
{
	struct grant *g = container_of(o, struct grant, owner);

	(void)away;
	g->began_ms = clock_mono_ms();
	if (g->order.run.timeout_ms)
		timer_start(g->worker->loop, &g->limit, g->order.run.timeout_ms);
}

static const struct job_owner_ops owner_ops = { on_began, on_output, on_ended };

/* The standard input: a reference. -errno. */
static int input_of(struct grant *g, struct content **ret)
{
	const struct order_run *run = &g->order.run;
	AUTO_BUF bytes = BUF_INIT;
	struct stat st;

	*ret = NULL;
	if (run->in == INPUT_NONE)
		return 0;
	if (run->in == INPUT_INLINE) {
		buf_add(&bytes, run->in_bytes);
		*ret = content_from_buf(&bytes);
		return 0;
	}
	int fd = run->in_file.p[0] == '/' ? open(run->in_file.p, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
					  : run_open_at(g->worker->x.fd, run->in_file.p, O_RDONLY);
	if (fd < 0)
		return run->in_file.p[0] == '/' ? -errno : fd;
	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size < run->in_size) {
		close_fd(&fd);
		return -ESTALE;
	}
	*ret = content_from_fd(fd, 0, run->in_size);
	return 0;
}

static const char *const *environment_of(struct grant *g, struct arena *a)
{
	const char *const *own = g->order.run.env;
	size_t count = 0;

	while (own[count])
		count++;
	const char **env = arena_array(a, const char *, count + 4);
	memcpy(env, own, count * sizeof(*env));
	env[count++] = arena_printf(a, "ROUX_WORKER=%" PRIu64, g->worker->id).p;
	env[count++] = arena_printf(a, "ROUX_CPUS=%" PRIu64, g->load.cpus).p;
	env[count++] = arena_printf(a, "ROUX_GRANT=%" PRIu64, g->order.n).p;
	return env;
}

static bool may_pass(int error)
{
	return error == EAGAIN || error == EMFILE || error == ENFILE || error == ENOMEM;
}

static void cannot_start(struct grant *g, int error)
{
	struct said_end *e = &g->end.end;

	g->end.kind = SAID_END;
	g->end.n = g->order.n;
	e->why = WHY_START;
	e->error = error;
	e->code = error == ENOENT ? 127 : 126;
	g->state = GRANT_HELD;
	finish(g);
}

static bool start(struct grant *g)
{
	struct worker *w = g->worker;
	const struct order_run *run = &g->order.run;
	struct arena a = ARENA_INIT;
	struct content *in = NULL;
	int error = -input_of(g, &in);
	size_t argc = 0;

	while (run->argv[argc])
		argc++;
	g->record = (struct job_record){ .fd = w->ids[1],
		.before = S(""),
		.after = S("\n"),
		.open = open_output,
		.open_from = INLINE_MAX,
		.data = g };
	if (!error)
		g->job = w->executor->ops->start(w->executor,
			&(struct job_spec){ .argv = run->argv,
				.argc = argc,
				.in = in,
				.in_fd = -1,
				.env = environment_of(g, &a),
				.cwd = run->cwd ? run->cwd : w->info.cwd.p,
				.program = run->program,
				.record = &g->record,
				.keep_err = true,
				.cut_err = run->cut_err,
				.max_output = run->max_output },
			&g->owner, &error);
	content_unref(in);
	arena_done(&a);
	if (g->job) {
		read_identity(g);
		return true;
	}
	if (may_pass(error) && w->running > 0)
		return false;
	w->waiting--;
	cannot_start(g, error ? error : EIO);
	return true;
}

static void say_began(struct grant *g)
{
	struct said s = { .kind = SAID_BEGAN, .n = g->order.n, .pid = g->pid, .start = g->start };

	worker_say(g->worker, &s);
	g->announced = g->worker->said;
}

static void run_one(struct worker *w, struct grant *g)
{
	uint64_t n = g->order.n;

	if (!start(g))
		return;
	g = grant_find(w, n);
	if (!g || !g->job)
		return;
	g->state = GRANT_RUNNING;
	w->waiting--;
	w->running++;
	load_add(&w->used, &g->load);
	if (!g->announced)
		say_began(g);
}

static struct grant *first_waiting(struct worker *w)
{
	list_each (link, &w->grants) {
		struct grant *g = list_entry(link, struct grant, link);

		if (g->state == GRANT_WAITING)
			return g;
	}
	return NULL;
}

/* One alone may always run. */
static bool has_room(const struct worker *w, const struct grant *g)
{
	return !w->running || load_fits(&w->used, &g->load, &w->has);
}

/* It says that the command begins, and begins it when that has been written. */
static bool announce(struct worker *w, struct grant *g)
{
	if (!w->info.careful && !w->info.durable)
		return true;
	if (!g->announced) {
		w->told_now = true;
		say_began(g);
	}
	return writer_written(w->writer) >= g->announced;
}

void grants_begin(struct worker *w)
{
	while (w->waiting && w->greeted && !w->leaving && !w->draining && !w->paused) {
		struct grant *g = first_waiting(w);
		size_t waiting = w->waiting;

		if (!g || !has_room(w, g) || worker_lapsed(w) || !announce(w, g))
			return;
		run_one(w, g);
		if (w->waiting == waiting)
			return; /* the node is full */
	}
}

/* -- orders --------------------------------------------------------------------------------------
 */

static void give_back(struct grant *g)
{
	struct said s = { .kind = SAID_DROPPED, .n = g->order.n };
	struct worker *w = g->worker;

	w->waiting--;
	w->ended_ms = clock_mono_ms();
	grant_free(g);
	worker_say(w, &s);
}

void grants_add(struct worker *w, struct order *o)
{
	struct grant *g = mem_new(struct grant);

	g->worker = w;
	g->order = *o;
	*o = (struct order){ 0 };
	const struct order_run *run = &g->order.run;
	g->load = (struct load){ MAX(run->cpus, (uint64_t)1), run->mem_mb, run->gpus };
	g->owner.ops = &owner_ops;
	g->limit.fire = on_limit;
	g->hold.fire = on_held;
	g->send.fire = on_send;
	list_append(&w->grants, &g->link);
	w->waiting++;
	if (w->draining || w->leaving)
		give_back(g);
}

void grants_drop(struct worker *w, uint64_t n)
{
	struct grant *g = grant_find(w, n);

	if (g && g->state == GRANT_WAITING)
		give_back(g);
}

void grants_drop_all(struct worker *w)
{
	list_each_safe (link, &w->grants) {
		struct grant *g = list_entry(link, struct grant, link);

		if (g->state == GRANT_WAITING)
			give_back(g);
	}
}

static void stop(struct grant *g, bool at_once)
{
	g->stopped |= !g->timed_out && !g->worker->terminated;
	if (at_once)
		job_kill(g->job);
	else
		job_stop(g->job);
}

void grants_stop(struct worker *w, uint64_t n, bool at_once)
{
	struct grant *g = grant_find(w, n);

	if (g && g->state == GRANT_RUNNING)
		stop(g, at_once);
}

void grants_stop_all(struct worker *w, bool at_once)
{
	list_each_safe (link, &w->grants) {
		struct grant *g = list_entry(link, struct grant, link);

		if (g->state == GRANT_RUNNING)
			stop(g, at_once);
	}
}
