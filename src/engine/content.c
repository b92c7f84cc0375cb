#include "engine/content.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum kind { IN_MEMORY, IN_FILE, IN_SPOOL, IN_PIECES, GONE };

struct content {
	unsigned references;
	enum kind kind;
	uint64_t size;
	off_t offset; /* IN_FILE, IN_SPOOL */
	int fd;       /* IN_FILE: owned; IN_SPOOL: the store's; IN_PIECES: written out, or -1 */
	bool counted; /* in the store's budget */
	bool temp;    /* the store may have the file back */
	struct store *store;
	union {
		char *bytes;                   /* IN_MEMORY: owned */
		struct content_pieces *pieces; /* IN_PIECES: owned */
	};
};

static struct content *new_content(enum kind kind, uint64_t size)
{
	struct content *c = mem_new(struct content);

	c->references = 1;
	c->kind = kind;
	c->size = size;
	c->fd = -1;
	return c;
}

struct content *content_ref(struct content *c)
{
	if (c)
		c->references++;
	return c;
}

static void uncount(struct content *c)
{
	if (!c->counted)
		return;
	c->counted = false;
	if (c->kind == IN_MEMORY)
		c->store->memory_bytes -= c->size + CONTENT_OVERHEAD;
	else
		c->store->file_count--;
}

/* Whether no other process has the file open, as a leftover command may: only then the kernel gives
 * a lease. */
static bool ours_alone(int fd)
{
	return fcntl(fd, F_SETLEASE, F_WRLCK) == 0 && fcntl(fd, F_SETLEASE, F_UNLCK) == 0;
}

static void give_back(struct store *s, int *fd)
{
	if (s->spare < 0 && ours_alone(*fd))
		s->spare = take_fd(fd);
}

static void drop_bytes(struct content *c)
{
	uncount(c);
	if (c->kind == IN_MEMORY)
		free(c->bytes);
	if (c->kind == IN_PIECES) {
		c->pieces->done(c->pieces->data);
		free(c->pieces);
	}
	if (c->kind == IN_SPOOL)
		return;
	if (c->temp)
		give_back(c->store, &c->fd);
	close_fd(&c->fd);
}

void content_unref(struct content *c)
{
	if (!c || --c->references)
		return;
	drop_bytes(c);
	free(c);
}

struct content *content_from_buf(struct buf *b)
{
	if (!b->len) {
		buf_done(b);
		return NULL;
	}
	struct content *c = new_content(IN_MEMORY, b->len);
	c->bytes = buf_take(b);
	return c;
}

struct content *content_from_fd(int fd, off_t offset, uint64_t size)
{
	struct content *c = new_content(IN_FILE, size);

	c->fd = fd;
	c->offset = offset;
	return c;
}

struct content *content_gone(uint64_t size)
{
	return new_content(GONE, size);
}

void content_place(const struct content *c, struct buf *ret)
{
	char link[40], path[4096];

	if (!c || c->kind != IN_FILE)
		return;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", c->fd);
	ssize_t n = readlink(link, path, sizeof(path));
	buf_add(ret, (struct str){ path, n > 0 ? (size_t)n : 0 });
}

struct content *content_from_temp(int fd, uint64_t size, struct store *s)
{
	(void)!ftruncate(fd, (off_t)size);
	struct content *c = content_from_fd(fd, 0, size);
	c->temp = true;
	c->store = s;
	return c;
}

struct content *content_from_pieces(const struct content_pieces *pieces)
{
	struct content *c = new_content(IN_PIECES, pieces->size);

	c->pieces = mem_dup(pieces, sizeof(*pieces));
	return c;
}

uint64_t content_size(const struct content *c)
{
	return c ? c->size : 0;
}

/* -- writing out ---------------------------------------------------------------------------------
 */

int content_put_str(struct content_out *out, struct str s)
{
	if (out->fd < 0) {
		buf_add(out->buf, s);
		return 0;
	}
	return fd_write_all(out->fd, s);
}

/* Without a copy through our memory where the kernel can: file to file, file to pipe or socket. */
static int copy_range(int from, off_t offset, uint64_t size, int to)
{
	bool may_copy = true;

	while (size) {
		size_t step = MIN(size, (uint64_t)1 << 30);
		ssize_t n = may_copy ? copy_file_range(from, &offset, to, NULL, step, 0)
				     : sendfile(to, from, &offset, step);

		if (n < 0 && may_copy && errno != EINTR && errno != ENOSPC && errno != EIO) {
			may_copy =
				false; /* `to` is not a regular file, or appends, or is elsewhere */
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO; /* the file was cut meanwhile */
		size -= (uint64_t)n;
	}
	return 0;
}

static int read_range(int from, off_t offset, uint64_t size, struct buf *ret)
{
	buf_reserve(ret, size);
	while (size) {
		ssize_t n = fd_read_at(from, ret->p + ret->len, size, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		ret->len += (size_t)n;
		ret->p[ret->len] = '\0';
		offset += n;
		size -= (uint64_t)n;
	}
	return 0;
}

int content_put(struct content_out *out, struct content *c)
{
	if (!c)
		return 0;
	switch (c->kind) {
	case IN_MEMORY:
		return content_put_str(out, (struct str){ c->bytes, c->size });
	case IN_PIECES:
		if (c->fd < 0)
			return c->pieces->write(c->pieces->data, out);
		break;
	case GONE:
		return -ESTALE;
	case IN_FILE:
	case IN_SPOOL:
		break;
	}
	if (out->fd < 0)
		return read_range(c->fd, c->offset, c->size, out->buf);
	return copy_range(c->fd, c->offset, c->size, out->fd);
}

int content_write(struct content *c, int fd)
{
	return content_put(&(struct content_out){ .fd = fd }, c);
}

int content_write_from(struct content *c, uint64_t from, int fd)
{
	if (!from || !c || c->kind == IN_PIECES)
		return content_write(c, fd);
	if (from >= c->size)
		return 0;
	if (c->kind == IN_MEMORY)
		return fd_write_all(fd, (struct str){ c->bytes + from, c->size - from });
	return copy_range(c->fd, c->offset + (off_t)from, c->size - from, fd);
}

static int to_file(struct content *c)
{
	AUTO_CLOSE int fd = file_temp();

	if (fd < 0)
		return fd;
	int r = content_write(c, fd);
	return r < 0 ? r : take_fd(&fd);
}

static int part(struct content *c, uint64_t from, size_t len, struct buf *ret)
{
	if (!len)
		return 0;
	if (c->kind == IN_MEMORY) {
		buf_add(ret, (struct str){ c->bytes + from, len });
		return 0;
	}
	if (c->kind == GONE)
		return -ESTALE;
	if (c->kind == IN_PIECES && c->fd < 0) {
		if (c->size <= CONTENT_MEMORY_MAX) {
			AUTO_BUF all = BUF_INIT;
			int r = content_put(&(struct content_out){ -1, &all }, c);

			if (r == 0)
				buf_add(ret, str_sub(buf_str(&all), from, len));
			return r;
		}
		c->fd = to_file(c);
		if (c->fd < 0)
			return c->fd;
	}
	return read_range(c->fd, c->offset + (off_t)from, len, ret);
}

int content_part(struct content *c, uint64_t from, size_t max, struct buf *ret)
{
	uint64_t size = content_size(c);

	return from < size ? part(c, from, (size_t)MIN((uint64_t)max, size - from), ret) : 0;
}

int content_head(struct content *c, size_t max, struct buf *ret)
{
	return part(c, 0, (size_t)MIN((uint64_t)max, content_size(c)), ret);
}

int content_tail(struct content *c, size_t max, struct buf *ret)
{
	size_t len = (size_t)MIN((uint64_t)max, content_size(c));

	return part(c, content_size(c) - len, len, ret);
}

/* -- reading -------------------------------------------------------------------------------------
 */

static int null_reader(struct store *s)
{
	if (s->null < 0)
		s->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return s->null < 0 ? -errno : s->null;
}

/* Small enough for the pipe's own room, so writing cannot block. */
static int pipe_reader(struct content *c)
{
	AUTO_BUF bytes = BUF_INIT;
	int ends[2];
	int r = content_put(&(struct content_out){ -1, &bytes }, c);

	if (r < 0)
		return r;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	/* A pipe has room for it, unless the user has so many that the kernel makes smaller ones.
	 */
	(void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
	ssize_t n = write(ends[1], bytes.p, bytes.len);
	close_fd(&ends[1]);
	if (n == (ssize_t)bytes.len)
		return ends[0];
	close_fd(&ends[0]);
	r = to_file(c);
	if (r >= 0)
		(void)lseek(r, 0, SEEK_SET);
	return r;
}

/* The file itself, opened anew so that every reader has an offset of its own. */
static int file_reader(struct content *c)
{
	char path[40];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", c->fd);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (c->offset && lseek(fd, c->offset, SEEK_SET) < 0) {
			int error = -errno;

			close_fd(&fd);
			return error;
		}
		return fd;
	}
	/* No /proc: a copy of its own for this reader. */
	fd = to_file(c);
	if (fd >= 0)
		(void)lseek(fd, 0, SEEK_SET);
	return fd;
}

int content_reader(struct content *c, struct store *s, bool *owned)
{
	*owned = c != NULL;
	if (!c)
		return null_reader(s);
	if (c->size <= CONTENT_PIPE_MAX)
		return pipe_reader(c);
	if (c->kind == IN_FILE)
		return file_reader(c);
	/* A piece of the shared file ends before the file does, and the others have no file: make
	 * one. Pieces remember it for the next reader. */
	if (c->kind == IN_PIECES && c->fd >= 0)
		return file_reader(c);
	int fd = to_file(c);
	if (fd < 0)
		return fd;
	if (c->kind != IN_PIECES) {
		(void)lseek(fd, 0, SEEK_SET);
		return fd;
	}
	c->fd = fd;
	return file_reader(c);
}

/* -- keeping -------------------------------------------------------------------------------------
 */

void store_done(struct store *s)
{
	close_fd(&s->spool);
	close_fd(&s->spare);
	close_fd(&s->null);
}

int store_file(struct store *s)
{
	if (s->spare >= 0 && lseek(s->spare, 0, SEEK_SET) == 0)
		return take_fd(&s->spare);
	int fd = file_temp();
	/* Readers open it anew; only root may open it for writing and spoil it for the
	 * others. */
	if (fd >= 0)
		(void)fchmod(fd, 0400);
	return fd;
}

static bool spool(struct content *c, struct store *s)
{
	if (s->spool < 0)
		s->spool = file_temp();
	int r = s->spool < 0 ? s->spool : 0;
	if (r == 0 && lseek(s->spool, s->spool_bytes, SEEK_SET) < 0)
		r = -errno;
	if (r == 0)
		r = content_write(c, s->spool);
	if (r < 0) {
		s->error = s->error ? s->error : -r;
		return false;
	}
	drop_bytes(c);
	c->kind = IN_SPOOL;
	c->fd = s->spool;
	c->offset = s->spool_bytes;
	s->spool_bytes += (off_t)c->size;
	return true;
}

struct content *content_keep(struct content *c, struct store *s)
{
	if (!c || c->counted || c->kind == IN_SPOOL || c->kind == IN_PIECES || c->kind == GONE)
		return c;
	bool fits = c->kind == IN_MEMORY
			    ? s->memory_bytes + c->size + CONTENT_OVERHEAD <= STORE_MEMORY_MAX
			    : s->file_count < STORE_FILES_MAX;
	if (!fits && spool(c, s))
		return c;
	c->counted = true;
	c->store = s;
	if (c->kind == IN_MEMORY)
		s->memory_bytes += c->size + CONTENT_OVERHEAD;
	else
		s->file_count++;
	return c;
}
