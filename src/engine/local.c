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
#include "loop/child.h"
#include "loop/tree.h"

enum {
	LINGER_MS = 500, /* silence after which a pipe held by somebody left behind is let go */
	POLL_MIN_MS = 2, /* how often trees that are being ended are looked at */
	POLL_MAX_MS = 50,
	EMPTY_LOOKS = 2,
	REAP_MS = 1000,  /* how often orphans that have ended are taken off the process table */
	PATIENCE_MS = 3, /* how long a command runs before its output is listened to */
};

enum stage { STAGE_RUNNING, STAGE_ASKING, STAGE_ASKED, STAGE_KILLED };

struct local_job {
	struct job job;
	struct local *local;
	const struct job_record *record;
	struct capture out; /* CAPTURE_ALL */
	struct capture err;
	struct list link; /* all jobs that have not ended */
	struct child child;
	struct feed feed;
	struct list unheard; /* in struct local: nobody listens to its output yet */
	uint64_t hear_at_ms;
	struct timer linger;
	enum stage stage;
	uint64_t kill_at_ms; /* STAGE_ASKED: when asking is over */
	bool exited;
	bool held; /* a pipe was let go while another process held it */
	struct deferred
		telling; /* its end is told from the loop, never from inside its own callbacks */
	bool told;
	struct buf mark;   /* "/run.number/": in the environment of everything it starts */
	uint64_t began_ms; /* on the clock of struct tree */
	unsigned empty;    /* looks in a row that found nobody */
};

struct local {
	struct executor executor;
	struct loop *loop;
	struct surroundings around;
	struct programs programs;
	struct list jobs;
	struct environment env;
	sigset_t mask;
	char *chunk; /* for reading outputs */
	/* Most commands are over in a moment: what they printed is then read once, when they have
	 * ended, and roux does not wake up before. Only the others are listened to. */
	struct list unheard; /* oldest first */
	struct timer hearing;
	/* All trees that are being ended are looked at together, in one walk over /proc. */
	struct timer poll, reap;
	uint64_t poll_ms;
	/* What is not a job's: asked since stop_all(), swept at the end. */
	struct tree_asked asked;
	size_t reaped;       /* orphans since the last look */
	unsigned rest_empty; /* as in struct local_job */
	void (*swept)(void *data);
	void *swept_data;
	enum stage sweep_stage;
	uint64_t sweep_kill_at_ms;
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

static bool known_pid(void *data, pid_t pid)
{
	struct local *l = data;

	list_each (link, &l->jobs)
		if (list_entry(link, struct local_job, link)->child.pid == pid)
			return true;
	return false;
}

static void tell(struct local_job *j)
{
	if (j->told)
		return;
	j->told = true;
	timer_stop(&j->linger);
	list_remove(&j->link);
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
	const struct rusage *used = &j->child.usage;
	struct job_end end = { .code = j->child.code,
		.signal = j->child.signal,
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
 * being ended is over when nobody of it is left: see look_at_trees(). */
static void settle(struct local_job *j)
{
	if (!j->exited || j->stage != STAGE_RUNNING)
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
	if (j->exited && j->stage == STAGE_RUNNING)
		timer_start(j->local->loop, &j->linger, LINGER_MS);
	if (j->out.error && j->stage == STAGE_RUNNING)
		j->local->executor.ops->stop(&j->job);
	j->job.owner->ops->output(j->job.owner, stream, data);
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

	if (j->stage != STAGE_RUNNING)
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
	struct local_job *j = container_of(c, struct local_job, child);
	struct local *l = j->local;

	j->exited = true;
	feed_stop(&j->feed);
	/* Orphans are reaped by the timer, or while trees are ended: not at every exit. */
	if (j->stage != STAGE_RUNNING) {
		timer_start(l->loop, &l->poll, 0);
		return;
	}
	/* What is in the pipes now is read at once: most commands leave nobody behind. A pipe that
	 * ends here settles the job, so nothing may touch it afterwards without looking. */
	timer_start(l->loop, &j->linger, LINGER_MS);
	if (j->err.fd >= 0)
		capture_drain(&j->err);
	if (j->out.fd >= 0) {
		capture_drain(&j->out);
		return;
	}
	settle(j);
}

static void on_reap(struct timer *t)
{
	struct local *l = container_of(t, struct local, reap);

	l->reaped += tree_reap(known_pid, l);
	if (!list_empty(&l->jobs))
		timer_start(l->loop, t, REAP_MS);
}

/* -- ending trees --------------------------------------------------------------------------------
 */

/* One step of ending the tree of a job, or without a job of everything that belongs to the run.
 * Returns how many processes are left. */
static size_t press(struct local *l, struct tree_scan *scan, struct local_job *j, enum stage *stage,
	uint64_t kill_at_ms)
{
	bool alone = l->around.whole && l->jobs.next->next == &l->jobs;
	struct tree of_job = { .pid = j ? j->child.pid : 0,
		.mark = j ? buf_str(&j->mark) : buf_str(&l->env.run_mark),
		.adopt_since_ms = j && alone ? j->began_ms : 0 };
	const struct tree *tree = !j && l->around.whole ? NULL : &of_job;
	bool asking = *stage == STAGE_ASKING;

	if (asking)
		*stage = STAGE_ASKED;
	else if (*stage == STAGE_ASKED && clock_mono_ms() >= kill_at_ms)
		*stage = STAGE_KILLED;
	bool killing = *stage == STAGE_KILLED;
	if (!scan) {
		/* Without /proc only the process groups of running commands can be reached. */
		if (!j || !child_running(&j->child))
			return 0;
		if (asking || killing)
			(void)kill(-j->child.pid, killing ? SIGKILL : SIGTERM);
		if (asking)
			(void)kill(-j->child.pid, SIGCONT);
		return 1;
	}
	return asking    ? tree_ask(scan, tree, &l->asked)
	       : killing ? tree_kill(scan, tree)
			 : tree_count(scan, tree);
}

/* A look at /proc takes time: a process that forks and exits meanwhile can be missed, child and
 * parent. But then its parent turns up as an orphan to be reaped, so nobody is left only when looks
 * in a row found nobody and reaped nobody. */
static bool proved_empty(const struct local *l, unsigned *looks)
{
	*looks = l->reaped ? 0 : *looks + 1;
	return !l->around.whole || *looks >= EMPTY_LOOKS;
}

static void finish_ended(struct local_job *j)
{
	/* Nobody is left who could write: take what is there and do not wait. */
	j->stage = STAGE_KILLED;
	capture_drain(&j->out);
	capture_drain(&j->err);
	capture_close(&j->out);
	capture_close(&j->err);
	tell(j);
}

static bool look_at_job(struct local *l, struct tree_scan *scan, struct local_job *j)
{
	if (press(l, scan, j, &j->stage, j->kill_at_ms)) {
		j->empty = 0;
		return false;
	}
	if (!j->exited || !proved_empty(l, &j->empty))
		return false;
	finish_ended(j);
	return true;
}

/* False: nothing is left to look at. */
static bool look_at_rest(struct local *l, struct tree_scan *scan)
{
	if (l->sweep_stage == STAGE_RUNNING)
		return false;
	if (press(l, scan, NULL, &l->sweep_stage, l->sweep_kill_at_ms)) {
		l->rest_empty = 0;
		return true;
	}
	if (!proved_empty(l, &l->rest_empty))
		return true;
	void (*swept)(void *) = l->swept;
	l->swept = NULL;
	if (swept)
		swept(l->swept_data);
	return false;
}

static void look_at_trees(struct timer *t)
{
	struct local *l = container_of(t, struct local, poll);
	struct tree_scan *scan = tree_scan_new();
	bool busy = false, progress = false;

	if (l->around.whole)
		l->reaped += tree_reap(known_pid, l);
	list_each_safe (link, &l->jobs) {
		struct local_job *j = list_entry(link, struct local_job, link);

		if (j->stage == STAGE_RUNNING)
			continue;
		if (look_at_job(l, scan, j))
			progress = true;
		else
			busy = true;
	}
	busy |= look_at_rest(l, scan);
	progress |= l->reaped > 0;
	l->reaped = 0;
	l->poll_ms = progress ? POLL_MIN_MS : MIN(l->poll_ms * 2, (uint64_t)POLL_MAX_MS);
	if (busy && !timer_running(&l->poll))
		timer_start(l->loop, &l->poll, l->poll_ms);
	tree_scan_free(scan);
}

static void watch_trees(struct local *l)
{
	l->poll_ms = POLL_MIN_MS;
	timer_start(l->loop, &l->poll, 0);
}

static void stop(struct job *job)
{
	struct local_job *j = job_of(job);
	struct local *l = j->local;

	if (j->stage != STAGE_RUNNING || j->told)
		return;
	j->stage = STAGE_ASKING;
	timer_stop(&j->linger);
	j->kill_at_ms = clock_mono_ms() + l->around.grace_ms;
	watch_trees(l);
}

static void kill_job(struct job *job)
{
	struct local_job *j = job_of(job);

	if (j->told)
		return;
	timer_stop(&j->linger);
	j->stage = STAGE_KILLED;
	watch_trees(j->local);
}

static void stop_all(struct executor *e)
{
	struct local *l = local_of(e);

	l->sweep_stage = STAGE_ASKING;
	l->sweep_kill_at_ms = clock_mono_ms() + l->around.grace_ms;
	watch_trees(l);
}

static void sweep(struct executor *e, bool at_once, void (*done)(void *data), void *data)
{
	struct local *l = local_of(e);

	if (l->swept) { /* a second call only hurries */
		if (at_once)
			l->sweep_stage = STAGE_KILLED;
		watch_trees(l);
		return;
	}
	l->swept = done;
	l->swept_data = data;
	if (l->sweep_stage == STAGE_RUNNING)
		stop_all(e);
	if (at_once)
		l->sweep_stage = STAGE_KILLED;
	watch_trees(l);
}

/* -- the start -----------------------------------------------------------------------------------
 */

static struct content *take_output(struct job *job, enum job_stream stream)
{
	struct local_job *j = job_of(job);

	return capture_take(stream == JOB_STDOUT ? &j->out : &j->err);
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

	list_remove(&j->link);
	list_remove(&j->unheard);
	deferred_stop(&j->telling);
	timer_stop(&j->linger);
	feed_stop(&j->feed);
	if (j->child.pid)
		child_done(&j->child);
	capture_done(&j->out);
	capture_done(&j->err);
	buf_done(&j->mark);
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
	const char *program = programs_find(&l->programs, spec->argv[0], &error);

	if (!program)
		return -error;
	struct child_spec child = {
		.program = program,
		.argv = spec->argv,
		.envp = environment_take(&l->env, spec->env, &j->mark, &env),
		.in = in,
		.out = out,
		.err = err,
		.cwd = spec->cwd ? spec->cwd : l->around.cwd,
		.mask = &l->mask,
		.nofile = l->around.nofile,
		.foreground = spec->terminal,
		.reset_handlers = l->around.handlers,
	};
	struct child_note note;
	if (spec->record && spec->record->fd >= 0) {
		note = (struct child_note){ spec->record->fd, spec->record->before,
			spec->record->after };
		child.note = &note;
	}
	j->child.exited = on_exited;
	j->began_ms = tree_clock_ms();
	int r = child_spawn(l->loop, &j->child, &child);
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
	}
	j->local = l;
	j->child.pidfd = -1;
	j->linger.fire = on_linger;
	j->telling.call = on_telling;
	j->out.fd = j->err.fd = j->out.file = j->err.file = -1;
	j->out.chunk = j->err.chunk = &l->chunk;
	j->out.store = j->err.store = l->executor.store;
	j->out.came = on_out;
	j->out.ended = on_out_end;
	j->err.came = on_err;
	j->err.ended = on_err_end;
	list_append(&l->jobs, &j->link);

	int in = spec->terminal ? STDIN_FILENO : open_input(l, j, spec, &owned);
	int r = in < 0 ? in : spec->terminal ? own_streams(&out, &err) : 0;
	if (r == 0 && !spec->terminal)
		r = capture_open(&j->out, CAPTURE_ALL, &out);
	if (r == 0 && !spec->terminal)
		r = capture_open(&j->err, spec->keep_err ? CAPTURE_ALL : CAPTURE_ENDS, &err);
	j->out.limit = spec->max_output;
	j->err.limit = spec->keep_err ? spec->max_output : 0;
	if (r == 0)
		r = spawn(l, j, spec, in, out, err);
	if (owned)
		close_fd(&in);
	if (r == 0) {
		hear_soon(l, j);
		if (l->around.whole && !timer_running(&l->reap))
			timer_start(l->loop, &l->reap, REAP_MS);
		owner->ops->began(owner);
		return &j->job;
	}
	*error = -r;
	free_job(&j->job);
	return NULL;
}

/* Whoever has been asked already does not get more than that either. */
static void set_grace(struct executor *e, uint64_t grace_ms)
{
	struct local *l = local_of(e);
	uint64_t latest = clock_mono_ms() + grace_ms;

	l->around.grace_ms = grace_ms;
	l->sweep_kill_at_ms = MIN(l->sweep_kill_at_ms, latest);
	list_each (link, &l->jobs) {
		struct local_job *j = list_entry(link, struct local_job, link);

		j->kill_at_ms = MIN(j->kill_at_ms, latest);
	}
}

/* Not those that are being ended: who is held cannot clean up. */
static void pause_all(struct executor *e, bool on)
{
	list_each (link, &local_of(e)->jobs) {
		struct local_job *j = list_entry(link, struct local_job, link);

		if (j->stage == STAGE_RUNNING && child_running(&j->child))
			(void)kill(-j->child.pid, on ? SIGSTOP : SIGCONT);
	}
}

static void close_executor(struct executor *e)
{
	struct local *l = local_of(e);

	timer_stop(&l->poll);
	timer_stop(&l->reap);
	timer_stop(&l->hearing);
	tree_asked_done(&l->asked);
	free(l->chunk);
	programs_done(&l->programs);
	environment_done(&l->env);
	free(l);
}

static const struct executor_ops ops = {
	.start = start,
	.stop = stop,
	.kill = kill_job,
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
	l->poll.fire = look_at_trees;
	l->reap.fire = on_reap;
	l->hearing.fire = on_hearing;
	l->programs.cwd = s->cwd;
	list_init(&l->jobs);
	list_init(&l->unheard);
	if (s->mask)
		l->mask = *s->mask;
	else
		(void)pthread_sigmask(SIG_SETMASK, NULL, &l->mask);
	environment_init(&l->env, s->env);
	l->programs.path = environment_path(&l->env);
	return &l->executor;
}
