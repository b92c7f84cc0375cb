/* Section commands: each is a run of one command in the engine. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "app/agents/compose.h"
#include "app/settings.h"
#include "engine/local.h"
#include "engine/run.h"
#include "loop/signals.h"
#include "loop/tree.h"

struct section_run {
	struct signals signals;
	struct run *run;
	const char *const *argv;
	bool ended;
	int signal; /* the first that asked for the end */
};

static void on_ended(void *data)
{
	struct section_run *s = data;

	s->ended = true;
}

static void on_signal(struct signals *signals, int signal, int value)
{
	struct section_run *s = container_of(signals, struct section_run, signals);

	(void)value;
	if (s->signal || signal == SIGQUIT)
		run_kill(s->run, signal);
	else
		run_cancel(s->run, signal);
	s->signal = s->signal ? s->signal : signal;
}

/* Both streams go through one pipe, in the order written. The engine has two, so a shell that
 * becomes the command joins them first; the command is data to it. */
static const char *const *give_arguments(
	void *data, const struct node *n, const char *const *argv, size_t argc, struct arena *a)
{
	static const char *const join[] = { "sh", "-c", "exec \"$@\" 2>&1", "sh" };
	const struct section_run *s = data;
	size_t count = 0;

	(void)n;
	(void)argv;
	(void)argc;
	while (s->argv[count])
		count++;
	const char **all = arena_array(a, const char *, ARRAY_SIZE(join) + count + 1);
	memcpy(all, join, sizeof(join));
	memcpy(all + ARRAY_SIZE(join), s->argv, count * sizeof(*all));
	return all;
}

static struct plan *one_command(double timeout_s, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "{\"template\":\"section\",\"timeout\":%.0f}",
		timeout_s < 0.001     ? 1
		: timeout_s > 4000000 ? 4e9
				      : timeout_s * 1000);
	struct graph *g = graph_read(S("<section>"), buf_str(&text), DIALECT_NOW, r);
	struct plan *p = g ? plan_new(g, NULL, r) : NULL;
	graph_unref(g);
	return p;
}

/* Why it counts as failed; false: it does not. */
static bool failed(struct run *run, double timeout_s, size_t max, struct buf *why)
{
	const struct run_result *result = run_result(run);
	const struct failures *f = result->failures;

	if (result->status == RUN_CANCELLED || result->status == RUN_KILLED) {
		buf_adds(why, "it was interrupted");
		return true;
	}
	if (f->kept.len) {
		const struct failure *last = &f->kept.at[f->kept.len - 1];
		struct str said = str_trim(last->out.len ? last->out : last->err);

		if (last->timeout)
			buf_printf(why, "it did not end within %g s", timeout_s);
		else if (last->signal)
			buf_printf(why, "signal %d ended it", last->signal);
		else
			buf_printf(why, "it ended with status %d", last->code);
		if (said.len && !last->timeout) {
			size_t from = said.len;

			while (from && said.p[from - 1] != '\n')
				from--;
			buf_printf(why, ": %.*s", STR(str_trim(str_from(said, from))));
		}
		return true;
	}
	if (result->status != RUN_DONE) {
		buf_adds(why, result->error ? result->error : "it could not be run");
		return true;
	}
	if (content_size(run_output(run)) > max) {
		buf_printf(why, "it printed more than %zu MiB", max >> 20);
		return true;
	}
	return false;
}

static void listen_to_signals(struct loop *loop, struct section_run *s)
{
	static const int wanted[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0 };

	s->signals.came = on_signal;
	(void)signals_start(loop, &s->signals, wanted);
}

bool prompts_run_section(void *data, const char *const *argv, const char *cwd, double timeout_s,
	size_t max_output, struct buf *out, struct buf *why)
{
	struct agents_launch *launch = data;
	struct section_run s = { .argv = argv };
	AUTO_REPORT issues = REPORT_INIT;
	bool ok = false;

	if (launch->signal) {
		buf_adds(why, "it was interrupted");
		return false;
	}
	struct plan *plan = one_command(timeout_s, &issues);
	struct loop *loop = plan ? loop_new() : NULL;
	if (loop) {
		(void)tree_become_subreaper();
		listen_to_signals(loop, &s);
		struct executor *local =
			local_executor(loop, &(struct surroundings){ .cwd = cwd,
						     .mask = &s.signals.before,
						     .whole = true,
						     .grace_ms = DEFAULT_GRACE_MS });
		s.run = run_start(loop, plan,
			&(struct run_options){
				.jobs = 1,
				.executors = &local,
				.executor_count = 1,
				.stdin_fd = -1,
				.max_output = max_output + 1, /* to know that there was more */
				.arguments = give_arguments,
				.arguments_data = &s,
				.ended = on_ended,
				.ended_data = &s,
			});
		while (!s.ended && loop_turn(loop, -1) >= 0)
			;
		signals_stop(&s.signals);
		ok = !failed(s.run, timeout_s, max_output, why) &&
		     content_head(run_output(s.run), max_output, out) == 0;
		launch->signal = s.signal;
		run_free(s.run);
		loop_free(loop);
	} else {
		buf_adds(why, "it could not be run");
	}
	plan_unref(plan);
	return ok;
}
