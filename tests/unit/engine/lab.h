#pragma once

#include <stdlib.h>
#include <string.h>

#include "engine/executor.h"
#include "engine/run.h"
#include "graph/plan.h"

#include "unit.h"

/*
 * A run with an executor that starts nothing: its jobs begin and end when the test says so. What
 * happened is told as words, in order: "+a" a has been started, "-a" it was asked to end.
 *
 * Templates are written with ' for ", so that they stay readable in C.
 */
struct lab_job {
	struct job job;
	struct list link;
	char *name; /* its first word */
	struct buf in;
	struct content *out;
	struct buf err;
	bool adopted, ended;
};

struct lab {
	struct executor executor;
	struct loop *loop;
	struct run *run;
	struct buf told;
	struct list jobs; /* that have not ended, in order of their start */
	unsigned room;
	bool late;         /* jobs begin when lab_began() says so */
	int refuse;        /* errno: the next start fails */
	const char *adopt; /* the path of a command that is under way already; NULL: none is */
	bool closed, ended;
	unsigned freed;
};

static inline struct lab *lab_of(struct executor *e)
{
	return container_of(e, struct lab, executor);
}

static inline struct lab_job *lab_job_of(struct job *j)
{
	return container_of(j, struct lab_job, job);
}

static inline void lab_tell(struct lab *l, const char *what, const char *name)
{
	buf_printf(&l->told, "%s%s%s", l->told.len ? " " : "", what, name);
}

static inline struct lab_job *lab_job_new(
	struct lab *l, const char *name, const struct job_spec *spec, struct job_owner *owner)
{
	struct lab_job *j = mem_new(struct lab_job);

	j->job = (struct job){ &l->executor, owner };
	j->name = mem_strdup(name);
	if (spec->in)
		(void)content_head(spec->in, 4096, &j->in);
	list_append(&l->jobs, &j->link);
	return j;
}

static inline struct job *lab_start(
	struct executor *e, const struct job_spec *spec, struct job_owner *owner, int *error)
{
	struct lab *l = lab_of(e);

	if (l->refuse) {
		*error = l->refuse;
		l->refuse = 0;
		lab_tell(l, "!", spec->argv[0]);
		return NULL;
	}
	struct lab_job *j = lab_job_new(l, spec->argv[0], spec, owner);
	lab_tell(l, "+", j->name);
	l->room--;
	if (!l->late)
		owner->ops->began(owner, NULL);
	return &j->job;
}

static inline struct job *lab_adopt(
	struct executor *e, const struct job_spec *spec, struct job_owner *owner)
{
	struct lab *l = lab_of(e);

	if (!l->adopt || !str_eq(spec->key.path, str_of(l->adopt)))
		return NULL;
	struct lab_job *j = lab_job_new(l, l->adopt, spec, owner);
	lab_tell(l, "adopted:", j->name);
	j->adopted = true;
	return &j->job;
}

static inline unsigned lab_room(struct executor *e)
{
	return lab_of(e)->room;
}

static inline void lab_stop(struct job *j)
{
	lab_tell(lab_of(j->executor), "-", lab_job_of(j)->name);
}

static inline void lab_kill(struct job *j)
{
	lab_tell(lab_of(j->executor), "--", lab_job_of(j)->name);
}

static inline struct content *lab_take(struct job *job, enum job_stream stream)
{
	struct lab_job *j = lab_job_of(job);
	struct content *out = j->out;

	if (stream == JOB_STDERR)
		return content_from_buf(&j->err);
	j->out = NULL;
	return out;
}

static inline void lab_err_ends(struct job *j, struct buf *head, struct buf *tail)
{
	buf_add(head, buf_str(&lab_job_of(j)->err));
	buf_add(tail, buf_str(&lab_job_of(j)->err));
}

static inline void lab_free(struct job *job)
{
	struct lab_job *j = lab_job_of(job);

	lab_of(job->executor)->freed++;
	list_remove(&j->link);
	content_unref(j->out);
	buf_done(&j->in);
	buf_done(&j->err);
	free(j->name);
	free(j);
}

static inline void lab_stop_all(struct executor *e)
{
	lab_tell(lab_of(e), "stop-all", "");
}

static inline void lab_sweep(
	struct executor *e, enum sweep how, void (*done)(void *data), void *data)
{
	lab_tell(lab_of(e), how == SWEEP_KILL ? "sweep-now" : "sweep", "");
	done(data);
}

static inline void lab_set_grace(struct executor *e UNUSED, uint64_t grace_ms UNUSED)
{
}

static inline void lab_pause(struct executor *e, bool on)
{
	lab_tell(lab_of(e), on ? "held" : "continued", "");
}

static inline void lab_close(struct executor *e)
{
	lab_of(e)->closed = true;
}

static const struct executor_ops lab_ops = {
	.start = lab_start,
	.adopt = lab_adopt,
	.room = lab_room,
	.stop = lab_stop,
	.kill = lab_kill,
	.take = lab_take,
	.err_ends = lab_err_ends,
	.free = lab_free,
	.stop_all = lab_stop_all,
	.sweep = lab_sweep,
	.set_grace = lab_set_grace,
	.pause = lab_pause,
	.close = lab_close,
};

static inline void lab_init(struct lab *l)
{
	*l = (struct lab){ .executor.ops = &lab_ops, .room = 1000 };
	list_init(&l->jobs);
	l->loop = loop_new();
	assert_non_null(l->loop);
}

/* Everything that can be done without the test. */
static inline void lab_turn(struct lab *l)
{
	for (int i = 0; i < 16; i++)
		assert_true(loop_turn(l->loop, 0) >= 0);
}

static inline void lab_on_ended(void *data)
{
	((struct lab *)data)->ended = true;
}

static inline struct plan *lab_plan(const char *text)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF json = BUF_INIT;

	for (const char *c = text; *c; c++)
		buf_addc(&json, *c == '\'' ? '"' : *c);
	struct graph *g = graph_read(S("t"), buf_str(&json), DIALECT_NOW, &r);
	assert_non_null(g);
	struct plan *p = plan_new(g, NULL, &r);
	assert_non_null(p);
	graph_unref(g);
	return p;
}

/* Starts the template; `o` has what the test wants beside, and may be NULL. */
static inline void lab_run(struct lab *l, const char *text, const struct run_options *o)
{
	struct run_options options = o ? *o : (struct run_options){ .jobs = 8 };
	struct plan *p = lab_plan(text);
	struct executor *own = &l->executor;

	if (!options.executor_count) {
		options.executors = &own;
		options.executor_count = 1;
	}
	options.stdin_fd = -1;
	options.ended = lab_on_ended;
	options.ended_data = l;
	l->run = run_start(l->loop, p, &options);
	plan_unref(p);
	lab_turn(l);
}

/* The oldest job of that name that has not ended. */
static inline struct lab_job *lab_job(struct lab *l, const char *name)
{
	list_each (link, &l->jobs) {
		struct lab_job *j = list_entry(link, struct lab_job, link);

		if (!j->ended && strcmp(j->name, name) == 0)
			return j;
	}
	fail_msg("%s is not running", name);
	return NULL;
}

static inline void lab_began(struct lab *l, const char *name)
{
	struct job_owner *o = lab_job(l, name)->job.owner;

	o->ops->began(o, NULL);
	lab_turn(l);
}

static inline void lab_end_as(
	struct lab *l, const char *name, struct job_end end, const char *out, const char *err)
{
	struct lab_job *j = lab_job(l, name);
	struct job_owner *o = j->job.owner;
	struct buf text = BUF_INIT;

	j->ended = true;
	buf_adds(&text, out);
	j->out = content_from_buf(&text);
	buf_adds(&j->err, err);
	o->ops->ended(o, &end);
	lab_turn(l);
}

/* It exits with that code. */
static inline void lab_end(struct lab *l, const char *name, int code)
{
	lab_end_as(l, name, (struct job_end){ .code = code }, "", "");
}

/* It succeeds and has printed `out`. */
static inline void lab_print(struct lab *l, const char *name, const char *out)
{
	lab_end_as(l, name, (struct job_end){ 0 }, out, "");
}

#define lab_assert_told(l, want) lab_told_is((l), (want), __FILE__, __LINE__)
/* What happened since the last time. */
static inline void lab_told_is(struct lab *l, const char *want, const char *file, int line)
{
	unit_str(buf_str(&l->told), str_of(want), file, line);
	buf_reset(&l->told);
}

static inline bool lab_has_told(const struct lab *l, const char *what)
{
	return str_contains(buf_str(&l->told), str_of(what));
}

static inline void lab_assert_output(struct lab *l, const char *want)
{
	AUTO_BUF out = BUF_INIT;

	(void)content_head(run_output(l->run), 4096, &out);
	assert_str(buf_str(&out), want);
}

static inline void lab_done(struct lab *l)
{
	assert_true(l->ended);
	assert_true(list_empty(&l->jobs));
	run_free(l->run);
	assert_true(l->closed);
	loop_free(l->loop);
	buf_done(&l->told);
}

/* The run has ended so, and this was the test. */
static inline void lab_finish(struct lab *l, enum run_status status)
{
	assert_true(l->ended);
	assert_int_equal(run_result(l->run)->status, status);
	lab_done(l);
}
