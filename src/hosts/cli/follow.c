#include "hosts/cli/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/plain-text.h"
#include "base/program.h"
#include "base/run-status.h"
#include "graph/event.h"
#include "hosts/cli/ask.h"
#include "hosts/cli/env-file.h"
#include "hosts/cli/run-operand.h"
#include "hosts/cli/shown.h"
#include "hosts/cli/words.h"
#include "render/terminal/lines.h"
#include "render/terminal/live.h"
#include "render/terminal/stream.h"

enum { TICK_MS = 90, LINES_MS = 40, BEAT_MS = 30000 };

static const char *const progress_words[] = { "auto", "tree", "plain", "none", NULL };

const struct opt run_opts[11] = {
	OPT_NUMBER('j', "jobs", "N", struct run_opts, jobs, 0, 100000,
		"run at most N commands at once (64); 0: one for each processor"),
	OPT_LIST(0, "env", "NAME=VALUE", struct run_opts, env, "add to the commands' environment"),
	OPT_LIST(0, "env-file", "FILE", struct run_opts, env_files,
		"the same from a file of KEY=value lines; --env wins"),
	OPT_NUMBER(0, "grace", "MS", struct run_opts, grace_ms, 0, 86400000,
		"how long a command that is ended may take before it is killed (5000)"),
	OPT_TEXT(0, "events", "FILE|-", struct run_opts, events,
		"write every event as a line of JSON, to FILE or in place of the output"),
	OPT_FLAG(0, "strict", struct run_opts, strict,
		"end with status 3 also after failures that were tolerated"),
	OPT_FLAG(0, "tolerate", struct run_opts, tolerate,
		"end with status 0 also when commands failed"),
	OPT_FLAG(0, "stream", struct run_opts, stream,
		"show what commands print to standard output too, as it comes"),
	OPT_FLAG('q', "quiet", struct run_opts, quiet,
		"show neither progress nor what commands print, only failures and warnings"),
	OPT_FLAG(0, "silent", struct run_opts, silent, "print the result and nothing else"),
	OPT_CHOICE(0, "progress", progress_words, struct run_opts, progress,
		"how progress is shown: a live tree, plain lines, or nothing"),
};

/* One run in the foreground. */
struct follow {
	struct app *app;
	struct run_handle *run; /* NULL: it has not been started yet */
	struct live_view *live;
	struct plain_lines *lines;
	struct stream_lines *stream; /* what commands print; NULL: it is not shown */
	int events, events_error;
	bool events_new;   /* the file was made here */
	bool events_begun; /* what was in it before is gone */
	struct buf events_text;
	struct timer tick, beat;
	bool terminal; /* the command has it */
	bool tty;      /* a node with `tty` has it for the moment */
	int pipe;      /* standard output once more, when it is a pipe; -1: it is not */
};

/* -- what is shown -------------------------------------------------------------------------------
 */

static void flush_events(struct follow *f)
{
	if (f->events < 0 || !f->events_text.len)
		return;
	if (!f->events_begun && f->events > STDERR_FILENO)
		(void)!ftruncate(f->events, 0); /* a device has nothing to cut */
	f->events_begun = true;
	int r = fd_write_all(f->events, buf_str(&f->events_text));
	if (r < 0) {
		f->events = -1; /* the run continues; its end tells */
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

	/* Meanwhile Ctrl-C is for the command; the engine cancels when that ends by it. */
	if (event_of_terminal(e))
		f->tty =
			e->kind == EVENT_COMMAND_START || (f->tty && e->kind != EVENT_COMMAND_DONE);
	if (f->stream)
		show_stream(f, e);
	if (f->live)
		live_view_event(f->live, e);
	if (f->lines) {
		/* A thousand quick commands are a few writes, and no line waits for long. */
		plain_lines_event(f->lines, e);
		if (!timer_running(&f->tick))
			timer_start(app_loop(f->app), &f->tick, LINES_MS);
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
	timer_start(app_loop(f->app), t, TICK_MS);
}

static void on_beat(struct timer *t)
{
	struct follow *f = container_of(t, struct follow, beat);

	plain_lines_beat(f->lines, clock_mono_ms());
	timer_start(app_loop(f->app), t, BEAT_MS);
}

static enum progress choose_progress(const struct run_opts *o)
{
	const char *term = getenv("TERM");
	bool terminal = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;

	if (o->quiet || o->silent)
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
		timer_start(app_loop(f->app), &f->tick, TICK_MS);
		break;
	case PROGRESS_PLAIN:
		f->lines = plain_lines_new(STDERR_FILENO);
		timer_start(app_loop(f->app), &f->beat, BEAT_MS);
		break;
	case PROGRESS_AUTO:
	case PROGRESS_NONE:
		break;
	}
}

static bool open_events(
	struct cli *cli, struct follow *f, const struct run_opts *o, bool here, bool json)
{
	f->events = -1;
	if (!o->events)
		return true;
	if (!here) {
		report_error(&cli->report, (struct where){ 0 },
			"--events is for a run that stays attached, and this one is detached");
		return report_hint(&cli->report,
			"leave it out: events.jsonl in the run's directory has every event, and "
			"`roux status RUN --json` has the directory");
	}
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
	/* A request that turns out to be wrong leaves the file as it is. */
	f->events_new = access(o->events, F_OK) < 0;
	f->events = open(o->events, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct stat st;
	if (f->events >= 0 && fstat(f->events, &st) == 0 && S_ISREG(st.st_mode))
		(void)fchmod(f->events, 0600);
	return f->events >= 0 || report_errno(&cli->report, errno, "cannot write '%s'", o->events);
}

/* Standard output of this process as a pipe that does not block: others that have it as well must
 * not notice. When its reader has gone already it cannot be opened, and writing to it does not
 * block either. */
static int open_pipe(void)
{
	struct stat st;

	if (fstat(STDOUT_FILENO, &st) < 0 || !S_ISFIFO(st.st_mode))
		return -1;
	int fd = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 ? fd : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
}

/* -- signals -------------------------------------------------------------------------------------
 */

/* Ctrl-Z: the shell gets a clean line, and the commands, which are not in our process group, stop
 * too. In a group that no shell could continue the kernel does not stop us. */
static void stop_here(struct follow *f)
{
	sigset_t stop;

	if (f->live)
		live_view_hide(f->live);
	run_hold(f->run, true);
	(void)sigemptyset(&stop);
	(void)sigaddset(&stop, SIGTSTP);
	(void)raise(SIGTSTP);
	(void)sigprocmask(SIG_UNBLOCK, &stop, NULL); /* here time passes */
	(void)sigprocmask(SIG_BLOCK, &stop, NULL);
	run_hold(f->run, false);
}

static bool on_signal(void *data, int signal)
{
	struct follow *f = data;

	if (!f->run)
		return true;
	if (signal == SIGTSTP)
		stop_here(f);
	else if ((signal == SIGWINCH || signal == SIGCONT) && f->live)
		live_view_resize(f->live);
	/* The terminal sends these to the command as well, which may have a use for them. */
	return (f->terminal || f->tty) && (signal == SIGINT || signal == SIGQUIT);
}

/* -- what was asked for --------------------------------------------------------------------------
 */

/* As the field `env` of a node does. */
static bool refuse_own_variable(struct cli *cli, const char *entry)
{
	report_error(&cli->report, (struct where){ 0 }, "--env cannot set %.*s",
		(int)MIN(strcspn(entry, "="), (size_t)60), entry);
	return report_hint(&cli->report, "roux itself sets the variables that begin with ROUX_");
}

static bool check_env(struct cli *cli, const struct opt_list *env)
{
	bool ok = true;

	for (size_t i = 0; i < env->len; i++) {
		const char *entry = env->at[i];

		if (entry[0] == '=' || !strchr(entry, '='))
			ok = report_error(&cli->report, (struct where){ 0 },
				"--env takes NAME=VALUE, found '%s'", entry);
		else if (str_starts(str_of(entry), S("ROUX_")))
			ok = refuse_own_variable(cli, entry);
		else if (strlen(entry) + 1 > PROGRAM_STRING_MAX)
			ok = report_error(&cli->report, (struct where){ 0 },
				"--env %.*s is %zu bytes long; the kernel takes %d",
				(int)MIN(strcspn(entry, "="), (size_t)60), entry, strlen(entry),
				PROGRAM_STRING_MAX - 1);
	}
	return ok;
}

bool follow_request(struct cli *cli, const struct run_opts *o, struct request *q)
{
	if (o->strict && o->tolerate)
		return report_error(&cli->report, (struct where){ 0 },
			"--strict and --tolerate contradict each other");
	if (!check_env(cli, &o->env))
		return false;
	q->jobs = o->jobs;
	q->grace_ms = o->grace_ms;
	q->env = json_array();
	for (size_t i = 0; i < o->env_files.len; i++)
		if (!env_file_read(cli, o->env_files.at[i], q->env))
			return false;
	for (size_t i = 0; i < o->env.len; i++)
		json_array_append_new(q->env, json_from_str(str_of(o->env.at[i])));
	return true;
}

/* -- running -------------------------------------------------------------------------------------
 */

static void complain(const char *what, int error)
{
	AUTO_BUF line = BUF_INIT;

	buf_printf(&line, "roux: error: cannot write the %s: %s\n", what, strerror(-error));
	cli_say(buf_str(&line));
}

/* One line stays when the tree has gone. */
static void add_summary(struct follow *f, struct buf *b)
{
	AUTO_BUF took = BUF_INIT;
	AUTO_JSON *s = NULL;

	if (!run_id(f->run).len || !f->live || !live_view_summary(f->live, &took))
		return;
	s = run_summary(f->run);
	buf_adds(b, "roux: ");
	text_plain(b, run_id(f->run));
	buf_adds(b, ": ");
	status_phrase(b, run_status_word(f->run), (uint64_t)json_number_of(s, "failed"),
		(uint64_t)json_number_of(s, "tolerated"));
	buf_printf(b, " %s\n", buf_cstr(&took));
}

static int answer(struct follow *f, const struct run_opts *o, bool json)
{
	const struct ending_options judged = { o->strict, o->tolerate };
	int status = shown_exit(f->run, &judged);
	bool events_only = o->events && strcmp(o->events, "-") == 0;
	AUTO_BUF text = BUF_INIT;
	int written = 0;

	/* Nothing reads what could be said now. */
	if (run_signal(f->run) == SIGPIPE)
		return 128 + SIGPIPE;
	if (json) {
		enum roux_status told;

		written = run_result_write(f->run, STDOUT_FILENO, &told);
		status = told == ROUX_FAILED ? 1 : status;
	} else if (!events_only) {
		written = run_output_show(f->run);
	}
	if (!o->silent && !json) {
		add_summary(f, &text);
		shown_result(f->run, &judged, f->stream, &text);
		cli_say(buf_str(&text));
	}
	flush_events(f);
	if (f->events_error && f->events_error != -EPIPE)
		complain("events", f->events_error);
	if (written < 0 && written != -EPIPE)
		complain("result to standard output", written);
	struct report *unwritten = run_record_issues(f->run);
	/* One reason is enough: a disk that fails is met in several places. */
	if (unwritten && !(run_issues(f->run) && report_has_system(run_issues(f->run)))) {
		buf_reset(&text);
		report_word(unwritten, cli_words);
		report_text(unwritten, REPORT_ALL, &text);
		cli_say(buf_str(&text));
	}
	bool lost = (unwritten && unwritten->errors) || (written < 0 && written != -EPIPE) ||
		    (f->events_error && f->events_error != -EPIPE);
	return lost && (status == 0 || status == 3) ? 1 : status;
}

static void work(struct follow *f)
{
	while (run_status(f->run) == ROUX_RUNNING) {
		if (app_turn(f->app, -1) < 0)
			break;
		flush_events(f);
	}
	timer_stop(&f->tick);
	timer_stop(&f->beat);
	if (f->live)
		live_view_hide(f->live);
	app_drop_signals(f->app);
}

/* -- gates ---------------------------------------------------------------------------------------
 */

static bool asks(const struct follow *f, const struct run_opts *o, bool json)
{
	return run_status(f->run) == ROUX_PAUSED && !json && !o->silent && ask_possible();
}

static struct run_handle *resume(struct follow *f, const char *id, const struct request *q,
	const struct follow_start *how, struct report *r)
{
	struct resume_request again = {
		.request = REQUEST_INIT, .values = how->values, .stay = true
	};
	bool over = false;

	again.request.detach = DETACH_NEVER;
	again.request.secrets = q->secrets;
	again.request.secret_env = q->secret_env;
	again.request.observer = q->observer;
	(void)app_take_signals(f->app, on_signal, f);
	struct run_handle *h = runs_resume(f->app, id, &again, &over, r);
	if (!h)
		app_drop_signals(f->app);
	return h;
}

/* Another process has continued it: it is waited for, and told as what it came to. */
static struct run_handle *join(
	struct follow *f, const char *id, struct report *refused, struct report *r)
{
	AUTO_REPORT gone = REPORT_INIT;
	struct run_handle *h = runs_open(f->app, id, &gone);

	if (h && run_status(h) != ROUX_PAUSED && run_wait(h, &gone))
		return h;
	report_move(r, refused);
	return h;
}

/* The run waits at a gate. Asks what to answer and continues it; later leaves it as it is. False:
 * it is not continued. */
static bool pass_gate(struct cli *cli, struct follow *f, const struct request *q,
	const struct run_opts *o, const struct follow_start *how)
{
	AUTO_BUF id = BUF_INIT;
	AUTO_REPORT refused = REPORT_INIT;

	buf_add(&id, run_id(f->run));
	run_close(f->run); /* so that another door may have it */
	f->run = NULL;
	live_view_free(f->live);
	plain_lines_free(f->lines);
	f->live = NULL;
	f->lines = NULL;
	enum ask_answer said = ask_gate(cli, buf_str(&id));
	if (said == ASK_LATER) {
		f->run = runs_open(f->app, buf_cstr(&id), &cli->report);
		return false;
	}
	open_view(f, o);
	f->run = resume(f, buf_cstr(&id), q, how, &refused);
	if (!f->run) {
		f->run = join(f, buf_cstr(&id), &refused, &cli->report);
		return false;
	}
	if (said == ASK_CANCEL)
		(void)run_order(f->run, RUN_CANCEL, -1, &refused);
	return true;
}

static int answer_detached(struct run_handle *h, bool json)
{
	AUTO_BUF text = BUF_INIT;

	if (json)
		return cli_print_json(run_started_document(h));
	buf_printf(&text, "%.*s\n", STR(run_id(h)));
	return cli_print(buf_str(&text));
}

static void close_view(struct follow *f)
{
	timer_stop(&f->tick);
	timer_stop(&f->beat);
	app_drop_signals(f->app);
	if (f->events > STDERR_FILENO)
		close_fd(&f->events);
	close_fd(&f->pipe);
	live_view_free(f->live);
	plain_lines_free(f->lines);
	stream_lines_free(f->stream);
	buf_done(&f->events_text);
}

int follow(struct cli *cli, struct request *q, const struct run_opts *o, bool json,
	struct follow_start *how)
{
	struct follow f = {
		.tick.fire = on_tick, .beat.fire = on_beat, .app = cli_app(cli), .pipe = -1
	};
	bool here = q->detach != DETACH_ALWAYS;
	int status;

	if (!open_events(cli, &f, o, here, json))
		return cli_refuse(cli, json);
	int taken = here ? app_take_signals(f.app, on_signal, &f) : 0;
	if (taken < 0) {
		report_errno(&cli->report, -taken, "cannot take signals for the run");
		return cli_refuse(cli, json);
	}
	if (here) {
		open_view(&f, o);
		f.terminal = q->terminal;
		f.pipe = f.terminal ? -1 : open_pipe();
		q->pipe_fd = f.pipe;
		q->pipe_prints = !json && f.events != STDOUT_FILENO;
		if (!o->quiet && !o->silent)
			f.stream = stream_lines_new(o->stream);
		if (f.live || f.lines || f.stream || f.events >= 0 || isatty(STDIN_FILENO))
			q->observer = (struct observer){ .event = on_event,
				.output = f.live || (f.stream && (o->stream || how->steps)),
				.errors = f.stream != NULL,
				.data = &f };
	}
	f.run = how->start(how->data, q, &cli->report);
	if (!f.run) {
		if (f.events_new && !f.events_begun)
			(void)unlink(o->events);
		close_view(&f);
		status = how->refused ? how->refused(how->data, json) : -1;
		return status < 0 ? cli_refuse(cli, json) : status;
	}
	if (how->answered) {
		close_view(&f);
		const struct ending_options judged = { o->strict, o->tolerate };

		status = run_answer_again(cli, f.run, json, o->silent);
		status = status ? status : shown_exit(f.run, &judged);
		run_close(f.run);
		return status;
	}
	if (run_detached(f.run)) {
		status = answer_detached(f.run, json);
	} else {
		do
			work(&f);
		while (asks(&f, o, json) && pass_gate(cli, &f, q, o, how));
		plain_lines_free(f.lines);
		f.lines = NULL;
		status = f.run && !cli->report.errors ? answer(&f, o, json) : cli_refuse(cli, json);
	}
	run_close(f.run);
	close_view(&f);
	return status;
}
