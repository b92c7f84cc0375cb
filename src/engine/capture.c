#include "engine/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum {
	PIPE_LARGE = 1024 * 1024,
	PIPE_BUSY = 4096,  /* bytes moved at once that mark a busy writer … */
	PIPE_FAST = 65536, /* … and one that has more by now */
	ROUNDS = 16,       /* reads before others get their turn */
};

static void end(struct capture *c)
{
	capture_close(c);
	c->ended(c);
}

/* Most pipes are read once, when there is something, and once more at their end, and need no call
 * for this. */
static void set_nonblocking(struct capture *c)
{
	if (c->fd >= 0 && !c->nonblocking)
		(void)fcntl(c->fd, F_SETFL, O_NONBLOCK);
	c->nonblocking = true;
}

/* The pipe's bytes can no longer be kept: they are still read, so that the command is not held up
 * until it is ended, but keep nothing. */
static void give_up(struct capture *c, int error)
{
	if (!c->error)
		c->error = error;
}

static void keep_ends(struct capture *c, struct str data)
{
	size_t room = CAPTURE_END - MIN(c->head.len, (size_t)CAPTURE_END);
	struct str first = str_sub(data, 0, MIN(room, data.len));

	buf_add(&c->head, first);
	data = str_from(data, first.len);
	if (data.len > CAPTURE_END)
		data = str_from(data, data.len - CAPTURE_END);
	while (data.len) {
		if (c->tail.len < CAPTURE_END) {
			struct str piece =
				str_sub(data, 0, MIN(data.len, CAPTURE_END - c->tail.len));

			buf_add(&c->tail, piece);
			data = str_from(data, piece.len);
			c->tail_at = c->tail.len % CAPTURE_END;
			continue;
		}
		struct str piece = str_sub(data, 0, MIN(data.len, CAPTURE_END - c->tail_at));
		memcpy(c->tail.p + c->tail_at, piece.p, piece.len);
		c->tail_at = (c->tail_at + piece.len) % CAPTURE_END;
		data = str_from(data, piece.len);
	}
}

/* Into the file under a name, as it comes. */
static void keep_named(struct capture *c, struct str data)
{
	int r = 0;

	if (c->file < 0) {
		c->file = c->open(c);
		r = c->file < 0 ? c->file : fd_write_all(c->file, buf_str(&c->head));
	}
	r = r < 0 ? r : fd_write_all(c->file, data);
	if (r < 0)
		give_up(c, -r);
}

static void spill(struct capture *c)
{
	int r = 0;

	if (c->file < 0) {
		c->file = store_file(c->store);
		c->temp = true;
		r = c->file < 0 ? c->file : fd_write_all(c->file, buf_str(&c->head));
	}
	if (r < 0)
		give_up(c, -r);
	c->moved = true;
	buf_done(&c->head);
	/* A larger pipe means fewer turns; the kernel may say no, and that is fine. */
	(void)fcntl(c->fd, F_SETPIPE_SZ, PIPE_LARGE);
	set_nonblocking(c);
}

/* Past the limit it is read all the same, so that the command is not held up. */
static bool drop(struct capture *c)
{
	char chunk[16384];
	ssize_t n = read(c->fd, chunk, sizeof(chunk));

	if (n > 0) {
		c->cut = true;
		c->came(c, (struct str){ chunk, (size_t)n });
	} else if (n == 0) {
		end(c);
	}
	return n > 0 || (n < 0 && errno == EINTR);
}

/* -- from pipe to file ---------------------------------------------------------------------------
 */

static void close_pipe(struct capture_room *room)
{
	if (!room->piped)
		return;
	close_fd(&room->pipe[0]);
	close_fd(&room->pipe[1]);
	room->piped = false;
}

void capture_room_done(struct capture_room *room)
{
	close_pipe(room);
	free(room->chunk);
	room->chunk = NULL;
}

static bool open_pipe(struct capture_room *room)
{
	if (!room->piped && pipe2(room->pipe, O_CLOEXEC) == 0) {
		(void)fcntl(room->pipe[1], F_SETPIPE_SZ, PIPE_LARGE);
		room->piped = true;
	}
	return room->piped;
}

/* Whatever the pipe between has goes into the file. -errno: the rest of it is lost. */
static int pour(struct capture *c, size_t bytes)
{
	while (bytes) {
		ssize_t n = splice(c->room->pipe[0], NULL, c->file, NULL, bytes, SPLICE_F_MOVE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int e = n < 0 ? -errno : -EIO;

			close_pipe(c->room);
			return e;
		}
		bytes -= (size_t)n;
	}
	return 0;
}

/* While pages are copied from a pipe to a file the pipe is locked, and who writes to it waits. So
 * they first go to a pipe of ours, for which nothing is copied, and the command fills its own again
 * while that is emptied. As splice(): how much was moved, 0 at the end, -1 with errno. */
static ssize_t pass_on(struct capture *c, size_t most)
{
	const unsigned flags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;

	bool ours = open_pipe(c->room);
	ssize_t n = splice(c->fd, NULL, ours ? c->room->pipe[1] : c->file, NULL, most, flags);
	int r = ours && n > 0 ? pour(c, (size_t)n) : 0;
	c->bytes += r == 0 && n > 0 ? (uint64_t)n : 0;
	if (r == 0)
		return n;
	errno = -r;
	return -1;
}

/* Moves what the pipe holds into the file without reading it. False: nothing there now. */
static bool move(struct capture *c)
{
	size_t room =
		c->limit ? (size_t)MIN(c->limit - c->bytes, (uint64_t)PIPE_LARGE) : PIPE_LARGE;
	if (!room)
		return drop(c);
	ssize_t n = pass_on(c, room);

	if (n > 0) {
		c->came(c, S(""));
		return true;
	}
	if (n == 0) {
		end(c);
		return false;
	}
	if (errno == EINTR)
		return true;
	if (errno != EAGAIN)
		give_up(c, errno);
	return false;
}

/* Reads one chunk. False: nothing there now, or ended. */
static bool take(struct capture *c)
{
	if (!c->room->chunk)
		c->room->chunk = mem_alloc(CAPTURE_CHUNK);
	ssize_t n = read(c->fd, c->room->chunk, CAPTURE_CHUNK);

	if (n < 0)
		return errno == EINTR;
	if (n == 0) {
		end(c);
		return false;
	}
	struct str data = { c->room->chunk, (size_t)n };
	struct str all = data;
	if (c->limit && data.len > c->limit - c->bytes) {
		data.len = (size_t)(c->limit - c->bytes);
		c->cut = true;
	}
	c->bytes += data.len;
	if (c->open && !c->error && data.len && c->bytes > c->open_from)
		keep_named(c, data);
	if (c->mode == CAPTURE_ENDS) {
		keep_ends(c, data);
	} else if (!c->error) {
		buf_add(&c->head, data);
		if (c->head.len > CONTENT_MEMORY_MAX)
			spill(c);
	}
	c->came(c, all);
	return true;
}

static void read_on(struct capture *c)
{
	for (int round = 0; c->fd >= 0 && round < ROUNDS; round++)
		if (c->moved && !c->error ? !move(c) : !take(c))
			break;
}

void capture_drain(struct capture *c)
{
	/* A leftover process may still hold the other end: reading must not wait for it. */
	set_nonblocking(c);
	read_on(c);
}

/* A busy writer that has written little so far is left alone for a moment; one that is fast has
 * filled its pipe again. */
static bool is_busy(uint64_t moved)
{
	return moved >= PIPE_BUSY && moved < PIPE_FAST;
}

static void on_ready(struct watch *w, uint32_t events)
{
	struct capture *c = container_of(w, struct capture, watch);

	uint64_t before = c->bytes;

	/* A pipe that was just emptied has no more, unless its end is there to be read: then
	 * reading never waits. Of one that is empty and has no writer only the end is left. */
	if ((events & (EPOLLHUP | EPOLLIN)) == EPOLLHUP)
		end(c);
	else if (events & EPOLLHUP)
		read_on(c);
	else if (!c->moved || c->error)
		(void)take(c);
	else if (move(c) && is_busy(c->bytes - before))
		loop_rest(w->loop);
}

int capture_open(struct capture *c, enum capture_mode mode, int *child_end)
{
	int ends[2];

	c->fd = c->file = -1;
	c->nonblocking = false;
	c->mode = mode;
	c->watch.ready = on_ready;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	c->fd = ends[0];
	*child_end = ends[1];
	return 0;
}

void capture_watch(struct loop *l, struct capture *c)
{
	if (c->fd < 0 || c->watch.loop)
		return;
	int r = watch_start(l, &c->watch, c->fd, EPOLLIN);
	if (r < 0) {
		give_up(c, -r);
		c->came(c, S(""));
	}
}

void capture_close(struct capture *c)
{
	watch_stop(&c->watch);
	close_fd(&c->fd);
}

void capture_done(struct capture *c)
{
	capture_close(c);
	close_fd(&c->file);
	buf_done(&c->head);
	buf_done(&c->tail);
}

struct content *capture_take(struct capture *c)
{
	if (c->moved)
		return c->temp ? content_from_temp(take_fd(&c->file), c->bytes, c->store)
			       : content_from_fd(take_fd(&c->file), 0, c->bytes);
	return content_from_buf(&c->head);
}

struct str capture_head(const struct capture *c)
{
	return buf_str(&c->head);
}

void capture_tail(const struct capture *c, struct buf *ret)
{
	struct str ring = buf_str(&c->tail);
	size_t missing = CAPTURE_END - ring.len;

	/* What the ring has no room for yet is still the end of the head. */
	struct str head = buf_str(&c->head);
	if (missing && head.len)
		buf_add(ret, str_from(head, head.len - MIN(head.len, missing)));
	if (ring.len == CAPTURE_END) {
		buf_add(ret, str_from(ring, c->tail_at));
		buf_add(ret, str_sub(ring, 0, c->tail_at));
	} else {
		buf_add(ret, ring);
	}
}
