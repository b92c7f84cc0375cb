#include "render/terminal/live.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/width.h"
#include "graph/node.h"
#include "render/terminal/live-frame.h"
#include "render/terminal/stream.h"

enum {
	QUIET_MS = 300, /* a run that is over by then leaves no trace */
	FRAME_MS = 50,
};

struct live_view {
	int fd;
	struct live_style style;
	bool reflows;
	struct live_tree tree;
	bool on_screen;
	bool drawn;             /* ever */
	bool lent;              /* a command has the terminal */
	bool whole;             /* what is on the screen cannot be trusted: write every row again */
	unsigned columns, rows; /* of the terminal when `shown` was drawn */
	struct buf shown; /* the frame on the screen; the cursor is at column 0 of its last row */
	struct buf next, out;
	uint64_t now_ms, drawn_ms;
};

static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

static bool locale_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = environment(names[i]);

		if (value[0])
			return strcasestr(value, "UTF-8") || strcasestr(value, "UTF8");
	}
	return false;
}

/* Whether lines are wrapped anew when the terminal gets narrower. Most do; those that do not can
 * only be known by what they put into the environment. */
static bool terminal_reflows(void)
{
	if (environment("TMUX")[0])
		return true;
	return !environment("XTERM_VERSION")[0] && !environment("STY")[0] &&
	       strcmp(environment("TERM"), "linux") != 0;
}

struct live_view *live_view_new(int fd, bool colour)
{
	struct live_view *v = mem_new(struct live_view);
	const char *term = environment("TERM");

	v->fd = fd;
	v->style.colour = colour;
	v->style.ascii = !locale_is_utf8() || !strcmp(term, "linux") || !strcmp(term, "vt100");
	v->reflows = terminal_reflows();
	live_tree_init(&v->tree);
	return v;
}

void live_view_free(struct live_view *v)
{
	if (!v)
		return;
	live_view_hide(v);
	live_tree_done(&v->tree);
	buf_done(&v->shown);
	buf_done(&v->next);
	buf_done(&v->out);
	free(v);
}

void live_view_event(void *view, const struct event *e)
{
	struct live_view *v = view;

	v->now_ms = MAX(v->now_ms, e->mono_ms);
	live_tree_event(&v->tree, e);
	/* A command has the terminal: the tree makes room until it ends. */
	if (e->kind == EVENT_COMMAND_START && e->node && e->node->tty) {
		live_view_hide(v);
		v->lent = true;
	} else if (e->kind == EVENT_COMMAND_DONE) {
		v->lent = false;
	}
	if (e->kind == EVENT_COMMAND_LEFT) {
		AUTO_BUF line = BUF_INIT;

		left_line(&line, e);
		live_view_print(v, buf_str(&line));
	}
	/* The terminal has echoed ^C over the tree. */
	if (e->kind == EVENT_RUN_CANCEL || e->kind == EVENT_RUN_KILL)
		v->whole = true;
}

void live_view_resize(struct live_view *v)
{
	v->whole = true;
}

/* Asked before each frame, because the signal that tells of a change comes later than the change.
 */
static void measure(const struct live_view *v, unsigned *columns, unsigned *rows)
{
	struct winsize size = { 0 };

	if (ioctl(v->fd, TIOCGWINSZ, &size) < 0)
		size = (struct winsize){ 0 };
	*columns = size.ws_col ? size.ws_col : 80;
	*rows = size.ws_row ? size.ws_row : 24;
}

/* Takes the first line off `rest`. */
static struct str take_line(struct str *rest)
{
	size_t end = str_find(*rest, '\n', 0);
	struct str line = str_sub(*rest, 0, end);

	*rest = str_from(*rest, MIN(end + 1, rest->len));
	return line;
}

/* How many rows of the screen a drawn line takes where it is wrapped. Its only escape sequences
 * are the colours of live-frame.c, which end with 'm'. */
static size_t rows_of(struct str line, unsigned columns)
{
	size_t rows = 1;
	unsigned at = 0;
	uint32_t c;

	for (size_t i = 0; i < line.len;) {
		if (line.p[i] == '\033') {
			i = str_find(line, 'm', i) + 1;
			continue;
		}
		i += utf8_decode(line, i, &c);
		unsigned width = width_of(c);
		if (at + width > columns) {
			rows++;
			at = 0;
		}
		at += width;
	}
	return rows;
}

/* Moves the cursor from the last row of the frame on the screen to its first. */
static void add_move_up(struct live_view *v, unsigned columns)
{
	struct str rest = buf_str(&v->shown);
	size_t up = 0;

	while (str_find(rest, '\n', 0) < rest.len) {
		struct str line = take_line(&rest);

		up += v->reflows && columns < v->columns ? rows_of(line, columns) : 1;
	}
	buf_addc(&v->out, '\r');
	if (up)
		buf_printf(&v->out, "\033[%zuA", up);
}

/* Takes the frame off the screen. Its first row is cleared apart from the others, because tmux
 * takes clearing from the top left corner for a new page and keeps the old one in its history. */
static void add_erase(struct live_view *v, unsigned columns)
{
	add_move_up(v, columns);
	buf_adds(&v->out, "\0337\033[K\033[B\033[J\0338");
}

/* Rows that are as they were are stepped over, except the last, over which the user may have typed.
 */
static void add_frame(struct live_view *v, bool whole)
{
	struct str old = buf_str(&v->shown);
	struct str rest = buf_str(&v->next);

	while (rest.len) {
		bool was = old.len > 0;
		struct str before = take_line(&old);
		struct str line = take_line(&rest);

		if (whole || !rest.len || !was || !str_eq(before, line)) {
			buf_add(&v->out, line);
			buf_adds(&v->out, "\033[K");
		}
		if (rest.len)
			buf_adds(&v->out, "\r\n");
	}
	if (old.len)
		buf_adds(&v->out, "\033[J");
	buf_addc(&v->out, '\r');
}

/* Brings the screen up to date, with `above` on top: whole lines that end with "\r\n". One write,
 * and in brackets for terminals that can wait with showing it until it is complete. */
static void draw(struct live_view *v, struct str above)
{
	unsigned columns, rows;

	measure(v, &columns, &rows);
	bool resized = columns != v->columns || rows != v->rows;
	bool whole = above.len || !v->on_screen || v->whole || resized;
	buf_reset(&v->next);
	live_frame(&v->tree, v->style, columns, rows, v->now_ms, &v->next);
	if (!whole && str_eq(buf_str(&v->next), buf_str(&v->shown)))
		return;

	buf_reset(&v->out);
	buf_adds(&v->out, v->style.ascii ? "" : "\033[?2026h");
	if (v->on_screen && (above.len || resized))
		add_erase(v, columns);
	else if (v->on_screen)
		add_move_up(v, columns);
	buf_add(&v->out, above);
	add_frame(v, whole);
	buf_adds(&v->out, v->style.ascii ? "" : "\033[?2026l");
	text_write(v->fd, buf_str(&v->out));

	buf_swap(&v->shown, &v->next);
	v->on_screen = v->drawn = true;
	v->whole = false;
	v->columns = columns;
	v->rows = rows;
	v->drawn_ms = v->now_ms;
}

/* `roux … &`: the terminal belongs to the shell, which would find a tree across its prompt. Only a
 * job of its own is meant: what timeout(1) and scripts start is often in the background too. */
static bool in_background(const struct live_view *v)
{
	pid_t front = getpgrp() == getpid() ? tcgetpgrp(v->fd) : -1;

	return front > 0 && front != getpgrp();
}

void live_view_tick(struct live_view *v, uint64_t mono_ms)
{
	struct pollfd p = { .fd = v->fd, .events = POLLOUT };

	v->now_ms = MAX(v->now_ms, mono_ms);
	if (v->lent || !v->tree.started || v->tree.ended ||
		v->now_ms - v->tree.started_ms < QUIET_MS)
		return;
	if (v->drawn_ms && v->now_ms - v->drawn_ms < FRAME_MS)
		return;
	if (!in_background(v) && poll(&p, 1, 0) == 1 && p.revents & POLLOUT)
		draw(v, S(""));
}

void live_view_print(struct live_view *v, struct str text)
{
	AUTO_BUF lines = BUF_INIT;

	while (text.len) {
		text_plain(&lines, take_line(&text));
		buf_adds(&lines, "\r\n");
	}
	if (v->on_screen)
		draw(v, buf_str(&lines));
	else
		text_write(v->fd, buf_str(&lines));
}

void live_view_hide(struct live_view *v)
{
	unsigned columns, rows;

	if (!v->on_screen)
		return;
	measure(v, &columns, &rows);
	buf_reset(&v->out);
	add_erase(v, columns);
	text_write(v->fd, buf_str(&v->out));
	v->on_screen = false;
	buf_reset(&v->shown);
}

bool live_view_summary(const struct live_view *v, struct buf *b)
{
	const struct live_tree *t = &v->tree;
	uint64_t all = t->done + t->failed;

	if (!v->drawn)
		return false;
	buf_adds(b, "in ");
	clock_duration(b, v->now_ms - t->started_ms);
	buf_printf(b, ", %" PRIu64 " command%s", all, all == 1 ? "" : "s");
	return true;
}
