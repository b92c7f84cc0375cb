#include "runs/dir/follower.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "runs/dir/lines.h"
#include "runs/dir/open.h"

enum { CHUNK = 64 * 1024, STOPPED = 1 };

void follower_init(struct follower *f, const char *dir, const char *name, int flags)
{
	*f = (struct follower){ .fd = -1, .flags = flags };
	buf_printf(&f->path, "%s/%s", dir, name);
}

void follower_done(struct follower *f)
{
	if (f->path.len) /* else it was never begun, and its descriptor is nothing */
		close_fd(&f->fd);
	buf_done(&f->path);
	buf_done(&f->part);
}

bool follower_idle(const struct follower *f)
{
	struct stat st;

	return f->fd >= 0 && fstat(f->fd, &st) == 0 && st.st_nlink && st.st_size == f->next;
}

/* -- which file ----------------------------------------------------------------------------------
 */

/* Takes the descriptor over. */
static void begin_file(struct follower *f, int fd)
{
	struct stat st = { 0 };

	(void)fstat(fd, &st);
	close_fd(&f->fd);
	f->fd = fd;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->next = 0;
	f->skipping = false;
	buf_reset(&f->part);
}

static bool is_open_as(const struct follower *f, int fd)
{
	struct stat st;

	return f->fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == f->dev && st.st_ino == f->ino;
}

/* Opens what is to be read next. With FOLLOW_ROTATED that is the rotated file when we have not come
 * from it: at the beginning, or after we have missed a file. 0: there is nothing more. */
static int open_next(struct follower *f)
{
	AUTO_BUF rotated = BUF_INIT;
	int create = f->flags & FOLLOW_CREATE ? O_CREAT : 0;
	AUTO_CLOSE int fd = run_open_path(buf_cstr(&f->path), O_RDONLY | create);

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (is_open_as(f, fd))
		return 0;
	if (f->flags & FOLLOW_ROTATED) {
		lines_rotated_path(&rotated, buf_cstr(&f->path));
		AUTO_CLOSE int old = run_open_path(buf_cstr(&rotated), O_RDONLY);
		if (old >= 0 && !is_open_as(f, old)) {
			f->index = lines_dropped(fd);
			begin_file(f, take_fd(&old));
			return 1;
		}
	}
	begin_file(f, take_fd(&fd));
	return 1;
}

int follower_open(struct follower *f)
{
	return f->fd < 0 ? MIN(open_next(f), 0) : 0;
}

/* -- reading -------------------------------------------------------------------------------------
 */

/* Reads the open file to its end. */
static int read_on(struct follower *f, followed_bytes_fn *see, void *data)
{
	AUTO_FREE char *chunk = mem_alloc(CHUNK);
	struct stat st;
	ssize_t n;

	if (fstat(f->fd, &st) == 0 && st.st_size < f->next) {
		/* It was cut: what is there now was never read. */
		f->next = 0;
		buf_reset(&f->part);
	}
	while ((n = fd_read_at(f->fd, chunk, CHUNK, f->next)) != 0) {
		if (n < 0)
			return -errno;
		f->next += n;
		int r = see(data, (struct str){ chunk, (size_t)n });
		if (r)
			return r;
	}
	return 0;
}

int follower_read_bytes(struct follower *f, followed_bytes_fn *see, void *data)
{
	int r = f->fd < 0 ? 0 : read_on(f, see, data);

	while (r == 0 && (r = open_next(f)) > 0)
		r = read_on(f, see, data);
	return r;
}

/* -- lines ---------------------------------------------------------------------------------------
 */

struct line_reader {
	struct follower *follower;
	followed_fn *see;
	void *data;
};

/* `end` is the offset of the line's end. False: stop. */
static bool end_line(struct line_reader *g, off_t end)
{
	struct follower *f = g->follower;
	bool skip = f->skipping;
	AUTO_BUF line = BUF_INIT;

	buf_swap(&line, &f->part);
	f->skipping = false;
	f->index += skip;
	if (skip || !line.len)
		return true;
	const struct followed_line l = {
		.text = buf_str(&line),
		.index = f->index,
		.offset = end - (off_t)line.len,
		.marker = line_is_marker(buf_str(&line)),
	};
	f->index += !l.marker;
	return g->see(g->data, &l);
}

static int take_piece(void *data, struct str piece)
{
	struct line_reader *g = data;
	struct follower *f = g->follower;
	off_t from = f->next - (off_t)piece.len;

	for (size_t at = 0; at < piece.len;) {
		size_t end = str_find(piece, '\n', at);

		f->skipping |= f->part.len + (end - at) > LINE_MAX_BYTES;
		if (!f->skipping)
			buf_add(&f->part, str_sub(piece, at, end - at));
		if (end < piece.len && !end_line(g, from + (off_t)end))
			return STOPPED;
		at = end + 1;
	}
	return 0;
}

int follower_read(struct follower *f, followed_fn *see, void *data)
{
	struct line_reader g = { f, see, data };

	return MIN(follower_read_bytes(f, take_piece, &g), 0);
}
