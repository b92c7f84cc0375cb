#include "engine/run.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/processors.h"
#include "engine/command.h"

/* -- while it runs -------------------------------------------------------------------------------
 */

void run_told(struct run *r, struct str id, uint64_t bytes)
{
	run_emit(r, &(struct event){ .kind = EVENT_RUN_MESSAGE, .message = { id, bytes } });
}

void run_warn_once(struct run *r, struct str message)
{
	if (!report_says(&r->issues, message))
		report_warning(&r->issues, (struct where){ 0 }, "%.*s", STR(message));
}

void run_set_grace(struct run *r, uint64_t grace_ms)
{
	pools_each (p, &r->schedule)
		p->executor->ops->set_grace(p->executor, grace_ms);
}

void run_pause(struct run *r, bool on)
{
	pools_each (p, &r->schedule)
		p->executor->ops->pause(p->executor, on);
}

const struct run_result *run_result(const struct run *r)
{
	return &r->result;
}

struct tally run_tally(const struct run *r)
{
	return r->failures.tally;
}

struct content *run_output(struct run *r)
{
	enum run_status status = r->result.status;

	return status == RUN_DONE || status == RUN_PARTIAL ? r->ending.outcome.out : NULL;
}

/* -- standard input ------------------------------------------------------------------------------
 */

/* It could not be kept: the commands that read it did not get all of it. */
static void on_input_failed(struct live_owner *o, int error, bool reading)
{
	struct run *r = container_of(o, struct run, input);

	report_system(&r->issues, (struct where){ 0 }, "cannot %s the standard input: %s",
		reading ? "read" : "keep", strerror(error));
	if (!reading)
		report_hint(&r->issues,
			r->live_kept ? "make room for the record of the run, then start it again"
				     : "set TMPDIR to a directory with room");
	r->input_lost = true;
	run_fail(r, RUN_FAILED);
	ending_collected(r, false);
}

static void on_input_complete(struct live_owner *o)
{
	struct run *r = container_of(o, struct run, input);

	r->live_complete = true;
	if (r->live_kept)
		r->options.recorder->ops->input_complete(r->options.recorder);
}

static void on_input_collected(struct live_owner *o)
{
	struct run *r = container_of(o, struct run, input);

	list_each_safe (link, &r->waits_for_stdin)
		frame_take_input(list_entry(link, struct frame, waits));
	list_each_safe (link, &r->waits_to_read)
		command_input_came(list_entry(link, struct frame, waits));
	ending_collected(r, true);
}

/* Whether more than one command may read the run's input: branches, or a second attempt. *taken: a
 * command takes it for certain, so none after it does. */
static bool input_shared(const struct node *n, bool *taken)
{
	*taken = !n->child_count;
	if (node_joins(n) || n->retry.text || n->retry.value > 1)
		return true;
	for (size_t i = 0; i < n->child_count && !*taken; i++)
		if (input_shared(n->children[i], taken))
			return true;
	if (n->when || !n->runs)
		*taken = false;
	return false;
}

/* Standard input: nothing, a file that every command can open, or something that is still coming.
 */
static struct content *open_input(struct run *r, bool *live)
{
	int fd = r->plan->graph->steps ? -1 : r->options.stdin_fd;
	/* What a resumed run reads has been kept already. */
	bool keep = r->options.recorder && !r->options.seq;
	struct stat st;

	*live = false;
	if (r->options.stdin_gone)
		return content_gone(1);
	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
		return NULL; /* /dev/null */
	bool taken;
	if (!keep && !r->options.elsewhere && !input_shared(r->plan->graph->root, &taken)) {
		*live = true;
		return NULL;
	}
	off_t at = S_ISREG(st.st_mode) && !keep ? lseek(fd, 0, SEEK_CUR) : -1;
	if (at >= 0 && at <= st.st_size) {
		int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);

		if (own >= 0)
			return content_from_fd(own, at, (uint64_t)(st.st_size - at));
	}
	*live = true;
	int file = keep ? r->options.recorder->ops->keep_input(r->options.recorder) : -1;
	if (file < -1)
		run_abort(r, "cannot keep the standard input", -file);
	r->live_kept = file >= 0;
	r->live = live_new(r->loop, fd, MAX(file, -1), &r->input);
	return NULL;
}

/* -- output --------------------------------------------------------------------------------------
 */

enum { GONE_GRACE_MS = 500 }; /* no process waits for a result any more */

static void on_reader_gone(struct early *e)
{
	struct run *r = container_of(e, struct run, early);

	run_set_grace(r, GONE_GRACE_MS);
	run_cancel(r, SIGPIPE);
}

uint64_t run_output_early(const struct run *r)
{
	return r->early.at;
}

/* -- executors -----------------------------------------------------------------------------------
 */

static void on_executor_tells(void *data, struct event *e)
{
	struct run *r = data;

	if (r->ending.phase != PHASE_ENDED)
		run_emit(r, e);
}

static void on_executor_warns(void *data, struct str message)
{
	struct run *r = data;

	report_warning(&r->issues, (struct where){ 0 }, "%.*s", STR(message));
}

static void on_executor_fails(void *data, struct str message, struct str hint)
{
	struct run *r = data;

	if (run_stopping(r))
		return;
	report_system(&r->issues, (struct where){ 0 }, "%.*s", STR(message));
	if (hint.len)
		report_hint(&r->issues, "%.*s", STR(hint));
	run_fail(r, RUN_FAILED);
}

/* -- beginning and freeing -----------------------------------------------------------------------
 */

static unsigned job_limit(const struct run_options *o)
{
	return o->jobs ? o->jobs : processors_usable();
}

static void start_steps(struct run *r)
{
	const struct step_graph *g = r->plan->graph->steps;

	r->scope.vars = r->options.vars;
	r->book.steps = json_array();
	r->book.skipped = json_array();
	r->book.rounds = json_object();
	r->result.vars = r->options.vars;
	r->result.steps = r->book.steps;
	r->result.skipped = r->book.skipped;
	r->result.rounds = r->book.rounds;
	r->book.first_call = (struct step_call){ .graph = r->plan->graph,
		.vars = r->options.vars,
		.dir = g->dir,
		.depth = 1,
		.max_depth = g->max_depth,
		.max_agents = g->max_agents };
}

struct run *run_start(struct loop *l, struct plan *p, const struct run_options *o)
{
	struct run *r = mem_new(struct run);
	bool live;

	r->loop = l;
	r->plan = plan_ref(p);
	r->options = *o;
	r->failures.only = o->only;
	r->dialect = p->graph->steps ? &frame_steps : &frame_templates;
	r->store = STORE_INIT;
	schedule_init(
		&r->schedule, l, o->executors, o->executor_count, job_limit(o), o->jobs_together);
	r->schedule.turned = ending_turned;
	pools_each (pool, &r->schedule) {
		pool->executor->store = &r->store;
		pool->executor->tell = on_executor_tells;
		pool->executor->fail = on_executor_fails;
		pool->executor->warn = on_executor_warns;
		pool->executor->run_data = r;
	}
	r->began_ms = clock_mono_ms();
	r->seq = o->seq;
	r->executing = !o->seq;
	r->input = (struct live_owner){ .failed = on_input_failed,
		.complete = on_input_complete,
		.collected = on_input_collected };
	early_start(&r->early, l, o->reader ? o->reader->fd : -1,
		o->reader && o->reader->prints && !p->graph->output && !o->only.len,
		on_reader_gone);
	list_init(&r->waits_for_stdin);
	list_init(&r->waits_to_read);
	list_init(&r->pace.waiting);
	r->scope = p->scope;
	if (p->graph->steps)
		start_steps(r);
	run_emit(r, &(struct event){
			    .kind = EVENT_RUN_START, .run = { str_of(o->id), (int)getpid() } });
	if (r->dialect->tell_run)
		r->dialect->tell_run(r, true);
	struct content *in = open_input(r, &live);
	r->root = frame_new(r, NULL, p->graph->root, FRAME_CHILD, 0, in, live);
	content_unref(in);
	frame_begin(r->root);
	return r;
}

void run_free(struct run *r)
{
	if (!r)
		return;
	early_stop(&r->early);
	ending_done(&r->ending);
	live_free(r->live);
	schedule_done(&r->schedule);
	failures_done(&r->failures);
	report_done(&r->issues);
	timer_stop(&r->pace.timer);
	json_decref(r->book.steps);
	json_decref(r->book.skipped);
	json_decref(r->book.rounds);
	buf_done(&r->book.gate);
	buf_done(&r->book.gate_prompt);
	store_done(&r->store);
	plan_unref(r->plan);
	free(r);
}
