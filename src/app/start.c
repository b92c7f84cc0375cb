#include "app/start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/embed.h"
#include "app/record.h"
#include "app/result.h"
#include "app/secrets.h"
#include "app/steps.h"
#include "app/watched.h"
#include "base/file.h"
#include "base/run-status.h"
#include "engine/local.h"
#include "recipe/bundle.h"

enum roux_status start_status(const struct roux_run *run)
{
	if (!run->ended)
		return ROUX_RUNNING;
	return run->watched ? watched_status(run) : (enum roux_status)run_result(run->run)->status;
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
	if (!run->run) {
		event_json(e, &run->early_text);
		buf_addc(&run->early_text, '\n');
		deferred_start(run->roux->loop, &run->early);
		return;
	}
	buf_reset(&run->json);
	event_json(e, &run->json);
	run->on_event(run,
		&(struct roux_event){ sizeof(struct roux_event), e->seq, event_name(e->kind),
			buf_cstr(&run->json), run->json.len },
		run->event_data);
}

void start_tell_line(struct roux_run *run, struct str line)
{
	AUTO_JSON *event = json_loadb(line.p, line.len, 0, NULL);
	const char *type = json_string_value(json_object_get(event, "type"));
	json_int_t seq = json_integer_value(json_object_get(event, "seq"));

	if (!type)
		return;
	buf_reset(&run->json);
	buf_add(&run->json, line);
	run->on_event(run,
		&(struct roux_event){ sizeof(struct roux_event), (uint64_t)seq, type,
			buf_cstr(&run->json), run->json.len },
		run->event_data);
}

/* Started before the engine's own turn, so nothing comes before it. */
static void tell_early(struct deferred *d)
{
	struct roux_run *run = container_of(d, struct roux_run, early);
	AUTO_BUF text = BUF_INIT;

	buf_swap(&text, &run->early_text);
	struct str all = buf_str(&text);
	for (size_t at = 0; at < all.len;) {
		size_t end = str_find(all, '\n', at);

		start_tell_line(run, str_sub(all, at, end - at));
		at = end + 1;
	}
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
	if (run->embed)
		list_append(&run->roux->ended, &run->link);
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

/* Processes of this machine, with the surroundings that this process gives them. */
static struct executor *executor_here(struct roux *r, const struct start_options *o)
{
	uint64_t grace_ms = o->base.grace_ms;

	return local_executor(r->loop,
		&(struct surroundings){
			.cwd = r->own_process || !r->cwd.len ? NULL : r->cwd.p,
			.env = o->env,
			.mask = r->child_mask,
			.nofile = r->child_nofile,
			.handlers = !r->own_process,
			.whole = r->own_process && r->subreaper,
			.grace_ms = grace_ms || o->grace_given ? grace_ms : DEFAULT_GRACE_MS,
		});
}

struct roux_run *start_public(struct roux *r, struct plan *p, const struct start_options *o,
	roux_event_fn *fn, void *data)
{
	struct roux_run *run = mem_new(struct roux_run);
	struct executor *local = executor_here(r, o);

	run->roux = roux_ref(r);
	run->plan = plan_ref(p);
	run->options = *o;
	json_incref(run->options.artifacts);
	run->on_event = fn;
	run->event_data = data;
	run->early.call = tell_early;
	list_append(&r->runs, &run->link);
	run->run = run_start(r->loop, p,
		&(struct run_options){
			.id = o->base.as,
			.jobs = r->jobs,
			.executors = &local,
			.executor_count = 1,
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
	return start_public(r, p, o, NULL, NULL);
}

/* -- the public way ------------------------------------------------------------------------------
 */

static bool check_descriptor(struct roux *r, const char *name, int fd)
{
	return fd < 0 || fcntl(fd, F_GETFD) >= 0 ||
	       report_error(&r->report, (struct where){ 0 },
		       "%s is %d, which is no open descriptor", name, fd);
}

/* Where a run is, and whether the kernel would tell how its commands end. */
static bool check_process(struct roux *r, bool detach)
{
	struct sigaction now;

	if (r->cwd.len && access(r->cwd.p, X_OK) < 0)
		return report_errno(
			&r->report, errno, "cannot run in the directory %.*s", STR(r->cwd));
	if (detach || sigaction(SIGCHLD, NULL, &now) < 0 ||
		(now.sa_handler != SIG_IGN && !(now.sa_flags & SA_NOCLDWAIT)))
		return true;
	report_error(&r->report, (struct where){ 0 },
		"this process ignores SIGCHLD, so nobody is told how commands end");
	return report_hint(&r->report, "leave it at SIG_DFL, or handle it, without SA_NOCLDWAIT");
}

/* What can be wrong with a start before anything is looked at. */
static bool check_start(struct roux *r, const struct roux_start *how, const struct roux_start *all)
{
	struct report *report = &r->report;

	if (how && how->size < sizeof(how->size)) {
		report_error(report, (struct where){ 0 }, "the size of struct roux_start is %zu",
			how->size);
		return report_hint(report, "set size to sizeof(struct roux_start)");
	}
	if (!all->record && (all->detach || all->as)) {
		report_error(report, (struct where){ 0 },
			all->detach ? "a run that is not recorded cannot be detached"
				    : "a run that is not recorded has no name");
		return report_hint(
			report, "set record, or leave out %s", all->detach ? "detach" : "as");
	}
	return check_descriptor(r, "stdin_fd", all->stdin_fd) &&
	       check_descriptor(r, "stdout_fd", all->stdout_fd) && check_process(r, all->detach);
}

static bool check_recipe(struct roux *r, const struct roux_plan *plan, bool record)
{
	const struct recipe *recipe = plan->recipe->recipe;

	if (recipe && recipe_disabled(recipe)) {
		report_error(&r->report, (struct where){ 0 }, "the recipe %.*s is disabled",
			STR(recipe->file->path));
		return report_hint(&r->report, "remove \"disabled\": true from it");
	}
	if (record || !plan->recipe->graph->steps)
		return true;
	report_error(&r->report, (struct where){ 0 }, "a step recipe cannot run without a record");
	return report_hint(&r->report, "set record: its gates and answers are kept there");
}

/* As `roux exec` would run it. */
static struct roux_run *start_bare(
	struct roux_plan *plan, struct start_options *o, roux_event_fn *fn, void *data)
{
	struct roux *r = plan->roux;
	const struct recipe *recipe = plan->recipe->recipe;
	AUTO_JSON *artifacts = NULL;

	plan->bare =
		plan->bare ? plan->bare : plan_new(plan->recipe->graph, plan->values, &r->report);
	if (!plan->bare)
		return NULL;
	if (recipe && !(artifacts = recipe_artifact_paths(recipe, plan->bare, &r->report)))
		return NULL;
	struct bundle *bundle = recipe ? bundle_new(recipe) : NULL;
	o->bundle = bundle;
	o->artifacts = artifacts;
	o->env = r->variables;
	struct roux_run *run = start_public(r, plan->bare, o, fn, data);
	run->recipe = recipe_share(plan->recipe);
	run->bundle = bundle;
	return run;
}

struct roux_run *roux_run_start(
	struct roux_plan *plan, const struct roux_start *how, roux_event_fn *fn, void *data)
{
	struct start_options o = {
		.base = { .size = sizeof(o.base), .stdin_fd = -1, .stdout_fd = -1 }
	};

	if (!plan)
		return NULL; /* why has been said */
	struct roux *r = plan->roux;
	report_reset(&r->report);
	if (how)
		memcpy(&o.base, how, MIN(how->size, sizeof(o.base)));
	if (!check_start(r, how, &o.base) || !check_recipe(r, plan, o.base.record) ||
		!context_settings(r))
		return NULL;
	context_places(r);
	o.grace_given = true;
	o.base.grace_ms = o.base.grace_ms ? o.base.grace_ms : r->grace_ms;
	if (o.base.record)
		return embed_start(plan, &o, fn, data);
	return start_bare(plan, &o, fn, data);
}

enum roux_status roux_run_status(const struct roux_run *run)
{
	return run ? start_status(run) : ROUX_INVALID;
}

const char *roux_run_id(const struct roux_run *run)
{
	if (!run)
		return NULL;
	return run->watched ? watched_id(run) : run->options.base.as;
}

const char *roux_run_result(struct roux_run *run)
{
	if (!run || !run->ended)
		return NULL;
	enum roux_status ignored;

	if (!run->result.len && run->watched)
		watched_result(run, &run->result);
	else if (!run->result.len)
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
	if (!run || run->ended)
		return false;
	if (run->watched)
		return watched_order(run, RUN_CANCEL);
	cancel_run(run, 0);
	return true;
}

bool roux_run_kill(struct roux_run *run)
{
	if (!run || run->ended)
		return false;
	if (run->watched)
		return watched_order(run, RUN_KILL);
	kill_run(run, 0);
	return true;
}

enum roux_status roux_run_wait(struct roux_run *run)
{
	if (!run)
		return ROUX_INVALID;
	while (!run->ended && !run->roux->closed)
		if (roux_turn(run->roux, -1) < 0 || loop_woken(run->roux->loop))
			break;
	return start_status(run);
}

void start_end(struct roux_run *run)
{
	(void)roux_run_cancel(run);
	while (!run->ended && roux_turn(run->roux, -1) >= 0)
		;
}

void roux_run_free(struct roux_run *run)
{
	if (!run)
		return;
	if (!run->ended && !run->watched)
		start_end(run);
	list_remove(&run->link);
	deferred_stop(&run->early);
	watched_free(run->watched);
	run_free(run->run);
	embed_free(run->embed);
	plan_unref(run->plan);
	bundle_free(run->bundle);
	roux_recipe_free(run->recipe);
	json_decref(run->options.artifacts);
	buf_done(&run->early_text);
	buf_done(&run->json);
	buf_done(&run->result);
	roux_unref(run->roux);
	free(run);
}
