#include "app/record/control-socket.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "runs/mail/endpoint.h"

enum {
	READERS_MAX = 64,
	QUEUE_MAX = 4 << 20,   /* bytes that wait for one reader, before the last one */
	ANSWER_MAX = 64 << 10, /* of a line that a reader says */
};

/* One message on its way, shared by the readers that it goes to. */
struct letter {
	size_t holders; /* readers that have it in their lists */
	size_t taken;   /* readers whose socket took all of it, and who may still read it */
	bool delivered; /* that was told */
	bool returned;
	size_t id_len;
	struct buf text; /* id, then the line */
};

struct reader {
	struct list link;
	struct control *control;
	struct watch watch;
	/* Letters in order: the first `written` are in the kernel, perhaps unread. */
	VEC(struct letter *) letters;
	size_t written;
	size_t offset; /* in letters.at[written] */
	size_t queued; /* bytes that are not in the kernel */
	struct buf answer;
	bool deaf; /* its answers are no longer read */
};

struct control {
	struct loop *loop;
	struct watch watch;
	struct list readers;
	size_t reader_count;
	struct control_calls calls;
	struct deferred ready;
	int dir, fd;
	bool stopping;
};

static struct str letter_id(const struct letter *l)
{
	return str_sub(buf_str(&l->text), 0, l->id_len);
}

static struct str letter_line(const struct letter *l)
{
	return str_from(buf_str(&l->text), l->id_len);
}

static void letter_drop(struct control *c, struct letter *l)
{
	if (--l->holders)
		return;
	if (l->delivered && !l->returned && !c->stopping)
		c->calls.finished(c->calls.data, letter_id(l));
	buf_done(&l->text);
	free(l);
}

/* -- readers -------------------------------------------------------------------------------------
 */

/* Takes the first `count` letters off the list: they have been read. */
static void forget(struct reader *r, size_t count)
{
	for (size_t i = 0; i < count; i++)
		letter_drop(r->control, r->letters.at[i]);
	r->letters.len -= count;
	r->written -= count;
	memmove(r->letters.at, r->letters.at + count, r->letters.len * sizeof(*r->letters.at));
}

/* An empty socket means that everything written has been read. */
static void notice_reading(struct reader *r)
{
	int unread = 1;

	if (r->written && ioctl(r->watch.fd, SIOCOUTQ, &unread) == 0 && unread == 0)
		forget(r, r->written);
}

static void reader_free(struct reader *r)
{
	int fd = r->watch.fd;

	watch_stop(&r->watch);
	(void)close(fd);
	list_remove(&r->link);
	r->control->reader_count--;
	for (size_t i = 0; i < r->letters.len; i++)
		letter_drop(r->control, r->letters.at[i]);
	vec_done(&r->letters);
	buf_done(&r->answer);
	free(r);
}

/* It went away. `unread`: the kernel still had bytes that it never read; which letters they belong
 * to cannot be found out. */
static void reader_gone(struct reader *r, bool unread)
{
	struct control *c = r->control;
	VEC(struct letter *) back = { 0 };

	for (size_t i = 0; i < r->letters.len; i++) {
		struct letter *l = r->letters.at[i];
		bool read = i < r->written && !unread;

		if (i < r->written && unread)
			l->taken--;
		/* Others that have it on the way will bring it. */
		if (read || l->taken || l->holders > 1)
			continue;
		l->holders++;
		vec_push(&back, l);
	}
	reader_free(r);
	vec_each (l, &back) {
		(*l)->returned = true;
		c->calls.returned(c->calls.data, letter_id(*l));
		letter_drop(c, *l);
	}
	vec_done(&back);
	deferred_start(c->loop, &c->ready);
}

static void letter_written(struct reader *r, struct letter *l)
{
	const struct control_calls *calls = &r->control->calls;

	l->taken++;
	if (l->delivered)
		return;
	l->delivered = true;
	calls->delivered(calls->data, letter_id(l));
}

/* Writes until the socket is full. False: the reader went away. */
static bool reader_write(struct reader *r)
{
	while (r->written < r->letters.len) {
		struct letter *l = r->letters.at[r->written];
		struct str left = str_from(letter_line(l), r->offset);
		ssize_t n = send(r->watch.fd, left.p, left.len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK;
		r->offset += (size_t)n;
		r->queued -= (size_t)n;
		if ((size_t)n < left.len)
			continue;
		r->offset = 0;
		r->written++;
		letter_written(r, l);
	}
	return true;
}

static void tell_lines(struct reader *r)
{
	struct str all = buf_str(&r->answer);
	size_t from = 0;

	for (size_t end; (end = str_find(all, '\n', from)) < all.len; from = end + 1)
		if (end - from <= ANSWER_MAX)
			r->control->calls.said(
				r->control->calls.data, str_sub(all, from, end - from));
	struct str rest = str_from(all, from);
	AUTO_BUF kept = BUF_INIT;
	/* Too long for an answer: its beginning is enough to see that when its end comes. */
	buf_add(&kept, str_sub(rest, 0, MIN(rest.len, (size_t)ANSWER_MAX + 1)));
	buf_swap(&r->answer, &kept);
}

/* Reads what it says until there is nothing more. False: the reader went away. */
static bool reader_read(struct reader *r)
{
	char text[4096];

	while (!r->deaf) {
		ssize_t n = recv(r->watch.fd, text, sizeof(text), MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK;
		r->deaf = n == 0; /* it may still listen */
		buf_add(&r->answer, (struct str){ text, (size_t)n });
		tell_lines(r);
	}
	return true;
}

static void on_reader(struct watch *w, uint32_t events)
{
	struct reader *r = container_of(w, struct reader, watch);
	struct control *c = r->control;

	/* What it said before it went still counts. */
	bool here = reader_read(r);
	if (!here || events & (EPOLLHUP | EPOLLERR)) {
		int error = 0;
		socklen_t len = sizeof(error);

		/* The kernel reports the error only once. */
		(void)getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &error, &len);
		reader_gone(r, !here || error == ECONNRESET);
		return;
	}
	bool had = r->queued > 0;
	if (!reader_write(r)) {
		reader_gone(r, true);
		return;
	}
	notice_reading(r);
	if (had && r->queued < QUEUE_MAX)
		deferred_start(c->loop, &c->ready);
}

static void reader_new(struct control *c, int fd)
{
	struct reader *r = mem_new(struct reader);

	r->control = c;
	r->watch.ready = on_reader;
	list_append(&c->readers, &r->link);
	c->reader_count++;
	/* Edges, so that what is watched for never has to change. */
	if (watch_start(c->loop, &r->watch, fd, EPOLLIN | EPOLLOUT | EPOLLET) < 0) {
		r->watch.fd = fd;
		reader_free(r);
		return;
	}
	deferred_start(c->loop, &c->ready);
}

/* -- the socket ----------------------------------------------------------------------------------
 */

static void on_connect(struct watch *w, uint32_t events)
{
	struct control *c = container_of(w, struct control, watch);

	(void)events;
	for (;;) {
		int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0)
			return;
		if (c->reader_count < READERS_MAX)
			reader_new(c, fd);
		else
			(void)close(fd);
	}
}

static void on_ready(struct deferred *d)
{
	struct control *c = container_of(d, struct control, ready);

	if (c->reader_count)
		c->calls.ready(c->calls.data);
}

/* The path of a socket has 107 bytes, that of a run may have more: go by the directory's
 * descriptor. */
static int bind_socket(struct control *c)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;

	if (fstatat(c->dir, SOCKET_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (!S_ISSOCK(st.st_mode))
			return -EEXIST;
		(void)unlinkat(c->dir, SOCKET_FILE, 0);
	}
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" SOCKET_FILE,
		c->dir);
	if (bind(c->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	/* The directory is the owner's alone; the socket is too. */
	if (fchmodat(c->dir, SOCKET_FILE, 0600, 0) < 0 || listen(c->fd, SOMAXCONN) < 0) {
		int error = errno;

		(void)unlinkat(c->dir, SOCKET_FILE, 0);
		return -error;
	}
	return 0;
}

static void control_free(struct control *c)
{
	close_fd(&c->fd);
	close_fd(&c->dir);
	free(c);
}

int control_start(
	struct loop *l, const char *dir, const struct control_calls *calls, struct control **ret)
{
	struct control *c = mem_new(struct control);
	int r = 0;

	c->loop = l;
	c->calls = *calls;
	c->ready.call = on_ready;
	c->watch.ready = on_connect;
	list_init(&c->readers);
	c->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->dir < 0 || c->fd < 0)
		r = -errno;
	if (r == 0)
		r = bind_socket(c);
	if (r == 0) {
		/* An edge: with no descriptor left, a level would wake the loop for ever. */
		r = watch_start(l, &c->watch, c->fd, EPOLLIN | EPOLLET);
		if (r < 0)
			(void)unlinkat(c->dir, SOCKET_FILE, 0);
	}
	if (r < 0) {
		control_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

void control_stop(struct control *c)
{
	if (!c)
		return;
	c->stopping = true;
	list_each_safe (link, &c->readers)
		reader_free(list_entry(link, struct reader, link));
	deferred_stop(&c->ready);
	watch_stop(&c->watch);
	(void)unlinkat(c->dir, SOCKET_FILE, 0);
	control_free(c);
}

size_t control_readers(const struct control *c)
{
	return c->reader_count;
}

bool control_push(struct control *c, struct str id, struct str line)
{
	struct letter *l = mem_new(struct letter);
	bool taken = false;

	l->holders = 1; /* this call */
	l->id_len = id.len;
	buf_add(&l->text, id);
	buf_add(&l->text, line);
	buf_addc(&l->text, '\n');
	list_each_safe (link, &c->readers) {
		struct reader *r = list_entry(link, struct reader, link);

		if (r->queued >= QUEUE_MAX)
			continue;
		notice_reading(r);
		vec_push(&r->letters, l);
		l->holders++;
		r->queued += line.len + 1;
		taken = true;
	}
	if (taken)
		list_each_safe (link, &c->readers) {
			struct reader *r = list_entry(link, struct reader, link);

			/* One that went away is noticed by its watch. */
			(void)reader_write(r);
		}
	letter_drop(c, l);
	return taken;
}
