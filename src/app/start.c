#include "app/start.h"

#include <stdlib.h>

#include "app/record.h"
#include "app/result.h"
#include "app/secrets.h"
#include "app/status.h"
#include "app/steps.h"
#include "base/file.h"
#include "recipe/bundle.h"

static const enum roux_status statuses[] = {
	[RUN_RUNNING] = ROUX_RUNNING,
	[RUN_DONE] = ROUX_DONE,
	[RUN_FAILED] = ROUX_FAILED,
	[RUN_TIMEOUT] = ROUX_TIMEOUT,
	[RUN_CANCELLED] = ROUX_CANCELLED,
	[RUN_KILLED] = ROUX_KILLED,
	[RUN_INVALID] = ROUX_INVALID,
	[RUN_PARTIAL] = ROUX_PARTIAL,
	[RUN_PAUSED] = ROUX_PAUSED,
	[RUN_DENIED] = ROUX_DENIED,
};

enum roux_status start_status(const struct roux_run *run)
{
	return run->ended ? statuses[run_result(run->run)->status] : ROUX_RUNNING;
}

struct roux_run *start_first(struct roux *r)
{
	return list_empty(&r->runs) ? NULL : list_entry(r->runs.next, struct roux_run, link);
}

static void tell(struct roux_run *run, const struct event *e);

static void on_event(void *data, const struct event *e)
{
	struct roux_run *run = data;
	struct arena a = ARENA_INIT;
	struct event masked = *e;

	if (run->options.mask)
		mask_event(run->options.mask, e, &masked, &a);
	/* What commands print is kept as it is. */
	if (run->options.record)
		record_event(run->options.record, run->run,
			e->kind == EVENT_COMMAND_OUTPUT ? e : &masked);
	tell(run, &masked);
	arena_done(&a);
}

static void tell(struct roux_run *run, const struct event *e)
{
	if (run->options.listen)
		run->options.listen(run->options.listen_data, e);
	if (!run->on_event || !event_name(e->kind))
		return;
	buf_reset(&run->json);
	event_json(e, &run->json);
	run->on_event(run,
		&(struct roux_event){ sizeof(struct roux_event), e->seq, event_name(e->kind),
			buf_cstr(&run->json), run->json.len },
		run->event_data);
}

/* Artifacts that must be there. */
static bool verify(void *data, struct report *r)
{
	struct roux_run *run = data;

	return launch_verify(run->options.launch, r);
}

static void on_ended(void *data)
{
	struct roux_run *run = data;

	run->ended = true;
	list_remove(&run->link);
	if (run->options.record)
		run->record_error = record_finish(run->options.record, run);
	if (run->options.base.stdout_fd >= 0) {
		struct sigpipe quiet;

		sigpipe_begin(&quiet);
		(void)result_write_output(run, run->options.base.stdout_fd);
		sigpipe_end(&quiet);
	}
}

static const char *const *give_arguments(
	void *data, const struct node *n, const char *const *argv, size_t argc, struct arena *a)
{
	const struct roux_run *run = data;

	return bundle_arguments(run->options.bundle, n->origin, argv, argc, a);
}

static struct roux_run *launch(struct roux *r, struct plan *p, const struct start_options *o,
	roux_event_fn *fn, void *data)
{
	struct roux_run *run = mem_new(struct roux_run);
	uint64_t grace_ms = o->base.grace_ms;

	run->roux = r;
	run->plan = plan_ref(p);
	run->options = *o;
	json_incref(run->options.artifacts);
	run->on_event = fn;
	run->event_data = data;
	list_append(&r->runs, &run->link);
	run->run = run_start(r->loop, p,
		&(struct run_options){
			.id = o->base.as,
			.jobs = r->jobs,
			.grace_ms = grace_ms || o->grace_given ? grace_ms : DEFAULT_GRACE_MS,
			.cwd = r->cwd,
			.env = o->env,
			.mask = r->child_mask,
			.nofile = r->child_nofile,
			.handlers = !r->own_process,
			.whole = r->own_process && r->subreaper,
			.stdin_fd = o->base.stdin_fd,
			.listen = o->listen || fn || o->record ? on_event : NULL,
			.listen_data = run,
			.tell_output = o->tell_output || o->record,
			.seq = o->record ? record_seq(o->record) : 0,
			.recorder = o->record ? record_recorder(o->record) : NULL,
			.only = o->only,
			.terminal = o->terminal,
			.steps = o->steps ? steps_host(o->steps) : NULL,
			.vars = o->steps ? steps_vars(o->steps) : NULL,
			.arguments = o->bundle ? give_arguments : NULL,
			.arguments_data = run,
			.verify = o->launch ? verify : NULL,
			.ended = on_ended,
			.ended_data = run,
		});
	return run;
}

struct roux_run *start_run(struct roux *r, struct plan *p, const struct start_options *o)
{
	return launch(r, p, o, NULL, NULL);
}

struct roux_run *roux_run_start(
	struct roux_plan *plan, const struct roux_start *how, roux_event_fn *fn, void *data)
{
	struct roux *r = plan->roux;
	struct start_options o = {
		.base = { .size = sizeof(o.base), .stdin_fd = -1, .stdout_fd = -1 }
	};

	report_reset(&r->report);
	if (how)
		memcpy(&o.base, how, MIN(how->size, sizeof(o.base)));
	if (o.base.record || o.base.detach || o.base.as) {
		report_error(&r->report, (struct where){ 0 }, "recorded runs are not there yet");
		report_hint(&r->report, "leave out record, detach and as");
		return NULL;
	}
	return launch(r, plan->plan, &o, fn, data);
}

enum roux_status roux_run_status(const struct roux_run *run)
{
	return start_status(run);
}

const char *roux_run_id(const struct roux_run *run)
{
	return run->options.base.record ? run->options.base.as : NULL;
}

const char *roux_run_result(struct roux_run *run)
{
	if (!run->ended)
		return NULL;
	enum roux_status ignored;

	if (!run->result.len)
		(void)result_document(run, &run->result, -1, &ignored);
	return buf_cstr(&run->result);
}

void cancel_run(struct roux_run *run, int signal)
{
	run_cancel(run->run, signal);
}

void kill_run(struct roux_run *run, int signal)
{
	run_kill(run->run, signal);
}

bool roux_run_cancel(struct roux_run *run)
{
	if (run->ended)
		return false;
	cancel_run(run, 0);
	return true;
}

bool roux_run_kill(struct roux_run *run)
{
	if (run->ended)
		return false;
	kill_run(run, 0);
	return true;
}

enum roux_status roux_run_wait(struct roux_run *run)
{
	while (!run->ended)
		if (roux_turn(run->roux, -1) < 0)
			break;
	return start_status(run);
}

void roux_run_free(struct roux_run *run)
{
	if (!run)
		return;
	if (!run->ended) {
		(void)roux_run_cancel(run);
		(void)roux_run_wait(run);
	}
	list_remove(&run->link);
	run_free(run->run);
	plan_unref(run->plan);
	json_decref(run->options.artifacts);
	buf_done(&run->json);
	buf_done(&run->result);
	free(run);
}
