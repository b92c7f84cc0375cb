#include "hosts/cli/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/launch.h"
#include "app/record.h"
#include "app/recorded.h"
#include "app/result.h"
#include "app/retire.h"
#include "app/settings.h"
#include "app/start.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/program.h"
#include "loop/signals.h"
#include "render/terminal/lines.h"
#include "render/terminal/live.h"
#include "render/terminal/stream.h"
#include "runs/dir/identity.h"

enum { TICK_MS = 90, LINES_MS = 40, BEAT_MS = 30000 };

static const char *const progress_words[] = { "auto", "tree", "plain", "none", NULL };

const struct opt run_opts[8] = {
	OPT_NUMBER('j', "jobs", "N", struct run_opts, jobs, 0, 100000,
		"run at most N commands at once (64); 0: one for each processor"),
	OPT_LIST(0, "env", "NAME=VALUE", struct run_opts, env, "add to the commands' environment"),
	OPT_NUMBER(0, "grace", "MS", struct run_opts, grace_ms, 0, 86400000,
		"how long a command that is ended may take before it is killed (5000)"),
	OPT_TEXT(0, "events", "FILE|-", struct run_opts, events,
		"write every event as a line of JSON, to FILE or in place of the output"),
	OPT_FLAG(0, "strict", struct run_opts, strict,
		"end with status 3 also after failures that were tolerated"),
	OPT_FLAG(0, "tolerate", struct run_opts, tolerate,
		"end with status 0 also when failures were passed over"),
	OPT_FLAG('q', "quiet", struct run_opts, quiet, "show neither progress nor failures"),
	OPT_CHOICE(0, "progress", progress_words, struct run_opts, progress,
		"how progress is shown: a live tree, plain lines, or nothing"),
};

/* One run in the foreground. */
struct follow {
	struct roux *roux;
	struct roux_run *run;
	struct live_view *live;
	struct plain_lines *lines;
	struct stream_lines *stream; /* what steps print; NULL: nobody wants to see it */
	int events, events_error;
	struct buf events_text;
	struct signals signals;
	struct timer tick, beat;
	struct record *record; /* NULL: nothing is written down */
	bool terminal;         /* the command has it */
	unsigned asked;        /* how often a signal asked for the end */
};

/* -- what is shown -------------------------------------------------------------------------------
 */

static void flush_events(struct follow *f)
{
	if (f->events < 0 || !f->events_text.len)
		return;
	int r = fd_write_all(f->events, buf_str(&f->events_text));
	if (r < 0) {
		f->events = -1; /* the run goes on; its end tells */
		f->events_error = r;
	}
	buf_reset(&f->events_text);
}

static void show_stream(struct follow *f, const struct event *e)
{
	AUTO_BUF text = BUF_INIT;

	stream_lines_event(f->stream, e, &text);
	if (!text.len)
		return;
	if (f->lines)
		plain_lines_flush(f->lines); /* what came before stands before */
	if (f->live)
		live_view_print(f->live, buf_str(&text));
	else
		cli_say(buf_str(&text));
}

static void on_event(void *data, const struct event *e)
{
	struct follow *f = data;

	if (f->stream)
		show_stream(f, e);
	if (f->live)
		live_view_event(f->live, e);
	if (f->lines) {
		/* A thousand quick commands are a few writes, and nobody waits long for a line. */
		plain_lines_event(f->lines, e);
		if (!timer_running(&f->tick))
			timer_start(f->roux->loop, &f->tick, LINES_MS);
	}
	if (f->events >= 0 && event_name(e->kind)) {
		event_json(e, &f->events_text);
		buf_addc(&f->events_text, '\n');
		if (f->events_text.len > 16384)
			flush_events(f);
	}
}

static void on_tick(struct timer *t)
{
	struct follow *f = container_of(t, struct follow, tick);

	if (f->lines) {
		plain_lines_flush(f->lines);
		return;
	}
	live_view_tick(f->live, clock_mono_ms());
	timer_start(f->roux->loop, t, TICK_MS);
}

static void on_beat(struct timer *t)
{
	struct follow *f = container_of(t, struct follow, beat);

	plain_lines_beat(f->lines, clock_mono_ms());
	timer_start(f->roux->loop, t, BEAT_MS);
}

static enum progress choose_progress(const struct run_opts *o)
{
	const char *term = getenv("TERM");
	bool terminal = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;

	if (o->quiet)
		return PROGRESS_NONE;
	if (o->progress != PROGRESS_AUTO)
		return o->progress;
	return terminal ? PROGRESS_TREE : PROGRESS_PLAIN;
}

static void open_view(struct follow *f, const struct run_opts *o)
{
	const char *no_colour = getenv("NO_COLOR");

	switch (choose_progress(o)) {
	case PROGRESS_TREE:
		f->live = live_view_new(STDERR_FILENO, !(no_colour && *no_colour));
		timer_start(f->roux->loop, &f->tick, TICK_MS);
		break;
	case PROGRESS_PLAIN:
		f->lines = plain_lines_new(STDERR_FILENO);
		timer_start(f->roux->loop, &f->beat, BEAT_MS);
		break;
	case PROGRESS_AUTO:
	case PROGRESS_NONE:
		break;
	}
}

static bool open_events(struct cli *cli, struct follow *f, const struct run_opts *o, bool json)
{
	f->events = -1;
	if (!o->events)
		return true;
	if (strcmp(o->events, "-") == 0) {
		if (json) {
			report_error(&cli->report, (struct where){ 0 },
				"--events - and --json both want standard output");
			return report_hint(
				&cli->report, "give --events a file, or leave out --json");
		}
		f->events = STDOUT_FILENO;
		return true;
	}
	f->events = open(o->events, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct stat st;
	if (f->events >= 0 && fstat(f->events, &st) == 0 && S_ISREG(st.st_mode))
		(void)fchmod(f->events, 0600);
	return f->events >= 0 || report_errno(&cli->report, errno, "cannot write '%s'", o->events);
}

/* -- signals -------------------------------------------------------------------------------------
 */

/* Orders of another roux (`cancel`, `kill`). */
static bool on_order(struct follow *f, int signal, int value)
{
	if (signal == ORDER_CANCEL) {
		if (value >= 0)
			run_set_grace(f->run->run, (uint64_t)value);
		cancel_run(f->run, 0);
	} else if (signal == ORDER_FINISH) {
		run_cancel_gently(f->run->run);
	} else if (signal == ORDER_KILL) {
		kill_run(f->run, 0);
	} else if (signal == ORDER_RING) {
		if (f->record)
			record_ring(f->record);
	} else {
		return false;
	}
	return true;
}

/* Ctrl-Z: the shell gets a clean line, and the commands, which are not in our process group, stop
 * too. In a group that nobody could continue the kernel does not stop us. */
static void stop_here(struct follow *f)
{
	sigset_t stop;

	if (f->live)
		live_view_hide(f->live);
	run_pause(f->run->run, true);
	(void)sigemptyset(&stop);
	(void)sigaddset(&stop, SIGTSTP);
	(void)raise(SIGTSTP);
	(void)sigprocmask(SIG_UNBLOCK, &stop, NULL); /* here time passes */
	(void)sigprocmask(SIG_BLOCK, &stop, NULL);
	run_pause(f->run->run, false);
}

static void on_signal(struct signals *s, int signal, int value)
{
	struct follow *f = container_of(s, struct follow, signals);

	if (!f->run || on_order(f, signal, value))
		return;
	/* The terminal sends these to the command as well. */
	if (f->terminal && (signal == SIGINT || signal == SIGQUIT))
		return;
	if (signal == SIGTSTP) {
		stop_here(f);
	} else if (signal == SIGWINCH || signal == SIGCONT) {
		if (f->live)
			live_view_resize(f->live);
	} else if (signal == SIGPIPE || signal == SIGXFSZ) {
		return; /* whoever writes sees EPIPE or EFBIG */
	} else if (f->asked++ == 0 && signal != SIGQUIT) {
		cancel_run(f->run, signal);
	} else {
		kill_run(f->run, signal);
	}
}

static void listen_to_signals(struct follow *f)
{
	const int wanted[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGWINCH,
		SIGTSTP, SIGCONT, ORDER_CANCEL, ORDER_FINISH, ORDER_KILL, ORDER_RING, 0 };

	f->signals.came = on_signal;
	(void)signals_start(f->roux->loop, &f->signals, wanted);
	f->roux->child_mask = &f->signals.before;
}

/* -- running -------------------------------------------------------------------------------------
 */

/* Room for the pipes of all commands at once; the commands themselves get the old limit. */
static void raise_descriptor_limit(struct roux *r, struct rlimit *before)
{
	rlim_t need = (rlim_t)r->jobs * 4 + 64;

	if (getrlimit(RLIMIT_NOFILE, before) < 0 || before->rlim_cur >= need)
		return;
	struct rlimit more = *before;
	more.rlim_cur = MIN(need, before->rlim_max);
	if (setrlimit(RLIMIT_NOFILE, &more) == 0)
		r->child_nofile = before;
}

static bool check_env(struct cli *cli, const struct opt_list *env)
{
	bool ok = true;

	for (size_t i = 0; i < env->len; i++) {
		const char *entry = env->at[i];

		if (entry[0] == '=' || !strchr(entry, '='))
			ok = report_error(&cli->report, (struct where){ 0 },
				"--env takes NAME=VALUE, found '%s'", entry);
		else if (strlen(entry) + 1 > PROGRAM_STRING_MAX)
			ok = report_error(&cli->report, (struct where){ 0 },
				"--env %.*s is %zu bytes long; the kernel takes 131071",
				(int)MIN(strcspn(entry, "="), (size_t)60), entry, strlen(entry));
	}
	return ok;
}

static void complain(const char *what, int error)
{
	AUTO_BUF line = BUF_INIT;

	buf_printf(&line, "roux: error: cannot write the %s: %s\n", what, strerror(-error));
	cli_say(buf_str(&line));
}

static int answer(struct follow *f, const struct run_opts *o, bool json)
{
	int status = result_exit(f->run, o->strict, o->tolerate);
	bool events_only = o->events && strcmp(o->events, "-") == 0;
	AUTO_BUF text = BUF_INIT;
	int written = 0;

	if (json) {
		enum roux_status told;

		written = result_document(f->run, &text, STDOUT_FILENO, &told);
		status = told == ROUX_FAILED ? 1 : status;
	} else if (!events_only) {
		written = result_write_output(f->run, STDOUT_FILENO);
	}
	if (!o->quiet && !json) {
		/* On one screen the report must not begin in the middle of a line. */
		if (!events_only && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO) &&
			!result_ends_line(f->run))
			buf_addc(&text, '\n');
		size_t before = text.len;
		result_text(f->run, &text);
		if (text.len > before)
			cli_say(buf_str(&text));
	}
	flush_events(f);
	if (f->events_error && f->events_error != -EPIPE)
		complain("events", f->events_error);
	if (written < 0 && written != -EPIPE)
		complain("result", written);
	if (f->run->record_error)
		complain("run's record", f->run->record_error);
	bool lost = f->run->record_error || (written < 0 && written != -EPIPE) ||
		    (f->events_error && f->events_error != -EPIPE);
	return lost && (status == 0 || status == 3) ? 1 : status;
}

static void work(struct follow *f)
{
	while (roux_run_status(f->run) == ROUX_RUNNING) {
		if (loop_turn(f->roux->loop, -1) < 0)
			break;
		flush_events(f);
	}
	timer_stop(&f->tick);
	timer_stop(&f->beat);
	if (f->live)
		live_view_hide(f->live);
	/* Who orders an ended run to do something comes too late, and must not hurt. */
	const int orders[] = { ORDER_CANCEL, ORDER_FINISH, ORDER_KILL, ORDER_RING, 0 };
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		(void)signal(orders[i], SIG_IGN);
	signals_stop(&f->signals);
}

/* What the commands' environment gets beside ours. */
static const char *const *environment(struct cli *cli, const struct run_opts *o)
{
	const char **env = arena_array(&cli->arena, const char *, o->env.len + 1);

	for (size_t i = 0; i < o->env.len; i++)
		env[i] = o->env.at[i];
	return env;
}

/* Standard input: the caller's, or what a recorded run has kept of it. */
static int input_of(const struct follow_run *run, bool used)
{
	if (run->before) {
		AUTO_BUF path = BUF_INIT;

		buf_printf(&path, "%.*s/stdin", STR(run->launch->dir));
		return open(buf_cstr(&path), O_RDONLY | O_CLOEXEC);
	}
	return used || (run->launch && run->launch->detached) || isatty(STDIN_FILENO)
		       ? -1
		       : STDIN_FILENO;
}

/* Whoever waits for it is told that it has begun. */
static bool begin_record(
	struct cli *cli, struct follow *f, const struct follow_run *run, struct recorded *ret)
{
	if (!recorded_begin(ret, run->launch, f->roux->loop, run->before, &cli->report))
		return false;
	if (run->ready >= 0) {
		(void)fd_write_all(run->ready, S("ok"));
		(void)close(run->ready);
	}
	return true;
}

static int follow(struct cli *cli, struct plan *p, const struct run_opts *o, bool json,
	bool stdin_used, const struct follow_run *run)
{
	struct follow f = { .tick.fire = on_tick, .beat.fire = on_beat };
	struct rlimit nofile;

	if (o->strict && o->tolerate) {
		report_error(&cli->report, (struct where){ 0 },
			"--strict and --tolerate contradict each other");
		return cli_refuse(cli, json);
	}
	if (!check_env(cli, &o->env) || !open_events(cli, &f, o, json))
		return cli_refuse(cli, json);
	f.roux = roux_new(&(struct roux_options){ .size = sizeof(struct roux_options),
		.jobs = o->jobs ? (unsigned)o->jobs
				: (unsigned)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L),
		.subreaper = true });
	if (!f.roux) {
		report_errno(&cli->report, errno, "cannot begin");
		return cli_refuse(cli, json);
	}
	f.roux->own_process = true;
	raise_descriptor_limit(f.roux, &nofile);
	listen_to_signals(&f);
	open_view(&f, o);
	if (p->graph->steps && !o->quiet)
		f.stream = stream_lines_new(run->launch && run->launch->stream);
	struct recorded recorded = { 0 };
	if (run->launch && !begin_record(cli, &f, run, &recorded)) {
		signals_stop(&f.signals);
		live_view_free(f.live);
		plain_lines_free(f.lines);
		stream_lines_free(f.stream);
		roux_free(f.roux);
		return cli_refuse(cli, json);
	}
	f.record = recorded.record;
	f.terminal = run->terminal;
	struct start_options start = {
		.base = { .size = sizeof(struct roux_start),
			.stdin_fd = input_of(run, stdin_used),
			.stdout_fd = -1,
			.grace_ms = o->grace_ms },
		.grace_given = true,
		.env = run->launch ? NULL : environment(cli, o),
		.terminal = run->terminal,
		.listen = f.live || f.lines || f.stream || f.events >= 0 ? on_event : NULL,
		.listen_data = &f,
		.tell_output = f.live || f.stream,
	};
	if (run->launch)
		recorded_options(&recorded, &start);
	start.mask = start.mask ? start.mask : cli->mask;
	f.run = start_run(f.roux, p, &start);
	work(&f);
	plain_lines_free(f.lines);
	int status = answer(&f, o, json);
	if (f.events > STDERR_FILENO)
		close_fd(&f.events);
	live_view_free(f.live);
	stream_lines_free(f.stream);
	buf_done(&f.events_text);
	roux_run_free(f.run);
	recorded_done(&recorded);
	roux_free(f.roux);
	return status;
}

/* What was not given on the command line: a launch knows, else the settings say. */
static bool settle(struct cli *cli, const struct launch *l, struct run_opts *o)
{
	const struct settings *s = l ? NULL : cli_settings(cli);

	if (!l && !s)
		return false;
	if (l || o->jobs == RUN_OPT_UNSET)
		o->jobs = l ? l->jobs : s->jobs;
	if (l || o->grace_ms == RUN_OPT_UNSET)
		o->grace_ms = l ? l->grace_ms : s->grace_ms;
	return true;
}

int follow_plan(struct cli *cli, struct plan *p, const struct run_opts *o, bool json,
	bool stdin_used, const struct follow_run *run)
{
	struct run_opts settled = *o;
	int status = settle(cli, run->launch, &settled)
			     ? follow(cli, p, &settled, json, stdin_used, run)
			     : cli_refuse(cli, json);

	plan_unref(p);
	if (run->launch)
		retire_after_run(run->launch->root, run->launch->ledger);
	return status;
}
