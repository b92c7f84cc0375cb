#include "remote/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "remote/exchange.h"

enum { LIMIT_MS = 30000, LIMIT_LEAST_MS = 3000, OUT_MAX = 1 << 20 };

struct batch {
	struct loop *loop;
	struct arena arena;
	struct executor *executor;
	struct executor *here;
	struct store store;
	struct list calls;
};

struct batch_call {
	struct list link;
	struct batch *batch;
	struct job_owner owner;
	struct job *job;
	struct timer limit;
	bool late;
	int error;         /* errno: it could not be started */
	char program[128]; /* as the settings have it, for people */
	struct deferred failing;
	batch_fn *done;
	void *data;
};

static void call_free(struct batch_call *c)
{
	list_remove(&c->link);
	timer_stop(&c->limit);
	deferred_stop(&c->failing);
	if (c->job)
		job_free(c->job);
	free(c);
}

static void on_began(struct job_owner *o, const struct job_away *away)
{
	(void)o;
	(void)away;
}

static void on_output(struct job_owner *o, enum job_stream stream, struct str data, uint64_t total)
{
	(void)o;
	(void)stream;
	(void)data;
	(void)total;
}

static void on_ended(struct job_owner *o, const struct job_end *end)
{
	struct batch_call *c = container_of(o, struct batch_call, owner);
	AUTO_BUF out = BUF_INIT;
	AUTO_BUF err = BUF_INIT;
	AUTO_BUF tail = BUF_INIT;
	struct content *all = job_take_out(c->job);
	batch_fn *done = c->done;
	void *data = c->data;

	(void)content_head(all, OUT_MAX, &out);
	content_unref(all);
	job_err_ends(c->job, &err, &tail);
	if (tail.len > err.len)
		buf_swap(&err, &tail);
	struct batch_answer a = { .ok = !end->code && !end->signal && !c->late && !end->cut,
		.late = c->late,
		.cut = end->cut,
		.out = buf_str(&out),
		.err = buf_str(&err),
		.code = end->code,
		.signal = end->signal };
	call_free(c);
	done(data, &a);
}

static void on_failed(struct deferred *d)
{
	struct batch_call *c = container_of(d, struct batch_call, failing);
	AUTO_BUF why = BUF_INIT;
	batch_fn *done = c->done;
	void *data = c->data;

	buf_printf(&why, "%s: %s", c->program,
		c->error == ENOENT && !strchr(c->program, '/') ? "not found in PATH"
							       : strerror(c->error));
	/* Others, such as too many open files, may pass. */
	bool unstarted = c->error == ENOENT || c->error == EACCES || c->error == ENOEXEC;
	struct batch_answer a = {
		.unstarted = unstarted, .err = buf_str(&why), .out = S(""), .code = 127
	};
	call_free(c);
	done(data, &a);
}

static void on_limit(struct timer *t)
{
	struct batch_call *c = container_of(t, struct batch_call, limit);

	c->late = true;
	job_kill(c->job);
}

static const struct job_owner_ops owner_ops = { on_began, on_output, on_ended };

static bool is_named(const char *entry, const char *const *names)
{
	size_t len = strcspn(entry, "=");

	for (size_t i = 0; names && names[i]; i++) {
		size_t n = strlen(names[i]);
		bool open = n && names[i][n - 1] == '*';

		if (open ? strncmp(entry, names[i], n - 1) == 0
			 : n == len && strncmp(entry, names[i], n) == 0)
			return true;
	}
	return false;
}

/* What such programs need, and what the settings name. */
static const char *const *environment(struct batch *b, const char *const *more)
{
	static const char *const usual[] = { "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG",
		"LC_*", "TZ", "KRB5CCNAME", "SLURM_CONF", NULL };
	size_t count = 0, n = 0;

	while (environ[count])
		count++;
	const char **env = arena_array(&b->arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++)
		if (is_named(environ[i], usual) || is_named(environ[i], more))
			env[n++] = environ[i];
	return env;
}

struct batch *batch_new(struct loop *l, const struct table *t, struct executor *here)
{
	struct batch *b = mem_new(struct batch);

	b->loop = l;
	b->store = STORE_INIT;
	list_init(&b->calls);
	b->executor = local_executor(l, &(struct surroundings){ .env = environment(b, t->pass_env),
						.bare = true,
						.cwd = "/",
						.grace_ms = 1000 });
	b->executor->store = &b->store;
	b->here = here;
	if (here)
		local_executor_spares(here, b->executor);
	return b;
}

void batch_free(struct batch *b)
{
	if (!b)
		return;
	list_each_safe (link, &b->calls) {
		struct batch_call *c = list_entry(link, struct batch_call, link);

		if (c->job)
			job_kill(c->job);
		call_free(c);
	}
	if (b->here)
		local_executor_spares(b->here, NULL);
	b->executor->ops->close(b->executor);
	store_done(&b->store);
	arena_done(&b->arena);
	free(b);
}

void batch_drain(struct batch *b)
{
	while (!list_empty(&b->calls))
		(void)loop_turn(b->loop, -1);
}

void batch_run(struct batch *b, const char *const *argv, batch_fn *done, void *data)
{
	struct batch_call *c = mem_new(struct batch_call);
	size_t argc = 0;

	while (argv[argc])
		argc++;
	c->batch = b;
	c->owner.ops = &owner_ops;
	c->done = done;
	c->data = data;
	c->limit.fire = on_limit;
	c->failing.call = on_failed;
	(void)snprintf(c->program, sizeof(c->program), "%s", argv[0]);
	list_append(&b->calls, &c->link);
	c->job = b->executor->ops->start(b->executor,
		&(struct job_spec){
			.argv = argv, .argc = argc, .in_fd = -1, .max_output = OUT_MAX },
		&c->owner, &c->error);
	if (c->job)
		timer_start(b->loop, &c->limit, MAX(remote_ms(LIMIT_MS), (uint64_t)LIMIT_LEAST_MS));
	else
		deferred_start(b->loop, &c->failing);
}
