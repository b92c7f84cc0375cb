#include <fcntl.h>
#include <malloc.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "base/width.h"
#include "render/terminal/live-frame.h"
#include "render/terminal/live.h"

/* A terminal, as much of it as the live view needs: one character a cell. */
struct screen {
	unsigned columns, rows;
	unsigned x, y, saved_x, saved_y;
	uint32_t cell[60][200];
	bool wrapped;       /* a row came to the right edge */
	struct buf history; /* rows that went off the top */
};

static void screen_clear(struct screen *s, unsigned y, unsigned x)
{
	for (; x < s->columns; x++)
		s->cell[y][x] = ' ';
}

/* Returns false when the row is blank. */
static bool screen_row(const struct screen *s, unsigned y, struct buf *b)
{
	size_t begin = b->len;

	for (unsigned x = 0; x < s->columns; x++)
		if (s->cell[y][x])
			utf8_add(b, s->cell[y][x]);
	while (b->len > begin && b->p[b->len - 1] == ' ')
		buf_truncate(b, b->len - 1);
	buf_addc(b, '\n');
	return b->len > begin + 1;
}

static void screen_scroll(struct screen *s)
{
	(void)screen_row(s, 0, &s->history);
	memmove(s->cell[0], s->cell[1], sizeof(s->cell[0]) * (s->rows - 1));
	screen_clear(s, s->rows - 1, 0);
}

static void screen_csi(struct screen *s, char final, unsigned n)
{
	if (final == 'A') {
		s->y -= MIN(s->y, n ? n : 1);
	} else if (final == 'B') {
		s->y = MIN(s->y + (n ? n : 1), s->rows - 1);
	} else if (final == 'K' || final == 'J') {
		screen_clear(s, s->y, s->x);
		for (unsigned y = s->y + 1; final == 'J' && y < s->rows; y++)
			screen_clear(s, y, 0);
	} else {
		assert_true(final == 'm' || final == 'h' || final == 'l');
	}
}

static size_t screen_escape(struct screen *s, struct str bytes, size_t i)
{
	unsigned n = 0;

	if (bytes.p[i] == '7') {
		s->saved_x = s->x;
		s->saved_y = s->y;
		return i + 1;
	}
	if (bytes.p[i] == '8') {
		s->x = s->saved_x;
		s->y = s->saved_y;
		return i + 1;
	}
	assert_int_equal(bytes.p[i], '[');
	for (i++; bytes.p[i] < 0x40; i++)
		n = ascii_digit(bytes.p[i]) ? n * 10 + (unsigned)(bytes.p[i] - '0') : n;
	screen_csi(s, bytes.p[i], n);
	return i + 1;
}

static void screen_put(struct screen *s, uint32_t c)
{
	unsigned width = width_of(c);

	if (!width)
		return;
	if (s->x + width >= s->columns)
		s->wrapped = true;
	if (s->x + width > s->columns)
		return;
	s->cell[s->y][s->x++] = c;
	if (width == 2)
		s->cell[s->y][s->x++] = 0;
}

static void screen_write(struct screen *s, struct str bytes)
{
	uint32_t c;

	for (size_t i = 0; i < bytes.len;) {
		i += utf8_decode(bytes, i, &c);
		if (c == '\033') {
			i = screen_escape(s, bytes, i);
		} else if (c == '\r') {
			s->x = 0;
		} else if (c == '\n' && s->y == s->rows - 1) {
			screen_scroll(s);
		} else if (c == '\n') {
			s->y++;
		} else {
			assert_true(c >= 0x20 && c != UTF8_INVALID);
			screen_put(s, c);
		}
	}
}

/* All rows down to the last that is not blank. */
static void screen_text(const struct screen *s, struct buf *b)
{
	buf_add(b, buf_str(&s->history));
	size_t end = b->len;

	for (unsigned y = 0; y < s->rows; y++)
		if (screen_row(s, y, b))
			end = b->len;
	buf_truncate(b, end);
}

/* A view on a real terminal device, and the screen its bytes make. */
struct fixture {
	struct live_view *view;
	struct screen screen;
	struct buf text;
	int master, terminal;
	size_t bytes; /* how many came with the last look() */
};

static void setup(struct fixture *f, unsigned columns, unsigned rows)
{
	struct winsize size = { .ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows };

	*f = (struct fixture){ .screen = { .columns = columns, .rows = rows } };
	for (unsigned y = 0; y < rows; y++)
		screen_clear(&f->screen, y, 0);
	assert_int_equal(openpty(&f->master, &f->terminal, NULL, NULL, &size), 0);
	(void)fcntl(f->master, F_SETFL, O_NONBLOCK);
	unsetenv("TMUX"); /* terminal_reflows() asks for it */
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TERM", "xterm-256color", 1);
	f->view = live_view_new(f->terminal, true);
}

static void teardown(struct fixture *f)
{
	live_view_free(f->view);
	buf_done(&f->text);
	buf_done(&f->screen.history);
	close(f->master);
	close(f->terminal);
}

static const char *look(struct fixture *f)
{
	char bytes[65536];
	ssize_t n;

	f->bytes = 0;
	while ((n = read(f->master, bytes, sizeof(bytes))) > 0) {
		screen_write(&f->screen, (struct str){ bytes, (size_t)n });
		f->bytes += (size_t)n;
	}
	assert_false(f->screen.wrapped);
	buf_reset(&f->text);
	screen_text(&f->screen, &f->text);
	return buf_cstr(&f->text);
}

static struct event at(uint64_t ms, enum event_kind kind, const char *path)
{
	return (struct event){ .kind = kind, .mono_ms = 1000 + ms, .path = str_of(path) };
}

static void group(event_fn *to, void *data, const char *path, const char *label, uint64_t count)
{
	struct event e = at(0, EVENT_NODE_START, path);

	e.label = str_of(label);
	e.count = count;
	to(data, &e);
}

static void start(event_fn *to, void *data, uint64_t ms, const char *path, const char *label)
{
	struct event e = at(ms, EVENT_COMMAND_START, path);

	e.label = str_of(label);
	e.attempt = 1;
	to(data, &e);
}

static void output(event_fn *to, void *data, const char *path, const char *text)
{
	struct event e = at(0, EVENT_COMMAND_OUTPUT, path);

	e.output.bytes = str_of(text);
	to(data, &e);
}

static void done(event_fn *to, void *data, const char *path, bool ok)
{
	struct event e = at(0, EVENT_COMMAND_DONE, path);

	e.end.ok = ok;
	to(data, &e);
}

static void group_done(event_fn *to, void *data, const char *path)
{
	struct event e = at(0, EVENT_NODE_DONE, path);

	e.end.ok = true;
	to(data, &e);
}

static void tree_event(void *data, const struct event *e)
{
	live_tree_event(data, e);
}

static void assert_plain(struct str bytes, const char *expected)
{
	AUTO_BUF b = BUF_INIT;

	text_plain(&b, bytes);
	assert_string_equal(buf_cstr(&b), expected);
}

static void escape_sequences_and_controls_are_taken_out(void **state)
{
	(void)state;
	assert_plain(S("\033[1;31mred\033[0m"), "red");
	assert_plain(S("\033]0;title\atext"), "text");
	assert_plain(S("\033]8;;http://x\033\\link\033]8;;\033\\"), "link");
	assert_plain(S("\033(Bset \033=keys\033M"), "set keys");
	assert_plain(S("\033Pdevice\033\\control"), "control");
	assert_plain(S("a\tb\nc"), "a b c");
	assert_plain(S("\001\002x\177\000y"), "xy");
	assert_plain(S("\033[31"), "");
	assert_plain(S("\033]never closed\nnext"), " next");
	assert_plain(S("c1 \xc2\x9b"
		       "31m"),
		"c1 31m");
}

static void bytes_that_are_no_text_are_replaced(void **state)
{
	(void)state;
	assert_plain(S("a\xff"
		       "b"),
		"a\xef\xbf\xbd"
		"b");
	assert_plain(S("\xe6\x97"), "\xef\xbf\xbd");
	assert_plain(S("\xe6\x97x"), "\xef\xbf\xbdx");
	assert_plain(S("\xed\xa0\x80"), "\xef\xbf\xbd");
	assert_plain(S("日本"), "日本");
	assert_plain(S("a\xe2\x80\xaeleft\xef\xb8\x8f"), "aleft");
}

static void assert_last(const char *const *pieces, const char *expected)
{
	struct last_line l = { 0 };

	for (; *pieces; pieces++)
		last_line_feed(&l, str_of(*pieces));
	assert_int_equal(last_line_text(&l).len, strlen(expected));
	assert_memory_equal(last_line_text(&l).p, expected, strlen(expected));
	last_line_done(&l);
}

#define PIECES(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void the_last_line_that_says_anything_is_kept(void **state)
{
	(void)state;
	assert_last(PIECES("one\ntwo\n\n   \n"), "two");
	assert_last(PIECES("one\npart", "ial"), "partial");
	assert_last(PIECES("10%\r20%\r", "30%"), "30%");
	assert_last(PIECES("spin\033[2K\033[1Gnext"), "next");
	assert_last(PIECES("ab\b\bc"), "c");
	assert_last(PIECES("\xe6", "\x97", "\xa5\033[", "1mx\033", "[0m"), "日x");
	assert_last(PIECES("done\r\n"), "done");
	assert_last(PIECES("\033]unfinished", "more\n", "text"), "text");
}

static void a_flood_leaves_its_last_line(void **state)
{
	AUTO_BUF flood = BUF_INIT;
	struct last_line l = { 0 };

	(void)state;
	for (unsigned i = 0; i < 100000; i++)
		buf_printf(&flood, "line %u\n", i);
	last_line_feed(&l, buf_str(&flood));
	assert_true(str_eq(last_line_text(&l), S("line 99999")));
	buf_fill(&flood, '\n', 10000);
	last_line_feed(&l, buf_str(&flood));
	assert_true(str_eq(last_line_text(&l), S("line 99999")));
	buf_fill(&flood, 'x', 100000);
	last_line_feed(&l, buf_str(&flood));
	assert_in_range(last_line_text(&l).len, 500, 512);
	last_line_done(&l);
}

static void a_quick_run_leaves_no_trace(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 80, 24);
	start(live_view_event, f.view, 0, "0", "quick");
	live_view_tick(f.view, 1000);
	live_view_tick(f.view, 1299);
	done(live_view_event, f.view, "0", true);
	live_view_hide(f.view);
	assert_string_equal(look(&f), "");
	assert_int_equal(f.bytes, 0);
	teardown(&f);
}

static void the_tree_shows_groups_commands_and_totals(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 80, 24);
	group(live_view_event, f.view, ".", "all", 3);
	start(live_view_event, f.view, 0, "0", "first");
	done(live_view_event, f.view, "0", true);
	group(live_view_event, f.view, "1", "reviews", 4);
	start(live_view_event, f.view, 0, "1.0", "gpt");
	start(live_view_event, f.view, 2000, "1.1", "claude");
	start(live_view_event, f.view, 2000, "1.2", "broken");
	done(live_view_event, f.view, "1.2", false);
	output(live_view_event, f.view, "1.0", "\033[32mreading\033[0m src/a.c\n");
	live_view_tick(f.view, 13000);
	assert_string_equal(look(&f), "▾ all  1/3 done  0:12\n"
				      "  ▾ reviews  0/4 done, 1 failed  0:12\n"
				      "    ● gpt  0:12  reading src/a.c\n"
				      "    ● claude  0:10\n"
				      "    ✗ broken  exit 0  [1.2]\n"
				      "⠸ running 2, done 1, failed 1 · 0:12\n");
	teardown(&f);
}

static void what_failed_stays_when_its_group_has_ended(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 80, 24);
	group(live_view_event, f.view, ".", "all", 3);
	group(live_view_event, f.view, "0", "reviews", 2);
	start(live_view_event, f.view, 0, "0.0", "broken");
	start(live_view_event, f.view, 0, "0.1", "fine");
	done(live_view_event, f.view, "0.0", false);
	done(live_view_event, f.view, "0.1", true);
	group_done(live_view_event, f.view, "0");
	start(live_view_event, f.view, 0, "1", "next");
	live_view_tick(f.view, 13000);
	assert_string_equal(look(&f), "▾ all  1/3 done  0:12\n"
				      "  ✗ broken  exit 0  [0.0]\n"
				      "  ● next  0:12\n"
				      "⠸ running 1, done 1, failed 1 · 0:12\n");
	teardown(&f);
}

static void failures_that_do_not_fit_are_counted(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 80, 6);
	group(live_view_event, f.view, ".", "all", 10);
	for (int i = 0; i < 8; i++) {
		char path[8];

		(void)snprintf(path, sizeof(path), "%d", i);
		start(live_view_event, f.view, 0, path, "broken");
		done(live_view_event, f.view, path, false);
	}
	start(live_view_event, f.view, 0, "8", "next");
	live_view_tick(f.view, 13000);
	assert_string_equal(look(&f), "▾ all  0/10 done, 8 failed  0:12\n"
				      "  ✗ broken  exit 0  [0]\n"
				      "  ● next  0:12\n"
				      "… 7 more failed\n"
				      "⠸ running 1, done 0, failed 8 · 0:12\n");
	teardown(&f);
}

static void a_long_caption_leaves_room_for_a_short_line(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 40, 8);
	start(live_view_event, f.view, 0, "0", "a caption that is longer than the row is wide");
	output(live_view_event, f.view, "0", "42 %\n");
	live_view_tick(f.view, 3000);
	assert_string_equal(look(&f), "● a caption that is longer…  0:02  42 %\n"
				      "⠏ ●1 ✓0 0:02\n");
	teardown(&f);
}

static void a_retry_takes_its_failure_back(void **state)
{
	struct live_tree t;
	struct event e = at(10, EVENT_NODE_RETRY, "0");

	(void)state;
	live_tree_init(&t);
	group(tree_event, &t, ".", "", 2);
	start(tree_event, &t, 0, "0", "flaky");
	done(tree_event, &t, "0", false);
	assert_int_equal(t.failed, 1);
	e.attempt = 2;
	e.label = S("flaky");
	live_tree_event(&t, &e);
	assert_int_equal(t.failed, 0);
	assert_int_equal(live_tree_find(&t, S("."))->failed, 0);
	assert_int_equal(live_tree_find(&t, S("0"))->state, LIVE_WAITING);
	e.kind = EVENT_COMMAND_START;
	live_tree_event(&t, &e);
	assert_int_equal(t.running, 1);
	assert_int_equal(live_tree_find(&t, S("0"))->attempt, 2);
	done(tree_event, &t, "0", true);
	assert_int_equal(t.running, 0);
	assert_int_equal(live_tree_find(&t, S("."))->done, 1);
	live_tree_done(&t);
}

static void a_recovery_is_no_child_of_the_count(void **state)
{
	struct live_tree t;

	(void)state;
	live_tree_init(&t);
	group(tree_event, &t, ".", "", 2);
	group(tree_event, &t, "1", "", 2);
	start(tree_event, &t, 0, "1.recover", "clean");
	assert_string_equal(
		buf_cstr(&live_tree_find(&t, S("1.recover"))->caption), "recover: clean");
	done(tree_event, &t, "1.recover", true);
	assert_int_equal(live_tree_find(&t, S("1"))->done, 0);
	live_tree_done(&t);
}

static void what_a_cancel_ends_is_no_failure(void **state)
{
	struct live_tree t;
	struct event e = at(10, EVENT_RUN_CANCEL, "");

	(void)state;
	live_tree_init(&t);
	start(tree_event, &t, 0, "0", "");
	live_tree_event(&t, &e);
	done(tree_event, &t, "0", false);
	assert_int_equal(t.failed, 0);
	live_tree_done(&t);
}

static void start_many(struct fixture *f, unsigned count)
{
	char path[32];

	group(live_view_event, f->view, ".", "日本語の並列グループ", count);
	for (unsigned i = 0; i < count; i++) {
		(void)snprintf(path, sizeof(path), "%u", i);
		start(live_view_event, f->view, i, path, i % 2 ? "emoji 🎉🎉🎉🎉🎉🎉" : "長い名前の命令");
		output(live_view_event, f->view, path,
			"進捗 a long line of output that must be cut");
	}
}

static void what_does_not_fit_is_counted(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 20, 8);
	start_many(&f, 500);
	live_view_tick(f.view, 3000);
	assert_string_equal(look(&f), "▾ 日本語の…  0/500\n"
				      "  ● 長い名前…  0:02\n"
				      "  ● emoji 🎉…  0:01\n"
				      "  ● 長い名前…  0:01\n"
				      "  ● emoji 🎉…  0:01\n"
				      "… 496 more running\n"
				      "⠏ ●500 ✓0 0:02\n");
	teardown(&f);
}

static void no_size_of_the_terminal_breaks_a_row(void **state)
{
	(void)state;
	for (unsigned columns = 1; columns < 100; columns += 1 + columns / 8) {
		for (unsigned rows = 1; rows < 30; rows += 1 + rows / 3) {
			struct fixture f;

			setup(&f, columns, rows);
			start_many(&f, 20);
			live_view_tick(f.view, 5000);
			(void)look(&f);
			assert_true(f.screen.y < rows - 1 || rows == 1);
			live_view_hide(f.view);
			assert_string_equal(look(&f), "");
			teardown(&f);
		}
	}
}

static void hiding_leaves_only_what_was_printed(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 40, 10);
	screen_write(&f.screen, S("before\r\n"));
	start_many(&f, 30);
	live_view_tick(f.view, 2000);
	live_view_print(f.view, S("warning: \033[31mone\nand two"));
	done(live_view_event, f.view, "3", false);
	live_view_tick(f.view, 3000);
	assert_non_null(strstr(look(&f), "before\nwarning: one\nand two\n▾ "));
	for (unsigned i = 5; i < 30; i++) {
		char path[16];

		(void)snprintf(path, sizeof(path), "%u", i);
		done(live_view_event, f.view, path, true);
	}
	live_view_tick(f.view, 4000);
	live_view_hide(f.view);
	(void)look(&f);
	assert_int_equal(f.screen.x, 0);
	screen_write(&f.screen, S("result"));
	assert_string_equal(look(&f), "before\nwarning: one\nand two\nresult\n");
	teardown(&f);
}

static void nothing_is_written_when_nothing_changed(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 80, 24);
	start(live_view_event, f.view, 0, "0", "sleep");
	live_view_tick(f.view, 2000);
	(void)look(&f);
	live_view_tick(f.view, 2010); /* too early */
	live_view_tick(f.view, 2060); /* same second, same turn of the spinner */
	(void)look(&f);
	assert_int_equal(f.bytes, 0);
	live_view_tick(f.view, 2100);
	(void)look(&f);
	assert_in_range(f.bytes, 1, 100);
	teardown(&f);
}

static void an_ended_run_is_not_drawn_again(void **state)
{
	struct event e = at(0, EVENT_RUN_DONE, "");
	struct fixture f;

	(void)state;
	setup(&f, 80, 24);
	start(live_view_event, f.view, 0, "0", "sleep");
	live_view_tick(f.view, 2000);
	live_view_event(f.view, &e);
	live_view_hide(f.view);
	live_view_tick(f.view, 3000);
	assert_string_equal(look(&f), "");
	teardown(&f);
}

static void a_smaller_terminal_is_cleared_and_drawn_anew(void **state)
{
	struct winsize size = { .ws_col = 40, .ws_row = 24 };
	struct fixture f;

	(void)state;
	setenv("STY", "a terminal that does not wrap anew, like the one above", 1);
	setup(&f, 80, 24);
	unsetenv("STY");
	screen_write(&f.screen, S("before\r\n"));
	start_many(&f, 4);
	live_view_tick(f.view, 2000);
	(void)look(&f);
	assert_int_equal(ioctl(f.terminal, TIOCSWINSZ, &size), 0);
	live_view_resize(f.view);
	live_view_tick(f.view, 3000);
	(void)look(&f);
	for (unsigned y = 0; y < 24; y++)
		for (unsigned x = 39; x < 80; x++)
			assert_int_equal(f.screen.cell[y][x], ' ');
	live_view_hide(f.view);
	assert_string_equal(look(&f), "before\n");
	teardown(&f);
}

static void ascii_terminals_get_ascii(void **state)
{
	struct live_style style = { .ascii = true };
	struct live_tree t;
	AUTO_BUF b = BUF_INIT;

	(void)state;
	live_tree_init(&t);
	group(tree_event, &t, ".", "größer", 0);
	start(tree_event, &t, 0, "0", "日本");
	live_frame(&t, style, 80, 24, 1000, &b);
	assert_string_equal(buf_cstr(&b), "- gr??er  0 done  0:00\n"
					  "  * ????  0:00\n"
					  "- running 1, done 0 - 0:00");
	live_tree_done(&t);
}

static void memory_does_not_grow_with_what_has_ended(void **state)
{
	struct live_tree t;
	size_t after_warm_up = 0;
	char path[64];

	(void)state;
	live_tree_init(&t);
	group(tree_event, &t, ".", "", 0);
	for (unsigned i = 0; i < 50000; i++) {
		(void)snprintf(path, sizeof(path), "r%u", i);
		group(tree_event, &t, path, "", 2);
		struct event end = at(0, EVENT_NODE_DONE, path);
		(void)snprintf(path, sizeof(path), "r%u.0", i);
		start(tree_event, &t, 0, path, "x");
		output(tree_event, &t, path, "text\n");
		if (i % 2) /* the others are dropped with their group */
			done(tree_event, &t, path, true);
		(void)snprintf(path, sizeof(path), "r%u", i);
		live_tree_event(&t, &end);
		if (i == 1000)
			after_warm_up = mallinfo2().uordblks;
	}
	assert_int_equal(t.row_count, 1);
	assert_int_equal(t.running, 0);
	assert_int_equal(t.bucket_count, 64);
	assert_in_range(mallinfo2().uordblks, 0, after_warm_up + 4096);
	live_tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escape_sequences_and_controls_are_taken_out),
		cmocka_unit_test(bytes_that_are_no_text_are_replaced),
		cmocka_unit_test(the_last_line_that_says_anything_is_kept),
		cmocka_unit_test(a_flood_leaves_its_last_line),
		cmocka_unit_test(a_quick_run_leaves_no_trace),
		cmocka_unit_test(the_tree_shows_groups_commands_and_totals),
		cmocka_unit_test(what_failed_stays_when_its_group_has_ended),
		cmocka_unit_test(failures_that_do_not_fit_are_counted),
		cmocka_unit_test(a_long_caption_leaves_room_for_a_short_line),
		cmocka_unit_test(a_retry_takes_its_failure_back),
		cmocka_unit_test(a_recovery_is_no_child_of_the_count),
		cmocka_unit_test(what_a_cancel_ends_is_no_failure),
		cmocka_unit_test(what_does_not_fit_is_counted),
		cmocka_unit_test(no_size_of_the_terminal_breaks_a_row),
		cmocka_unit_test(hiding_leaves_only_what_was_printed),
		cmocka_unit_test(nothing_is_written_when_nothing_changed),
		cmocka_unit_test(an_ended_run_is_not_drawn_again),
		cmocka_unit_test(a_smaller_terminal_is_cleared_and_drawn_anew),
		cmocka_unit_test(ascii_terminals_get_ascii),
		cmocka_unit_test(memory_does_not_grow_with_what_has_ended),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
