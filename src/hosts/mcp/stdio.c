#include "hosts/mcp/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/runs.h"
#include "base/clock.h"
#include "base/file.h"
#include "hosts/mcp/lines.h"

enum { PIECE = 64 * 1024, LINE_LIMIT = 64 << 20, FLUSH_MS = 2000 };

/* One message that waits to be written. */
struct outgoing {
	struct list link;
	enum send_weight weight;
	struct buf text, key;
};

struct stdio {
	struct channel channel;
	struct session session;
	struct mcp *server;
	size_t most; /* bytes that may wait */
	int in, out;
	struct watch reading, writing;
	struct deferred more; /* of an input that is a file */
	struct lines lines;
	struct list queue;
	size_t queued, written; /* bytes of the queue; of its first message */
	bool over;              /* no more input */
	bool broken;            /* the client does not read any more */
};

/* -- writing -------------------------------------------------------------------------------------
 */

static void outgoing_free(struct stdio *s, struct outgoing *m)
{
	s->queued -= m->text.len;
	list_remove(&m->link);
	buf_done(&m->text);
	buf_done(&m->key);
	free(m);
}

static void give_up(struct stdio *s)
{
	s->broken = s->over = true;
	while (!list_empty(&s->queue))
		outgoing_free(s, list_entry(s->queue.next, struct outgoing, link));
	watch_stop(&s->writing);
	loop_wake(app_loop(s->server->app));
}

static void flush(struct stdio *s)
{
	while (!list_empty(&s->queue)) {
		struct outgoing *m = list_entry(s->queue.next, struct outgoing, link);
		ssize_t n = write(s->out, m->text.p + s->written, m->text.len - s->written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (!s->writing.loop)
				(void)watch_start(
					app_loop(s->server->app), &s->writing, s->out, EPOLLOUT);
			return;
		}
		if (n < 0) {
			give_up(s);
			return;
		}
		s->written += (size_t)n;
		if (s->written < m->text.len)
			continue;
		s->written = 0;
		outgoing_free(s, m);
	}
	watch_stop(&s->writing);
}

static void on_writable(struct watch *w, uint32_t events)
{
	(void)events;
	flush(container_of(w, struct stdio, writing));
}

/* A later progress about the same makes the earlier one worthless. The first message may be half
 * written. */
static bool replace(struct stdio *s, struct str text, struct str key)
{
	list_each_safe (link, &s->queue) {
		struct outgoing *m = list_entry(link, struct outgoing, link);

		if (m->weight == SEND_PROGRESS && str_eq(buf_str(&m->key), key) &&
			!(link == s->queue.next && s->written)) {
			s->queued -= m->text.len;
			buf_reset(&m->text);
			buf_add(&m->text, text);
			buf_addc(&m->text, '\n');
			s->queued += m->text.len;
			return true;
		}
	}
	return false;
}

static void drop_progress(struct stdio *s)
{
	list_each_safe (link, &s->queue) {
		struct outgoing *m = list_entry(link, struct outgoing, link);

		if (m->weight == SEND_PROGRESS && !(link == s->queue.next && s->written))
			outgoing_free(s, m);
	}
}

static void on_send(struct channel *c, struct str text, enum send_weight weight, struct str key)
{
	struct stdio *s = container_of(c, struct stdio, channel);

	if (s->broken)
		return;
	if (s->queued > s->most)
		drop_progress(s);
	if (s->queued > s->most && weight != SEND_PROGRESS) {
		mcp_log("the client does not read: %zu bytes wait", s->queued);
		give_up(s);
		return;
	}
	if (weight == SEND_PROGRESS && (replace(s, text, key) || s->queued > s->most))
		return;
	struct outgoing *m = mem_new(struct outgoing);
	m->weight = weight;
	buf_reserve(&m->text, text.len + 1);
	buf_add(&m->text, text);
	buf_addc(&m->text, '\n');
	buf_add(&m->key, key);
	list_append(&s->queue, &m->link);
	s->queued += m->text.len;
	if (!s->writing.loop)
		flush(s);
}

/* -- reading -------------------------------------------------------------------------------------
 */

static void on_line(void *data, struct str line)
{
	struct stdio *s = data;

	if (!s->broken)
		session_receive(&s->session, &s->channel, line);
}

static void on_too_long(void *data)
{
	struct stdio *s = data;

	session_refuse(&s->channel, RPC_REQUEST, S(""), "the line is too long");
}

static void end_of_input(struct stdio *s)
{
	watch_stop(&s->reading);
	deferred_stop(&s->more);
	if (!s->over && !s->broken)
		lines_end(&s->lines);
	s->over = true;
}

/* False: there is nothing more to read. */
static bool read_some(struct stdio *s)
{
	char piece[PIECE];
	ssize_t n = read(s->in, piece, sizeof(piece));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n > 0 && lines_feed(&s->lines, (struct str){ piece, (size_t)n }))
		return true;
	if (n > 0) {
		mcp_log("the input has no line ends");
		s->over = true;
	}
	end_of_input(s);
	return false;
}

static void on_readable(struct watch *w, uint32_t events)
{
	(void)events;
	(void)read_some(container_of(w, struct stdio, reading));
}

static void on_more(struct deferred *d)
{
	struct stdio *s = container_of(d, struct stdio, more);

	if (read_some(s))
		deferred_start(app_loop(s->server->app), d);
}

static bool on_signal(void *data, int signal)
{
	struct stdio *s = data;

	if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP && signal != SIGQUIT)
		return false;
	s->over = true;
	loop_wake(app_loop(s->server->app));
	return true;
}

/* -- all of it -----------------------------------------------------------------------------------
 */

int stdio_protect(void)
{
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	if (out < 0)
		return -errno;
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return -errno;
	return out;
}

/* A pipe or a socket that is not drained must not block us; other files do not. */
static int set_nonblocking(int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	return flags;
}

/* What waits is written, for a moment. */
static void drain(struct stdio *s)
{
	uint64_t until = clock_mono_ms() + FLUSH_MS;

	while (!list_empty(&s->queue) && !s->broken && clock_mono_ms() < until)
		if (app_turn(s->server->app, (int)(until - clock_mono_ms())) < 0)
			return;
}

int stdio_serve(struct mcp *m, int out, const struct stdio_options *o)
{
	struct stdio s = {
		.channel.send = on_send,
		.server = m,
		.most = o->queue,
		.in = STDIN_FILENO,
		.out = out,
		.reading.ready = on_readable,
		.writing.ready = on_writable,
		.more.call = on_more,
		.lines = { .max = o->line,
			.limit = MAX(o->line, (size_t)LINE_LIMIT),
			.line = on_line,
			.too_long = on_too_long,
			.data = &s },
	};
	struct loop *loop = app_loop(m->app);
	int flags = set_nonblocking(out);

	if (!loop)
		return 1;
	list_init(&s.queue);
	session_init(&s.session, m, &s.channel);
	(void)app_take_signals(m->app, on_signal, &s);
	if (watch_start(loop, &s.reading, s.in, EPOLLIN) < 0)
		deferred_start(loop, &s.more); /* a file: always ready */
	while (!s.over && app_turn(m->app, -1) >= 0)
		;
	end_of_input(&s);
	m->ending = true;
	session_end(&s.session);
	drain(&s);
	session_done(&s.session);
	give_up(&s);
	app_drop_signals(m->app);
	lines_done(&s.lines);
	if (flags >= 0)
		(void)fcntl(out, F_SETFL, flags);
	return 0;
}
