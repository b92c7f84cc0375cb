/* Trying an agent: both of its lines, with a harmless prompt. The launch is that of `roux prompt`,
 * made by a child of this process whose streams are a pseudo-terminal or pipes; that child ends the
 * agent and all that it started when it is asked to (terminal.c). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/agents.h"
#include "app/agents/screen.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/plain-text.h"
#include "base/utf8.h"

enum {
	KEPT_MAX = 256 << 10, /* of what the agent prints; the last of it */
	SHOWN_MAX = 4 << 10,  /* of that, for people */
	ENDING_MS = 15000,    /* the child's own grace, and more */
};

struct str agents_trial_prompt(void)
{
	return S("Reply with the word ready");
}

/* -- the child -----------------------------------------------------------------------------------
 */

static int launch(const struct agents_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;
	struct agents_launch *l;
	int status = 2;

	if (agents_prepare(q, &l, &r)) {
		status = agents_launch_wait(l);
		if (status < 0)
			report_errno(&r, -status, "cannot start the agent");
	}
	report_text(&r, REPORT_ALL, &text);
	text_write(STDERR_FILENO, buf_str(&text));
	agents_launch_free(l);
	return status < 0 ? 2 : status;
}

static _Noreturn void be_child(struct str name, struct str cwd, int out, pid_t parent)
{
	struct agents_request q = { .mode = AGENTS_PROMPT,
		.text = agents_trial_prompt(),
		.agent = name,
		.bare = true,
		.cwd = cwd,
		.stands = cwd };

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(2);
	if (out >= 0) {
		AUTO_CLOSE int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

		if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
			dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
			_exit(2);
	}
	_exit(launch(&q));
}

/* The end that the agent's output is read from; -errno. */
static int start(struct str name, struct str cwd, bool terminal, pid_t *pid)
{
	pid_t parent = getpid();
	int ends[2] = { -1, -1 };

	if (terminal) {
		struct winsize size = { .ws_row = SCREEN_ROWS, .ws_col = SCREEN_COLUMNS };

		*pid = forkpty(&ends[0], NULL, NULL, &size);
	} else {
		if (pipe2(ends, O_CLOEXEC) < 0)
			return -errno;
		*pid = fork();
	}
	if (*pid == 0)
		be_child(name, cwd, terminal ? -1 : ends[1], parent);
	int error = *pid < 0 ? -errno : 0;
	close_fd(&ends[1]);
	if (error) {
		close_fd(&ends[0]);
		return error;
	}
	(void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	return ends[0];
}

/* -- what it prints ------------------------------------------------------------------------------
 */

struct reading {
	int fd;
	bool terminal;
	struct screen screen;      /* of a terminal */
	struct text_filter filter; /* of pipes */
	struct buf text;           /* of pipes, without escape sequences */
};

static void put(void *data, uint32_t c)
{
	struct buf *b = data;

	if (c == '\r' || c == '\n') {
		if (b->len && b->p[b->len - 1] != '\n')
			buf_addc(b, '\n');
	} else if (c != '\b') {
		utf8_add(b, c);
	}
}

/* A program that draws a screen asks the terminal who it is, and may wait for the answer. */
static void answer_queries(const struct reading *rd, struct str bytes)
{
	static const struct {
		const char *query, *answer;
	} known[] = {
		{ "\x1b[6n", "\x1b[1;1R" },
		{ "\x1b[c", "\x1b[?62c" },
		{ "\x1b[0c", "\x1b[?62c" },
		{ "\x1b]10;?", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\" },
		{ "\x1b]11;?", "\x1b]11;rgb:0000/0000/0000\x1b\\" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (str_contains(bytes, str_of(known[i].query)))
			text_write(rd->fd, str_of(known[i].answer));
}

/* False at the end. */
static bool read_some(struct reading *rd)
{
	char bytes[8192];
	ssize_t n = read(rd->fd, bytes, sizeof(bytes));

	if (n <= 0)
		return n < 0 && (errno == EINTR || errno == EAGAIN);
	struct str got = { bytes, (size_t)n };
	if (rd->terminal) {
		screen_feed(&rd->screen, got);
		answer_queries(rd, got);
		return true;
	}
	text_filter_feed(&rd->filter, got, put, &rd->text);
	if (rd->text.len > 2 * KEPT_MAX) {
		struct str last = str_from(buf_str(&rd->text), rd->text.len - KEPT_MAX);

		memmove(rd->text.p, last.p, last.len);
		rd->text.len = last.len;
	}
	return true;
}

static void read_text(const struct reading *rd, struct buf *b)
{
	if (rd->terminal)
		screen_text(&rd->screen, b);
	else
		buf_add(b, buf_str(&rd->text));
}

/* Only letters count, in lower case: a screen moves the cursor where a text has spaces. */
static void letters(struct str s, struct buf *b)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c | 0x20);
		if (c >= 'a' && c <= 'z')
			buf_addc(b, c);
	}
}

/* Whether the word came, and not only the prompt itself, which many programs show. */
static bool has_answer(const struct reading *rd)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF said = BUF_INIT;
	AUTO_BUF asked = BUF_INIT;

	read_text(rd, &text);
	letters(buf_str(&text), &said);
	letters(agents_trial_prompt(), &asked);
	struct str rest = buf_str(&said), prompt = buf_str(&asked), word = S("ready");
	for (size_t at = 0; at + word.len <= rest.len;) {
		struct str here = str_from(rest, at);

		if (str_starts(here, prompt))
			at += prompt.len;
		else if (str_starts(here, word))
			return true;
		else
			at++;
	}
	return false;
}

/* -- waiting -------------------------------------------------------------------------------------
 */

/* Reads until the end, until the answer is on the screen, or until the time is over. */
static void attend(struct reading *rd, uint64_t until_ms, struct agents_trial *ret)
{
	bool open = true;

	while (open) {
		uint64_t now = clock_mono_ms();
		struct pollfd p = { .fd = rd->fd, .events = POLLIN };

		if (now >= until_ms) {
			ret->timed_out = true;
			return;
		}
		int n = poll(&p, 1, (int)MIN(until_ms - now, 1000));
		if (n > 0)
			open = read_some(rd);
		/* On a terminal most programs wait for the next prompt. */
		if (rd->terminal && has_answer(rd))
			return;
	}
}

/* Ends the child if it has to, and takes its status. What it still prints is read, so that it can
 * end. */
static int end_child(struct reading *rd, pid_t pid, bool ask)
{
	uint64_t kill_at = clock_mono_ms() + ENDING_MS;
	bool killed = false;
	int status;

	if (ask)
		(void)kill(pid, SIGTERM);
	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);
		struct pollfd p = { .fd = rd->fd, .events = POLLIN };

		if (got == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (got < 0 && errno != EINTR)
			return -1;
		if (ask && !killed && clock_mono_ms() >= kill_at)
			killed = kill(pid, SIGKILL) == 0;
		if (poll(&p, 1, 20) > 0 && !read_some(rd))
			(void)poll(NULL, 0, 20);
	}
}

static void show(struct str text, struct buf *b)
{
	size_t from = text.len > SHOWN_MAX ? text.len - SHOWN_MAX : 0;

	/* From the beginning of a line. */
	if (from)
		from = str_find(text, '\n', from);
	struct str last = str_from(text, MIN(from, text.len));
	while (last.len && last.p[0] == '\n')
		last = str_from(last, 1);
	while (last.len && last.p[last.len - 1] == '\n')
		last.len--;
	buf_add(b, last);
}

void agents_try(
	struct str name, struct str cwd, bool terminal, uint64_t limit_ms, struct agents_trial *ret)
{
	struct reading rd = { .terminal = terminal };
	AUTO_BUF text = BUF_INIT;
	uint64_t begin = clock_mono_ms();
	pid_t pid = 0;

	screen_init(&rd.screen);
	*ret = (struct agents_trial){ .terminal = terminal, .status = -1 };
	rd.fd = start(name, cwd, terminal, &pid);
	if (rd.fd < 0) {
		ret->failed = true;
		ret->error = -rd.fd;
		return;
	}
	attend(&rd, begin + limit_ms, ret);
	ret->ms = clock_mono_ms() - begin;
	bool seen = has_answer(&rd);
	/* A program that is ended tidies its screen up. */
	if (terminal)
		read_text(&rd, &text);
	bool ask = ret->timed_out || (terminal && seen);
	int status = end_child(&rd, pid, ask);
	/* With pipes the end of the output may come before the last words were looked at. */
	seen = seen || has_answer(&rd);
	ret->status = ask ? -1 : status;
	ret->answered = seen && (ask ? terminal : status == 0);
	if (!terminal)
		read_text(&rd, &text);
	show(buf_str(&text), &ret->output);
	buf_done(&rd.text);
	close_fd(&rd.fd);
}
