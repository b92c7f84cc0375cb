#include "engine/local.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/program.h"
#include "engine/capture.h"
#include "engine/environment.h"
#include "engine/local-tree.h"

enum {
	LINGER_MS = 500, /* silence after which a pipe that a leftover process holds is let go */
	PATIENCE_MS = 3, /* how long a command runs before its output is listened to */
};

struct local_job {
	struct job job;
	struct local *local;
	const struct job_record *record;
	struct capture out; /* CAPTURE_ALL */
	struct capture err;
	struct local_tree tree;
	struct feed feed;
	struct list unheard; /* in struct local: its output is not listened to yet */
	uint64_t hear_at_ms;
	struct timer linger;
	bool held;               /* a pipe was let go while another process held it */
	struct deferred telling; /* its end is reported from the loop, never from inside its own
				    callbacks */
	bool told;
};

struct local {
	struct executor executor;
	struct loop *loop;
	struct surroundings around;
	struct programs programs;
	struct local_trees trees;
	struct environment env;
	sigset_t mask;
	struct capture_room room;
	/* Most commands are over in a moment: what they printed is then read once, when they have
	 * ended, and roux does not wake up before. Only the others are listened to. */
	struct list unheard; /* oldest first */
	struct timer hearing;
};

static struct local *local_of(struct executor *e)
{
	return container_of(e, struct local, executor);
}

static struct local_job *job_of(struct job *j)
{
	return container_of(j, struct local_job, job);
}

/* -- the end of a job ----------------------------------------------------------------------------
 */

static void tell(struct local_job *j)
{
	if (j->told)
		return;
	j->told = true;
	timer_stop(&j->linger);
	list_remove(&j->tree.link);
	list_remove(&j->unheard);
	deferred_start(j->local->loop, &j->telling);
}

static uint64_t microseconds(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

static void on_telling(struct deferred *d)
{
	struct local_job *j = container_of(d, struct local_job, telling);
	const struct rusage *used = &j->tree.child.usage;
	struct job_end end = { .code = j->tree.child.code,
		.signal = j->tree.child.signal,
		.held = j->held,
		.cut = j->out.cut || j->err.cut,
		.keep_error = j->out.error ? j->out.error : j->err.error,
		.err_bytes = j->err.bytes,
		.usage = { .user_us = microseconds(used->ru_utime),
			.system_us = microseconds(used->ru_stime),
			.memory_kib = (uint64_t)used->ru_maxrss } };

	j->job.owner->ops->ended(j->job.owner, &end); /* may free `j` */
}

/* The exit and the ends of the two pipes come in any order; the last one decides. A tree that is
 * being ended is over when no process of it is left: see on_gone(). */
static void settle(struct local_job *j)
{
	if (!j->tree.exited || j->tree.stage != TREE_RUNNING)
		return;
	if (j->out.fd >= 0 || j->err.fd >= 0)
		return;
	tell(j);
}

static void on_pipe_end(struct local_job *j)
{
	settle(j);
}

static void on_out_end(struct capture *c)
{
	on_pipe_end(container_of(c, struct local_job, out));
}

static void on_err_end(struct capture *c)
{
	on_pipe_end(container_of(c, struct local_job, err));
}

static void on_data(struct local_job *j, enum job_stream stream, struct str data)
{
	if (j->tree.exited && j->tree.stage == TREE_RUNNING)
		timer_start(j->local->loop, &j->linger, LINGER_MS);
	if (j->out.error && j->tree.stage == TREE_RUNNING)
		j->local->executor.ops->stop(&j->job);
	j->job.owner->ops->output(
		j->job.owner, stream, data, stream == JOB_STDOUT ? j->out.bytes : j->err.bytes);
}

static void on_out(struct capture *c, struct str data)
{
	on_data(container_of(c, struct local_job, out), JOB_STDOUT, data);
}

static void on_err(struct capture *c, struct str data)
{
	on_data(container_of(c, struct local_job, err), JOB_STDERR, data);
}

static void on_linger(struct timer *t)
{
	struct local_job *j = container_of(t, struct local_job, linger);

	if (j->tree.stage != TREE_RUNNING)
		return;
	j->held = true;
	capture_close(&j->out);
	capture_close(&j->err);
	settle(j);
}

static void on_hearing(struct timer *t)
{
	struct local *l = container_of(t, struct local, hearing);
	uint64_t now = clock_mono_ms();

	while (!list_empty(&l->unheard)) {
		struct local_job *j = list_entry(l->unheard.next, struct local_job, unheard);

		if (j->hear_at_ms > now) {
			timer_start(l->loop, t, j->hear_at_ms - now);
			return;
		}
		list_remove(&j->unheard);
		capture_watch(l->loop, &j->out);
		capture_watch(l->loop, &j->err);
	}
}

static void hear_soon(struct local *l, struct local_job *j)
{
	j->hear_at_ms = clock_mono_ms() + PATIENCE_MS;
	list_append(&l->unheard, &j->unheard);
	if (!timer_running(&l->hearing))
		timer_start(l->loop, &l->hearing, PATIENCE_MS);
}

static void on_exited(struct child *c)
{
	struct local_job *j = container_of(c, struct local_job, tree.child);
	struct local *l = j->local;

	j->feed.cut = j->tree.stage != TREE_RUNNING || c->signal;
	feed_stop(&j->feed);
	if (!local_tree_exited(&l->trees, &j->tree))
		return;
	/* What is in the pipes now is read at once: most commands leave no process behind. A pipe
	 * that ends here settles the job, so nothing may touch it afterwards without looking. */
	timer_start(l->loop, &j->linger, LINGER_MS);
	if (j->err.fd >= 0)
		capture_drain(&j->err);
	if (j->out.fd >= 0) {
		capture_drain(&j->out);
		return;
	}
	settle(j);
}

/* -- ending it -----------------------------------------------------------------------------------
 */

/* No process is left that could write: take what is there and do not wait. */
static void on_gone(struct local_tree *t)
{
	struct local_job *j = container_of(t, struct local_job, tree);

	capture_drain(&j->out);
	capture_drain(&j->err);
	capture_close(&j->out);
	capture_close(&j->err);
	tell(j);
}

static void stop(struct job *job)
{
	struct local_job *j = job_of(job);

	if (j->told)
		return;
	timer_stop(&j->linger);
	local_tree_stop(&j->local->trees, &j->tree);
}

static void kill_job(struct job *job)
{
	struct local_job *j = job_of(job);

	if (j->told)
		return;
	timer_stop(&j->linger);
	local_tree_kill(&j->local->trees, &j->tree);
}

static void stop_all(struct executor *e)
{
	local_trees_stop(&local_of(e)->trees);
}

static void sweep(struct executor *e, enum sweep how, void (*done)(void *data), void *data)
{
	struct local_trees *s = &local_of(e)->trees;

	s->spares = how == SWEEP_PAUSE || how == SWEEP_LEAVE;
	local_trees_sweep(s, how == SWEEP_KILL, done, data);
}

static void set_grace(struct executor *e, uint64_t grace_ms)
{
	local_trees_set_grace(&local_of(e)->trees, grace_ms);
}

/* Not those that are being ended: a held process cannot clean up. */
static void pause_all(struct executor *e, bool on)
{
	list_each (link, &local_of(e)->trees.all) {
		const struct local_tree *t = list_entry(link, struct local_tree, link);

		if (t->stage == TREE_RUNNING && child_running(&t->child))
			(void)kill(-t->child.pid, on ? SIGSTOP : SIGCONT);
	}
}

/* -- the start -----------------------------------------------------------------------------------
 */

static struct content *take_output(struct job *job, enum job_stream stream)
{
	struct local_job *j = job_of(job);

	return capture_take(stream == JOB_STDOUT ? &j->out : &j->err);
}

static int peek(struct job *job, uint64_t *size)
{
	const struct local_job *j = job_of(job);

	*size = j->out.bytes;
	return j->out.error ? -1 : j->out.file;
}

static void err_ends(struct job *job, struct buf *head, struct buf *tail)
{
	const struct local_job *j = job_of(job);

	buf_add(head, capture_head(&j->err));
	capture_tail(&j->err, tail);
}

static void free_job(struct job *job)
{
	struct local_job *j = job_of(job);

	list_remove(&j->tree.link);
	list_remove(&j->unheard);
	deferred_stop(&j->telling);
	timer_stop(&j->linger);
	j->feed.cut |= j->feed.live && list_linked(&j->feed.link); /* it never ran */
	feed_stop(&j->feed);
	if (j->tree.child.pid)
		child_done(&j->tree.child);
	capture_done(&j->out);
	capture_done(&j->err);
	buf_done(&j->tree.mark);
	free(j);
}

static int open_input(
	struct local *l, struct local_job *j, const struct job_spec *spec, bool *owned)
{
	int fd = -1;

	*owned = false;
	if (spec->in_fd >= 0)
		return spec->in_fd;
	if (!spec->live)
		return content_reader(spec->in, l->executor.store, owned);
	*owned = true;
	int r = feed_start(spec->live, &j->feed, &fd);
	return r < 0 ? r : fd;
}

static int spawn(
	struct local *l, struct local_job *j, const struct job_spec *spec, int in, int out, int err)
{
	struct command_environment env;
	int error = ENOENT;
	const char *program =
		programs_find(&l->programs, spec->program ? spec->program : spec->argv[0], &error);

	if (!program)
		return -error;
	struct child_spec child = {
		.program = program,
		.argv = spec->argv,
		.envp = environment_take(&l->env, spec->env, &j->tree.mark, &env),
		.in = in,
		.out = out,
		.err = err,
		.cwd = spec->cwd ? spec->cwd : l->around.cwd,
		.mask = &l->mask,
		.nofile = l->around.nofile,
		.sandbox = l->around.sandbox,
		.foreground = spec->terminal,
		.reset_handlers = l->around.handlers,
	};
	struct child_note note;
	if (spec->record && spec->record->fd >= 0) {
		note = (struct child_note){ spec->record->fd, spec->record->before,
			spec->record->after, spec->record->durable, false };
		child.note = &note;
	}
	j->tree.child.exited = on_exited;
	j->tree.began_ms = clock_boot_ms();
	int r = child_spawn(l->loop, &j->tree.child, &child);
	if (child.note)
		spec->record->failed = child.note->failed;
	environment_taken(&l->env, &env);
	return r;
}

static int open_out(struct capture *c)
{
	const struct local_job *j = container_of(c, struct local_job, out);

	return j->record->open(j->record->data, JOB_STDOUT);
}

static int open_err(struct capture *c)
{
	const struct local_job *j = container_of(c, struct local_job, err);

	return j->record->open(j->record->data, JOB_STDERR);
}

/* Ours, for a command that is given the terminal. */
static int own_streams(int *out, int *err)
{
	*out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	*err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	return *out < 0 || *err < 0 ? -errno : 0;
}

static struct job *start(
	struct executor *e, const struct job_spec *spec, struct job_owner *owner, int *error)
{
	struct local *l = local_of(e);
	struct local_job *j = mem_new(struct local_job);
	AUTO_CLOSE int out = -1;
	AUTO_CLOSE int err = -1;
	bool owned = false;

	j->job.executor = e;
	j->job.owner = owner;
	j->record = spec->record;
	if (spec->record && spec->record->open) {
		j->out.open = open_out;
		j->err.open = open_err;
		j->out.open_from = j->err.open_from = spec->record->open_from;
	}
	j->local = l;
	j->tree.child.pidfd = -1;
	j->linger.fire = on_linger;
	j->telling.call = on_telling;
	j->out.fd = j->err.fd = j->out.file = j->err.file = -1;
	j->out.room = j->err.room = &l->room;
	j->out.store = j->err.store = l->executor.store;
	j->out.came = on_out;
	j->out.ended = on_out_end;
	j->err.came = on_err;
	j->err.ended = on_err_end;
	j->tree.gone = on_gone;
	list_append(&l->trees.all, &j->tree.link);

	int in = spec->terminal ? STDIN_FILENO : open_input(l, j, spec, &owned);
	int r = in < 0 ? in : spec->terminal ? own_streams(&out, &err) : 0;
	if (r == 0 && !spec->terminal)
		r = capture_open(&j->out, CAPTURE_ALL, &out);
	if (r == 0 && !spec->terminal)
		r = capture_open(&j->err, spec->keep_err ? CAPTURE_ALL : CAPTURE_ENDS, &err);
	j->out.limit = spec->max_output;
	j->err.limit = spec->cut_err ? spec->max_output : 0;
	if (r == 0)
		r = spawn(l, j, spec, in, out, err);
	if (owned)
		close_fd(&in);
	if (r == 0) {
		hear_soon(l, j);
		local_trees_began(&l->trees);
		owner->ops->began(owner, NULL);
		return &j->job;
	}
	*error = -r;
	free_job(&j->job);
	return NULL;
}

static void close_executor(struct executor *e)
{
	struct local *l = local_of(e);

	local_trees_done(&l->trees);
	timer_stop(&l->hearing);
	capture_room_done(&l->room);
	programs_done(&l->programs);
	environment_done(&l->env);
	free(l);
}

static const struct executor_ops ops = {
	.start = start,
	.stop = stop,
	.kill = kill_job,
	.peek = peek,
	.take = take_output,
	.err_ends = err_ends,
	.free = free_job,
	.stop_all = stop_all,
	.sweep = sweep,
	.set_grace = set_grace,
	.pause = pause_all,
	.close = close_executor,
};

struct executor *local_executor(struct loop *loop, const struct surroundings *s)
{
	struct local *l = mem_new(struct local);

	l->executor.ops = &ops;
	l->loop = loop;
	l->around = *s;
	l->hearing.fire = on_hearing;
	l->programs.cwd = s->cwd;
	list_init(&l->unheard);
	if (s->mask)
		l->mask = *s->mask;
	else
		(void)pthread_sigmask(SIG_SETMASK, NULL, &l->mask);
	environment_init(&l->env, s->env, s->bare);
	local_trees_init(&l->trees, loop, s->whole, buf_str(&l->env.run_mark), s->grace_ms);
	l->programs.path = environment_path(&l->env);
	return &l->executor;
}

void local_executor_spares(struct executor *e, struct executor *other)
{
	local_of(e)->trees.beside = other ? &local_of(other)->trees : NULL;
}
