#include "remote/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/environ.h"
#include "base/file.h"
#include "remote/program.h"
#include "remote/remote-own.h"
#include "remote/submission.h"
#include "runs/dir/identity.h"

static struct remote *remote_of(struct executor *e)
{
	return container_of(e, struct remote, executor);
}

static struct remote_job *remote_job_of(struct job *j)
{
	return container_of(j, struct remote_job, job);
}

void remote_wake(struct remote *r)
{
	deferred_start(r->loop, &r->pump);
}

/* Before the run has begun nothing hears it. */
void remote_warn(struct remote *r, struct str message)
{
	if (r->executor.warn)
		r->executor.warn(r->executor.run_data, message);
}

void remote_fail(struct remote *r, struct str message, struct str hint)
{
	if (r->failed || !r->executor.fail)
		return;
	r->failed = true;
	r->executor.fail(r->executor.run_data, message, hint);
}

/* -- jobs ----------------------------------------------------------------------------------------
 */

struct remote_shape *remote_shape(struct remote *r, const struct shape *s)
{
	list_each (link, &r->shapes) {
		struct remote_shape *known = list_entry(link, struct remote_shape, link);

		if (shape_same(&known->shape, s))
			return known;
	}
	struct remote_shape *made = mem_new(struct remote_shape);
	made->shape = *s;
	/* A class that a command names is one of the table, or none. */
	const struct table_class *class = table_class(r->table, s->class);
	made->shape.class = class ? class->name : S("");
	list_init(&made->ready);
	list_append(&r->shapes, &made->link);
	return made;
}

static int write_order(struct remote_job *j, const struct job_spec *spec)
{
	AUTO_BUF room = BUF_INIT;
	struct order_run run = { .path = spec->key.path,
		.number = spec->key.number,
		.argv = spec->argv,
		.env = spec->env,
		.cwd = spec->cwd,
		.program = spec->program,
		.timeout_ms = spec->timeout_ms,
		.max_output = spec->max_output,
		.cpus = j->load.cpus,
		.mem_mb = j->load.mem_mb,
		.gpus = j->load.gpus,
		.live = j->live,
		.cut_err = spec->cut_err };
	int n = remote_input_take(j, spec, &run, &room);

	return n < 0 ? n : order_run_write(&j->order, &run);
}

static void on_telling(struct deferred *d)
{
	struct remote_job *j = container_of(d, struct remote_job, telling);

	j->job.owner->ops->ended(j->job.owner, &j->end); /* may free `j` */
}

void remote_job_tell(struct remote_job *j)
{
	struct remote *r = remote_of(j->job.executor);

	if (j->state == JOB_ENDED)
		return;
	list_remove(&j->link);
	if (j->state == JOB_READY) {
		j->shape->ready_count--;
		j->shape->ready_cpus -= j->load.cpus;
	} else if (j->worker) {
		j->worker->given_count--;
		load_remove(&j->worker->given_load, &j->load);
	}
	j->state = JOB_ENDED;
	j->worker = NULL;
	r->jobs_count--;
	close_fd(&j->out_fd);
	remote_input_release(j);
	deferred_start(r->loop, &j->telling);
	remote_wake(r);
}

void remote_job_again(struct remote_job *j)
{
	struct remote *r = remote_of(j->job.executor);

	if (j->stopping && j->state == JOB_BEGAN) {
		j->end = (struct job_end){ .signal = j->killing ? SIGKILL : SIGTERM };
		remote_job_tell(j);
		return;
	}
	/* What has not begun when it is stopped has not been run. */
	if (j->stopping || !j->order.len || j->recalled) {
		struct remote_left *l = j->worker ? remote_left_of(j->worker, j->n) : NULL;

		if (l && !j->stopping)
			remote_left_news(r, l, LEFT_AGAIN);
		j->end = (struct job_end){ .again = true };
		remote_job_tell(j);
		return;
	}
	list_remove(&j->link);
	if (j->worker) {
		j->worker->given_count--;
		load_remove(&j->worker->given_load, &j->load);
	}
	j->worker = NULL;
	j->state = JOB_READY;
	j->came[0] = j->came[1] = 0;
	close_fd(&j->out_fd);
	list_prepend(&j->shape->ready, &j->link);
	j->shape->ready_count++;
	j->shape->ready_cpus += j->load.cpus;
	remote_wake(r);
}

void remote_job_doubt(struct remote_job *j, struct str with)
{
	buf_reset(&j->lost_with);
	buf_add(&j->lost_with, with);
	j->end = (struct job_end){ .in_doubt = buf_cstr(&j->lost_with) };
	remote_job_tell(j);
}

/* -- the calls -----------------------------------------------------------------------------------
 */

static struct remote_job *new_job(
	struct remote *r, const struct job_spec *spec, struct job_owner *owner)
{
	struct remote_job *j = mem_new(struct remote_job);

	j->job = (struct job){ &r->executor, owner };
	j->telling.call = on_telling;
	j->record = spec->record;
	j->keep_err = spec->keep_err;
	j->started_ms = clock_mono_ms();
	j->out_fd = -1;
	j->time_s = spec->needs ? spec->needs->time_s : 0;
	j->behind = spec->behind;
	return j;
}

/* What it takes of an allocation of its shape. */
static struct load load_of(const struct needs *n, const struct shape *s)
{
	uint64_t cpus = n && n->cpus ? n->cpus : 1, most = MAX(s->cpus, (uint64_t)1);

	return (struct load){ s->nodes > 1 ? s->cpus : MIN(cpus, most), n ? n->mem_mb : 0,
		n && n->gpus > 0 ? (uint64_t)n->gpus : 0 };
}

static void free_job(struct job *job)
{
	struct remote_job *j = remote_job_of(job);

	if (j->state != JOB_ENDED) {
		remote_job_tell(j);
		deferred_stop(&j->telling);
	}
	deferred_stop(&j->telling);
	content_unref(j->out);
	content_unref(j->err);
	buf_done(&j->order);
	buf_done(&j->host);
	buf_done(&j->lost_with);
	free(j);
}

static struct job *start(
	struct executor *e, const struct job_spec *spec, struct job_owner *owner, int *error)
{
	struct remote *r = remote_of(e);
	struct remote_job *j = new_job(r, spec, owner);
	bool own;
	struct shape shape = table_shape(r->table, spec->needs, r->class, &own);

	remote_tell_class(r, spec->needs);
	j->shape = remote_shape(r, &shape);
	j->load = load_of(spec->needs, &shape);
	j->live = spec->record && spec->record->last;
	int n = write_order(j, spec);
	if (n < 0) {
		*error = -n;
		remote_input_release(j);
		buf_done(&j->order);
		free(j);
		return NULL;
	}
	j->state = JOB_READY;
	list_append(&j->shape->ready, &j->link);
	j->shape->ready_count++;
	j->shape->ready_cpus += j->load.cpus;
	r->jobs_count++;
	remote_wake(r);
	return &j->job;
}

static struct job *adopt(struct executor *e, const struct job_spec *spec, struct job_owner *owner)
{
	struct remote *r = remote_of(e);
	struct remote_left *left = remote_left(r, &spec->key);

	if (!left || left->taken || left->again)
		return NULL;
	left->taken = true;
	r->left_open--;
	struct remote_job *j = new_job(r, spec, owner);
	bool own;
	struct shape shape = table_shape(r->table, spec->needs, r->class, &own);
	j->shape = left->worker ? left->worker->shape : remote_shape(r, &shape);
	j->load = load_of(spec->needs, &j->shape->shape);
	j->n = left->n;
	j->state = JOB_GIVEN;
	r->jobs_count++;
	if (left->in_doubt) {
		AUTO_BUF with = BUF_INIT;

		remote_left_lost_with(r, left, &with);
		remote_job_doubt(j, buf_str(&with));
		return &j->job;
	}
	j->worker = left->worker;
	remote_hear_on(j, left);
	list_append(&left->worker->given, &j->link);
	j->worker->given_count++;
	load_add(&j->worker->given_load, &j->load);
	if (left->began || left->ended)
		remote_wake(r); /* its owner hears that from the loop */
	return &j->job;
}

static unsigned room(struct executor *e)
{
	struct remote *r = remote_of(e);
	uint64_t most = remote_jobs_most(r);

	if (r->leaving || r->failed)
		return 0;
	if (r->jobs_count < most)
		return (unsigned)(most - r->jobs_count);
	return r->left_open > 0;
}

static void end_one(struct job *job, bool at_once)
{
	struct remote_job *j = remote_job_of(job);

	if (j->state == JOB_ENDED)
		return;
	j->stopping = true;
	j->killing |= at_once;
	if (j->state == JOB_READY || !j->worker) {
		remote_job_again(j);
		return;
	}
	if (j->state == JOB_GIVEN)
		remote_order(j->worker, &(struct order){ .kind = ORDER_DROP, .n = j->n });
	remote_order(
		j->worker, &(struct order){ .kind = at_once ? ORDER_KILL : ORDER_STOP, .n = j->n });
}

static void stop(struct job *job)
{
	end_one(job, false);
}

/* The second order of a run that ends: workers are not waited for, nor is what they would say. */
static void kill_job(struct job *job)
{
	struct remote *r = remote_of(job->executor);

	end_one(job, true);
	if (r->leaving)
		remote_leave(r, LEAVE_KILL);
}

static void recall(struct job *job)
{
	struct remote_job *j = remote_job_of(job);

	if (j->stopping || j->recalled || j->state == JOB_BEGAN || j->state == JOB_ENDED)
		return;
	j->recalled = true;
	if (j->state == JOB_READY || !j->worker)
		remote_job_again(j);
	else if (!j->dropped)
		remote_order(j->worker, &(struct order){ .kind = ORDER_DROP, .n = j->n });
}

static struct content *take(struct job *job, enum job_stream stream)
{
	struct remote_job *j = remote_job_of(job);

	return stream == JOB_STDOUT ? TAKE(j->out) : TAKE(j->err);
}

enum { ENDS = 4096 };

static void err_ends(struct job *job, struct buf *head, struct buf *tail)
{
	struct remote_job *j = remote_job_of(job);

	(void)content_head(j->err, ENDS, head);
	(void)content_tail(j->err, ENDS, tail);
}

static void stop_all(struct executor *e)
{
	remote_leave(remote_of(e), LEAVE_CANCEL);
}

static void sweep(struct executor *e, enum sweep how, void (*done)(void *data), void *data)
{
	struct remote *r = remote_of(e);

	r->swept = done;
	r->swept_data = data;
	remote_leave(r, how == SWEEP_KILL                              ? LEAVE_KILL
			: how == SWEEP_ASK && r->leaving != LEAVE_QUIT ? LEAVE_CANCEL
								       : LEAVE_QUIT);
}

static void set_grace(struct executor *e, uint64_t grace_ms)
{
	struct remote *r = remote_of(e);

	r->grace_ms = grace_ms;
	list_each (link, &r->workers)
		remote_order(list_entry(link, struct remote_worker, link),
			&(struct order){ .kind = ORDER_GRACE, .ms = grace_ms });
}

static void pause_all(struct executor *e, bool on)
{
	list_each (link, &remote_of(e)->workers)
		remote_order(list_entry(link, struct remote_worker, link),
			&(struct order){ .kind = ORDER_PAUSE, .on = on });
}

static void free_left(struct remote *r)
{
	for (size_t i = 0; i < r->left_count; i++)
		said_done(&r->left[i].end);
	free(r->left);
}

static void close_executor(struct executor *e)
{
	struct remote *r = remote_of(e);

	timer_stop(&r->tick);
	timer_stop(&r->looks);
	deferred_stop(&r->pump);
	batch_free(r->batch);
	list_each_safe (link, &r->workers)
		remote_worker_free(list_entry(link, struct remote_worker, link));
	list_each_safe (link, &r->shapes) {
		list_remove(link);
		free(list_entry(link, struct remote_shape, link));
	}
	free_left(r);
	buf_done(&r->shown);
	vec_done(&r->told);
	notify_close(&r->notify);
	exchange_file_done(&r->beats);
	exchange_close(&r->x);
	table_free(r->table);
	arena_done(&r->arena);
	free(r);
}

static const struct executor_ops ops = {
	.start = start,
	.adopt = adopt,
	.room = room,
	.stop = stop,
	.kill = kill_job,
	.recall = recall,
	.take = take,
	.err_ends = err_ends,
	.free = free_job,
	.stop_all = stop_all,
	.sweep = sweep,
	.set_grace = set_grace,
	.pause = pause_all,
	.close = close_executor,
};

/* -- its beginning -------------------------------------------------------------------------------
 */

static void on_pump(struct deferred *d)
{
	struct remote *r = container_of(d, struct remote, pump);

	remote_settle_taken(r);
	remote_tell_left(r);
	remote_give(r);
	remote_write_orders(r);
}

static void on_tick(struct timer *t)
{
	struct remote *r = container_of(t, struct remote, tick);

	timer_start(r->loop, t, MIN(remote_ms(1000), r->leaving ? 100 : (uint64_t)1000));
	remote_tick(r); /* may end everything */
}

static bool is_kept_back(const char *entry, const char *const *names)
{
	size_t len = strcspn(entry, "=");

	if (environ_is_nodes(entry) || strncmp(entry, "ROUX_TREE=", 10) == 0 ||
		strncmp(entry, "ROUX_TEST_", 10) == 0)
		return true;
	for (size_t i = 0; names && names[i]; i++)
		if (strlen(names[i]) == len && strncmp(entry, names[i], len) == 0)
			return true;
	return false;
}

/* What all commands have: of this process and of the run, or of the run alone. */
static void write_env(struct remote *r, const struct remote_options *o, struct buf *text)
{
	struct environ_list list = { 0 };
	size_t kept = 0;

	environ_add(&list, r->table->env_node ? NULL : (const char *const *)environ, o->env);
	for (size_t i = 0; i < list.vars.len; i++)
		if (!is_kept_back(list.vars.at[i], o->hidden))
			list.vars.at[kept++] = list.vars.at[i];
	list.vars.len = kept;
	vec_push(&list.vars, NULL);
	exchange_env_write(text, list.vars.at);
	vec_done(&list.vars);
}

static int write_run(struct remote *r, const struct remote_options *o)
{
	mode_t mask = umask(077);
	unsigned char random[16] = { 0 };
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF env = BUF_INIT;
	AUTO_BUF probe = BUF_INIT;

	(void)umask(mask);
	(void)!getrandom(random, sizeof(random), GRND_NONBLOCK);
	for (size_t i = 0; i < sizeof(random); i++)
		buf_printf(&probe, "%02x", random[i]);
	r->probe = arena_str(&r->arena, buf_str(&probe));
	r->announced = r->careful || r->durable;
	exchange_info_write(&text, &(struct exchange_info){ .run = r->run,
					   .generation = r->generation,
					   .probe = r->probe,
					   .cwd = r->cwd,
					   .cwd_ino = r->cwd_ino,
					   .uid = geteuid(),
					   .umask = mask,
					   .grace_ms = r->grace_ms,
					   .idle_s = r->table->idle_s,
					   .orphan_s = r->table->orphan_s,
					   .network = r->x.network,
					   .durable = r->durable,
					   .careful = r->careful,
					   .node_env = r->table->env_node,
					   .scale = remote_scale > 1 ? remote_scale : 0 });
	write_env(r, o, &env);
	/* The last one says that the others are there: who continues the run looks for it alone. */
	int n = exchange_write(&r->x, "probe", r->probe);
	n = n < 0 ? n : exchange_write(&r->x, "env.json", buf_str(&env));
	return n < 0 ? n : exchange_write(&r->x, "run.json", buf_str(&text));
}

/* A run that is continued finds what it wrote; its workers know the probe. */
static int open_run(struct remote *r, const struct remote_options *o)
{
	struct exchange_info info;
	AUTO_BUF text = BUF_INIT;

	if (!r->resumed || exchange_read(&r->x, "run.json", 1 << 20, &text) < 0)
		return write_run(r, o);
	if (!exchange_info_read(buf_str(&text), &r->arena, &info) ||
		!str_eq(info.generation, r->generation))
		return write_run(r, o);
	r->probe = info.probe;
	r->announced = info.careful || info.durable;
	return 0;
}

static int take_epoch(struct remote *r)
{
	struct identity self = { 0 };
	char host[256] = "", name[64];
	AUTO_BUF who = BUF_INIT;

	(void)identity_self(&self);
	(void)gethostname(host, sizeof(host) - 1);
	buf_printf(&who, "{\"host\":\"%s\",\"pid\":%d,\"start\":%" PRIu64 ",\"boot\":\"%s\"}\n",
		host, (int)getpid(), self.start, self.boot);
	int n = exchange_epoch_take(&r->x, buf_str(&who), &r->epoch);
	(void)snprintf(name, sizeof(name), "driver/%" PRIu64, r->epoch);
	exchange_file_init(&r->beats, &r->x, name, true, false);
	r->beat_ms = clock_mono_ms();
	return n;
}

struct str remote_exchange_path(const struct table *t, struct str run_dir, struct str run,
	struct str generation, struct arena *a)
{
	return t->dir.len ? arena_printf(a, "%.*s/%.*s-%.*s%.*s", STR(t->dir), STR(run),
				    STR(generation), STR(t->suffix))
			  : arena_printf(a, "%.*s/exchange%.*s", STR(run_dir), STR(t->suffix));
}

/* What an earlier run of that name has left: its workers find it gone and leave. */
static void clear_old(const char *path)
{
	struct exchange old;

	if (exchange_open(&old, path, false) < 0)
		return;
	exchange_remove(&old, NULL, NULL);
	exchange_close(&old);
}

static void see_id(void *data, uint64_t id)
{
	struct remote *r = data;

	r->next_worker = MAX(r->next_worker, id);
}

static bool open_exchange(struct remote *r, const struct remote_options *o, struct report *report)
{
	struct str path =
		remote_exchange_path(r->table, o->run_dir, o->run, o->generation, &r->arena);
	int n = 0;

	if (r->table->dir.len ? !exchange_root_check(r->table->dir.p, report)
			      : !exchange_parents_check(r->run_dir.p, report))
		return false;
	if (!r->resumed)
		clear_old(path.p);
	n = exchange_open(&r->x, path.p, true);

	if (n == -EPERM)
		return report_system(report, (struct where){ 0 },
			"%.*s is not a directory that only this user can use", STR(path));
	n = n < 0 ? n : open_run(r, o);
	n = n < 0 ? n : take_epoch(r);
	return n == 0 || report_errno(report, -n, "cannot make %.*s", STR(path));
}

static struct remote *new_remote(const struct remote_options *o)
{
	struct remote *r = mem_new(struct remote);
	struct stat st = { 0 };

	r->executor.ops = &ops;
	r->loop = o->loop;
	r->table = o->table;
	r->executor.name = r->table->name;
	r->run = arena_str(&r->arena, o->run);
	r->generation = arena_str(&r->arena, o->generation);
	r->run_dir = arena_str(&r->arena, o->run_dir);
	r->cwd = str_of(arena_cstr(&r->arena, o->cwd));
	(void)stat(r->cwd.p, &st);
	r->cwd_ino = (uint64_t)st.st_ino;
	r->class = arena_str(&r->arena, o->class);
	r->name = submission_name(r->run, r->generation, &r->arena);
	r->grace_ms = o->grace_ms;
	r->jobs = o->jobs;
	r->durable = o->durable;
	r->careful = o->careful;
	r->resumed = o->resumed;
	r->stops_left = o->stops_left;
	r->next_worker = o->last_worker;
	r->superseded = o->superseded;
	r->data = o->data;
	r->x = EXCHANGE_NONE;
	r->pump.call = on_pump;
	r->tick.fire = on_tick;
	list_init(&r->shapes);
	list_init(&r->workers);
	r->looked_last = &r->workers;
	list_init(&r->inputs);
	notify_init(&r->notify);
	return r;
}

struct executor *remote_executor(const struct remote_options *o, struct report *report)
{
	struct remote *r = new_remote(o);

	if (!program_copy(o->state_dir, &r->arena, &r->roux, report) ||
		!open_exchange(r, o, report)) {
		close_executor(&r->executor);
		return NULL;
	}
	if (!r->x.network && notify_open(&r->notify) == 0)
		(void)notify_start(r->loop, &r->notify);
	r->batch = batch_new(r->loop, r->table, o->here);
	(void)exchange_workers(&r->x, see_id, r);
	if (r->resumed)
		remote_find_left(r, o);
	timer_start(r->loop, &r->tick, 10);
	return &r->executor;
}
