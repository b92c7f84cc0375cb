#include "runs/dir/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "runs/dir/open.h"

/* What markers begin with, as line_log_rotate() writes them. */
#define MARKER_START "{\"type\":\"" LINES_MARKER "\",\"dropped\":{\"bytes\":"

enum { CHUNK = 64 * 1024, MARKER_BYTES = 256 };

/* NAME.jsonl → NAME.1.jsonl */
void lines_rotated_path(struct buf *b, const char *path)
{
	const char *dot = strrchr(path, '.');
	size_t stem = dot ? (size_t)(dot - path) : strlen(path);

	buf_printf(b, "%.*s.1%s", (int)stem, path, path + stem);
}

/* -- writing -------------------------------------------------------------------------------------
 */

void line_log_init(struct line_log *l, const char *dir, const char *name, size_t limit)
{
	*l = (struct line_log){ .limit = limit, .fd = -1 };
	buf_printf(&l->path, "%s/%s", dir, name);
}

void line_log_done(struct line_log *l)
{
	close_fd(&l->fd);
	buf_done(&l->path);
}

/* Opens the file that has the name now and says how long it is. */
static int reach(struct line_log *l, off_t *ret_size)
{
	struct stat st;

	if (l->fd >= 0 && stat(buf_cstr(&l->path), &st) == 0 && st.st_dev == l->dev &&
		st.st_ino == l->ino) {
		*ret_size = st.st_size;
		return 0;
	}
	close_fd(&l->fd);
	int fd = run_open_path(buf_cstr(&l->path), O_RDWR | O_APPEND | O_CREAT);
	if (fd < 0)
		return fd;
	l->fd = fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	l->end = 0;
	*ret_size = st.st_size;
	return 0;
}

int line_log_open(struct line_log *l)
{
	off_t size;

	return reach(l, &size);
}

/* Whether the file ends in the middle of a line. After our own last write it does not. */
static bool torn(const struct line_log *l, off_t size)
{
	char last = '\n';

	return size != l->end && size > 0 && fd_read_at(l->fd, &last, 1, size - 1) == 1 &&
	       last != '\n';
}

static bool too_long(const struct line_log *l, off_t size, size_t more)
{
	return size > 0 && l->limit && (uint64_t)size + more + 2 > l->limit;
}

bool line_log_full(const struct line_log *l, size_t bytes)
{
	struct stat st;

	return stat(buf_cstr(&l->path), &st) == 0 && too_long(l, st.st_size, bytes);
}

static int append_once(struct line_log *l, struct str line, off_t size)
{
	bool heal = torn(l, size);
	struct iovec parts[] = {
		{ (void *)"\n", heal },
		{ (void *)line.p, line.len },
		{ (void *)"\n", 1 },
	};
	size_t all = heal + line.len + 1;
	ssize_t n;

	do {
		n = writev(l->fd, parts, ARRAY_SIZE(parts));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	l->end = size + (off_t)all;
	if ((size_t)n == all)
		return 0;
	/* The disk is full, or a signal came: the rest, or the reason why it does not go. */
	l->end = 0;
	size_t done = (size_t)n - MIN((size_t)n, (size_t)heal);
	int r = fd_write_all(l->fd, str_from(line, MIN(done, line.len)));
	return r < 0 ? r : fd_write_all(l->fd, S("\n"));
}

/* Between looking and writing it may have been rotated twice. */
static bool dropped_meanwhile(const struct line_log *l)
{
	struct stat st;

	return fstat(l->fd, &st) == 0 && st.st_nlink == 0;
}

int line_log_append(struct line_log *l, struct str line)
{
	off_t size = 0;
	int r;

	if (str_find(line, '\n', 0) < line.len)
		return -EINVAL;
	do {
		r = reach(l, &size);
		if (r == 0 && too_long(l, size, line.len)) {
			/* A file that cannot be rotated grows: a message must not be lost. */
			(void)line_log_rotate(l, S(""));
			r = reach(l, &size);
		}
		if (r == 0)
			r = append_once(l, line, size);
		/* A file that is far from its limit is not rotated. */
	} while (r == 0 && l->limit && (uint64_t)size > l->limit / 2 && dropped_meanwhile(l));
	return r;
}

int lines_drop_cut(int fd)
{
	char chunk[4096];
	off_t end = lseek(fd, 0, SEEK_END), at = end;

	if (end < 0)
		return -errno;
	while (at > 0) {
		off_t from = MAX(at - (off_t)sizeof(chunk), (off_t)0);
		ssize_t n = fd_read_at(fd, chunk, (size_t)(at - from), from);

		/* Lines may be in the part that was not read: nothing is cut. */
		if (n != (ssize_t)(at - from))
			return n < 0 ? -errno : -EIO;
		for (ssize_t i = n; i > 0; i--)
			if (chunk[i - 1] == '\n')
				return from + i == end || ftruncate(fd, from + i) == 0 ? 0 : -errno;
		at = from;
	}
	return end == 0 || ftruncate(fd, 0) == 0 ? 0 : -errno;
}

int lines_sync(const char *dir, const char *name)
{
	AUTO_CLOSE int at = run_open_dir(dir, ".", false);
	AUTO_CLOSE int fd = at < 0 ? at : run_open_at(at, name, O_RDONLY);

	if (fd < 0)
		return fd;
	return fdatasync(fd) < 0 || fsync(at) < 0 ? -errno : 0;
}

/* -- rotation ------------------------------------------------------------------------------------
 */

struct dropped {
	uint64_t bytes, lines;
};

bool line_is_marker(struct str line)
{
	return str_starts(line, S(MARKER_START));
}

/* The number behind `name` in the marker. */
static bool marker_number(struct str marker, struct str name, uint64_t *ret)
{
	const char *at = memmem(marker.p, marker.len, name.p, name.len);
	struct str digits = { at ? at + name.len : "", 0 };

	while (at && digits.p + digits.len < marker.p + marker.len &&
		ascii_digit(digits.p[digits.len]))
		digits.len++;
	return str_to_uint(digits, ret);
}

/* What the marker at the beginning of the file says. */
static struct dropped read_marker(int fd)
{
	struct dropped d = { 0 };
	char text[MARKER_BYTES];
	ssize_t n = fd_read_at(fd, text, sizeof(text), 0);
	struct str marker = { text, n > 0 ? (size_t)n : 0 };

	if (!line_is_marker(marker) || !marker_number(marker, S("\"bytes\":"), &d.bytes) ||
		!marker_number(marker, S("\"lines\":"), &d.lines))
		return (struct dropped){ 0 };
	return d;
}

size_t lines_dropped(int fd)
{
	return (size_t)read_marker(fd).lines;
}

static bool count_line(void *data, struct str line, size_t index)
{
	(void)index;
	*(uint64_t *)data += !line_is_marker(line);
	return true;
}

static int each_of(int fd, size_t *index, bool *going, line_fn *see, void *data, size_t *skipped);

/* Adds what is about to be dropped: the file that was rotated last time. */
static void add_rotated(struct dropped *d, const char *path)
{
	AUTO_CLOSE int fd = run_open_path(path, O_RDONLY);
	struct stat st;
	size_t index = 0, skipped = 0;
	bool going = true;

	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	d->bytes += (uint64_t)st.st_size;
	(void)each_of(fd, &index, &going, count_line, &d->lines, &skipped);
	d->lines += skipped;
}

static int write_new(const char *path, const struct dropped *d, struct str carry)
{
	AUTO_BUF text = BUF_INIT;

	(void)unlink(path);
	AUTO_CLOSE int fd = run_open_path(path, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		return fd;
	buf_printf(&text, MARKER_START "%" PRIu64 ",\"lines\":%" PRIu64 "},\"ts\":\"", d->bytes,
		d->lines);
	clock_rfc3339(&text, clock_real_ms());
	buf_printf(&text,
		"\",\"summary\":\"%" PRIu64 " earlier lines were dropped\",\"delivery\":\"log\"}\n",
		d->lines);
	int r = fd_write_all(fd, buf_str(&text));
	return r < 0 ? r : fd_write_all(fd, carry);
}

/* Each step leaves files that can be read: for a moment both names mean the old file. */
static int replace(const char *path, const char *rotated, const char *fresh, const char *second)
{
	(void)unlink(second);
	if (link(path, second) < 0 || rename(second, rotated) < 0 || rename(fresh, path) < 0)
		return -errno;
	return 0;
}

int line_log_rotate(struct line_log *l, struct str carry)
{
	AUTO_BUF rotated = BUF_INIT;
	AUTO_BUF fresh = BUF_INIT;
	AUTO_BUF second = BUF_INIT;
	off_t size;
	int r = reach(l, &size);

	if (r < 0)
		return r;
	/* One of the processes that want to rotate does so; the others find the new file. */
	if (flock(l->fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? 0 : -errno;
	ino_t held = l->ino;
	r = reach(l, &size);
	if (r < 0 || l->ino != held)
		return r;
	lines_rotated_path(&rotated, buf_cstr(&l->path));
	buf_printf(&fresh, "%s.new", buf_cstr(&l->path));
	buf_printf(&second, "%s.old", buf_cstr(&l->path));
	struct dropped d = read_marker(l->fd);
	add_rotated(&d, buf_cstr(&rotated));
	r = write_new(buf_cstr(&fresh), &d, carry);
	if (r == 0)
		r = replace(buf_cstr(&l->path), buf_cstr(&rotated), buf_cstr(&fresh),
			buf_cstr(&second));
	if (r < 0) {
		(void)unlink(buf_cstr(&fresh));
		(void)unlink(buf_cstr(&second));
		(void)flock(l->fd, LOCK_UN);
	}
	return r; /* the next reach() opens the new file and so gives the lock back */
}

/* -- reading -------------------------------------------------------------------------------------
 */

struct reading {
	line_fn *see;
	void *data;
	size_t *index;
	size_t *skipped;
	bool *going;
	struct buf line; /* the beginning of one that is not complete */
	bool skipping;   /* it is too long */
};

static void end_line(struct reading *g)
{
	struct str line = buf_str(&g->line);

	if (line.len && line.p[line.len - 1] == '\r')
		line.len--;
	if (g->skipping) {
		++*g->skipped;
		++*g->index;
	} else if (line_is_marker(line)) {
		*g->going = g->see(g->data, line, *g->index);
	} else if (line.len) {
		*g->going = g->see(g->data, line, (*g->index)++);
	}
	buf_reset(&g->line);
	g->skipping = false;
}

static void take(struct reading *g, struct str part)
{
	if (g->line.len + part.len > LINE_MAX_BYTES)
		g->skipping = true;
	if (!g->skipping)
		buf_add(&g->line, part);
}

static int each_of(int fd, size_t *index, bool *going, line_fn *see, void *data, size_t *skipped)
{
	struct reading g = {
		.see = see, .data = data, .index = index, .skipped = skipped, .going = going
	};
	AUTO_FREE char *chunk = mem_alloc(CHUNK);
	ssize_t n = 0;
	off_t at = 0;

	while (*going && (n = fd_read_at(fd, chunk, CHUNK, at)) != 0) {
		if (n < 0)
			break;
		struct str text = { chunk, (size_t)n };
		at += n;
		for (size_t from = 0; from < text.len && *going;) {
			size_t end = str_find(text, '\n', from);

			take(&g, str_sub(text, from, end - from));
			if (end < text.len)
				end_line(&g);
			from = end + 1;
		}
	}
	int r = *going && n < 0 ? -errno : 0;
	if (*going && (g.line.len || g.skipping))
		end_line(&g);
	buf_done(&g.line);
	return r;
}

int lines_each(const char *dir, const char *name, line_fn *see, void *data, size_t *ret_too_long)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF rotated = BUF_INIT;
	struct stat now = { 0 }, before = { 0 };
	size_t index = 0, skipped = 0;
	bool going = true;
	int r = 0;

	buf_printf(&path, "%s/%s", dir, name);
	lines_rotated_path(&rotated, buf_cstr(&path));
	/* The current one first: were it rotated in between, it would be read as the other. */
	AUTO_CLOSE int fd = run_open_path(buf_cstr(&path), O_RDONLY);
	AUTO_CLOSE int old = run_open_path(buf_cstr(&rotated), O_RDONLY);
	if (fd < 0 && fd != -ENOENT)
		return fd;
	if (old < 0 && old != -ENOENT && !run_is_foreign(old))
		return old;
	if (fd >= 0) {
		index = lines_dropped(fd);
		(void)fstat(fd, &now);
	}
	if (old >= 0 && fstat(old, &before) == 0 &&
		(fd < 0 || now.st_ino != before.st_ino || now.st_dev != before.st_dev))
		r = each_of(old, &index, &going, see, data, &skipped);
	if (r == 0 && fd >= 0)
		r = each_of(fd, &index, &going, see, data, &skipped);
	if (ret_too_long)
		*ret_too_long = skipped;
	return r;
}
