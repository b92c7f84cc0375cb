#include "hosts/cli/ask.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <termios.h>
#include <unistd.h>

#include "app/gates.h"
#include "base/clock.h"
#include "base/plain-text.h"
#include "base/user.h"
#include "loop/notify.h"

bool ask_possible(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO) &&
	       tcgetpgrp(STDIN_FILENO) == getpgrp();
}

struct str ask_answerer(struct cli *cli)
{
	const char *owner = getenv("ROUX_OWNER");

	if (owner && *owner)
		return arena_str(&cli->arena, str_of(owner));
	struct str name = user_name(&cli->arena);
	return name.len ? name : arena_printf(&cli->arena, "uid:%u", (unsigned)getuid());
}

/* What was typed before the question is not meant for it. */
static void discard_input(void)
{
	(void)tcflush(STDIN_FILENO, TCIFLUSH);
}

/* One line of the terminal. False: there was none (Ctrl-D). */
static bool read_answer(struct buf *ret)
{
	char bytes[256];
	ssize_t n;

	do
		n = read(STDIN_FILENO, bytes, sizeof(bytes));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	buf_add(ret, str_trim((struct str){ bytes, (size_t)n }));
	return true;
}

static bool is_word(struct str answer, const char *word)
{
	AUTO_BUF lower = BUF_INIT;

	for (size_t i = 0; i < answer.len; i++)
		buf_addc(&lower, (char)(answer.p[i] | 0x20));
	return str_eq(buf_str(&lower), str_of(word)) || (lower.len == 1 && lower.p[0] == word[0]);
}

/* -- at a gate -----------------------------------------------------------------------------------
 */

enum said { SAID_NOTHING, SAID_YES, SAID_NO, SAID_LATER, SAID_CANCEL };

struct question {
	struct cli *cli;
	struct str run;
	struct buf text, path; /* what is shown; the gate that it is about */
	struct watch input;
	struct timer limit;
	struct notify changes;
	struct notify_file dir;
	uint64_t until_ms; /* real time when its own limit answers; 0: never */
	enum said said;
	bool over; /* the gate has its answer, or its time is over */
};

static void show(const struct question *q)
{
	cli_say(buf_str(&q->text));
	cli_say(S("[y]es, [n]o, [l]ater? "));
}

static void on_input(struct watch *w, uint32_t events)
{
	struct question *q = container_of(w, struct question, input);
	AUTO_BUF answer = BUF_INIT;

	(void)events;
	bool any = read_answer(&answer);
	struct str said = buf_str(&answer);
	if (!any)
		cli_say(S("\n"));
	if (!any || !said.len || is_word(said, "later"))
		q->said = SAID_LATER;
	else if (is_word(said, "yes"))
		q->said = SAID_YES;
	else if (is_word(said, "no"))
		q->said = SAID_NO;
	else
		cli_say(S("Please answer y, n or l: "));
}

static void on_limit(struct timer *t)
{
	container_of(t, struct question, limit)->over = true;
}

static bool see_gate(void *data, const struct gate *g)
{
	struct question *q = data;

	q->over = !str_eq(g->path, buf_str(&q->path));
	return false;
}

/* Whether another door has answered. */
static void look_again(struct question *q)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF run = BUF_INIT;

	buf_add(&run, q->run);
	q->over = true;
	if (!gates_each(cli_app(q->cli), buf_cstr(&run), see_gate, q, &ignored))
		q->over = false; /* what cannot be read now may be later */
}

static void on_change(struct notify_file *f, uint32_t events)
{
	(void)events;
	look_again(container_of(f, struct question, dir));
}

/* Ctrl-Z at the question: the shell has the terminal until the job is continued. */
static void stop_here(const struct question *q)
{
	sigset_t stop;

	cli_say(S("\n"));
	(void)sigemptyset(&stop);
	(void)sigaddset(&stop, SIGTSTP);
	(void)raise(SIGTSTP);
	(void)sigprocmask(SIG_UNBLOCK, &stop, NULL);
	(void)sigprocmask(SIG_BLOCK, &stop, NULL);
	discard_input();
	show(q);
}

static bool on_signal(void *data, int signal)
{
	struct question *q = data;

	if (signal == SIGTSTP)
		stop_here(q);
	else if (signal == SIGHUP)
		q->said = SAID_LATER; /* the terminal is gone; the run waits */
	else if (signal == SIGINT || signal == SIGTERM || signal == SIGQUIT)
		q->said = SAID_CANCEL;
	return true;
}

static bool take_gate(void *data, const struct gate *g)
{
	struct question *q = data;
	struct buf *b = &q->text;
	struct str rest = str_trim(g->prompt);

	buf_add(&q->path, g->path);
	q->until_ms = g->timeout_ms ? g->since_ms + g->timeout_ms : 0;
	buf_printf(b, "roux: %.*s waits at stage '", STR(g->run));
	text_plain(b, g->stage);
	buf_adds(b, "'");
	if (q->until_ms) {
		uint64_t now = clock_real_ms();

		buf_adds(b, ", for ");
		clock_duration(b, q->until_ms > now ? q->until_ms - now : 0);
		buf_printf(b, ", then it is %s", g->approves ? "approved" : "denied");
	}
	buf_adds(b, ":\n");
	while (rest.len) {
		size_t end = str_find(rest, '\n', 0);

		buf_adds(b, "  ");
		text_plain(b, str_sub(rest, 0, end));
		buf_addc(b, '\n');
		rest = str_from(rest, MIN(end + 1, rest.len));
	}
	return false;
}

/* Changes are looked for from before the question on, so that none is missed. */
static void watch_for_answers(struct question *q, const char *run)
{
	struct loop *loop = app_loop(q->cli->app);
	AUTO_REPORT ignored = REPORT_INIT;
	uint64_t now = clock_real_ms();

	notify_init(&q->changes);
	q->dir.changed = on_change;
	struct run_handle *h = runs_open(q->cli->app, run, &ignored);
	AUTO_BUF dir = BUF_INIT;
	if (h)
		buf_add(&dir, run_dir(h));
	run_close(h);
	if (dir.len && notify_open(&q->changes) == 0) {
		(void)notify_add(
			&q->changes, &q->dir, buf_cstr(&dir), IN_MOVED_TO | IN_CLOSE_WRITE);
		(void)notify_start(loop, &q->changes);
	}
	q->limit.fire = on_limit;
	if (q->until_ms)
		timer_start(loop, &q->limit, q->until_ms > now ? q->until_ms - now : 0);
	look_again(q);
}

static void wait_for_answer(struct question *q)
{
	struct loop *loop = app_loop(q->cli->app);

	(void)app_take_signals(q->cli->app, on_signal, q);
	discard_input();
	show(q);
	q->input = (struct watch){ .fd = -1, .ready = on_input };
	if (watch_start(loop, &q->input, STDIN_FILENO, EPOLLIN) < 0)
		q->said = SAID_LATER;
	while (!q->said && !q->over && app_turn(q->cli->app, -1) >= 0)
		;
	watch_stop(&q->input);
	app_drop_signals(q->cli->app);
	if (q->over && !q->said)
		cli_say(S("\nroux: it has been answered elsewhere, or its time is over\n"));
	else if (q->said == SAID_CANCEL)
		cli_say(S("\n"));
}

static enum ask_answer decide(struct question *q, const char *run)
{
	AUTO_REPORT refused = REPORT_INIT;
	struct gate_decided decided;

	if (q->said == SAID_CANCEL)
		return ASK_CANCEL;
	if (q->said == SAID_LATER || (!q->said && !q->over))
		return ASK_LATER;
	if (!q->said)
		return ASK_ANSWERED;
	AUTO_BUF path = BUF_INIT;
	buf_add(&path, buf_str(&q->path));
	/* A refusal means that another door was faster. */
	(void)gate_decide(cli_app(q->cli),
		&(struct gate_decision){ .run = run,
			.stage = buf_cstr(&path),
			.approve = q->said == SAID_YES,
			.by = ask_answerer(q->cli) },
		&decided, &refused);
	look_again(q);
	if (q->over)
		return ASK_ANSWERED;
	report_move(&q->cli->report, &refused);
	return ASK_LATER;
}

enum ask_answer ask_gate(struct cli *cli, struct str run)
{
	struct question q = { .cli = cli, .run = run };
	enum ask_answer answer = ASK_LATER;
	AUTO_BUF name = BUF_INIT;

	buf_add(&name, run);
	if (!gates_each(cli_app(cli), buf_cstr(&name), take_gate, &q, &cli->report) || !q.text.len)
		return ASK_LATER;
	int asking = gate_ask(cli_app(cli), buf_cstr(&name));
	watch_for_answers(&q, buf_cstr(&name));
	if (!q.over)
		wait_for_answer(&q);
	answer = decide(&q, buf_cstr(&name));
	timer_stop(&q.limit);
	notify_close(&q.changes);
	if (asking >= 0)
		(void)close(asking);
	buf_done(&q.text);
	buf_done(&q.path);
	return answer;
}

/* -- yes or no -----------------------------------------------------------------------------------
 */

bool ask_yes(const char *question)
{
	AUTO_BUF answer = BUF_INIT;

	discard_input();
	cli_say(str_of(question));
	cli_say(S(" [y]es, [n]o? "));
	if (read_answer(&answer))
		return is_word(buf_str(&answer), "yes");
	cli_say(S("\n"));
	return false;
}
