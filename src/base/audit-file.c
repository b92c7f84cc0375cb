#include "base/audit-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* A file is rotated by the first line after the limit: it is longer than that by one. */
enum { READ_MAX = 2 * AUDIT_ROTATE_BYTES };

static void path_of(struct str path, int number, struct buf *b)
{
	buf_add(b, path);
	if (number)
		buf_printf(b, ".%d", number);
}

static void rotate(struct str path)
{
	for (int i = AUDIT_KEPT - 1; i > 0; i--) {
		AUTO_BUF from = BUF_INIT;
		AUTO_BUF to = BUF_INIT;

		path_of(path, i - 1, &from);
		path_of(path, i, &to);
		(void)rename(buf_cstr(&from), buf_cstr(&to));
	}
}

void audit_file_close(struct audit_file *f)
{
	close_fd(&f->fd);
}

static void unlock(struct audit_file *f)
{
	if (f->fd >= 0)
		(void)flock(f->fd, LOCK_UN);
}

static int open_it(struct audit_file *f, const char *path)
{
	struct stat st;

	if (f->fd >= 0)
		return 0;
	f->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (f->fd < 0)
		return -errno;
	if (fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode))
		return 0;
	close_fd(&f->fd);
	return -EINVAL;
}

/* Whether the open file is still the one of that name. */
static bool is_current(const struct audit_file *f, const char *path, struct stat *st)
{
	struct stat named;

	return fstat(f->fd, st) == 0 && stat(path, &named) == 0 && named.st_ino == st->st_ino &&
	       named.st_dev == st->st_dev;
}

/* Opens the file of that name with room for a line, and holds the lock on it. */
static int hold(struct audit_file *f, struct stat *st)
{
	AUTO_BUF path = BUF_INIT;

	if (!f->path.len)
		return -EROFS;
	buf_add(&path, f->path);
	for (;;) {
		int n = open_it(f, buf_cstr(&path));

		if (n < 0)
			return n;
		while (flock(f->fd, LOCK_EX) < 0)
			if (errno != EINTR)
				return -errno;
		bool current = is_current(f, buf_cstr(&path), st);

		if (current && st->st_size <= AUDIT_ROTATE_BYTES)
			return 0;
		if (current)
			rotate(f->path);
		close_fd(&f->fd);
	}
}

int audit_file_append(struct audit_file *f, struct str text, struct audit_place *ret)
{
	struct stat st;
	int n = hold(f, &st);
	char last = '\n';

	if (n < 0)
		return n;
	uint64_t size = (uint64_t)st.st_size, at = size;
	if (size && pread(f->fd, &last, 1, (off_t)size - 1) == 1 && last != '\n') {
		n = fd_write_at(f->fd, S("\n"), (off_t)at);
		at++;
	}
	if (n == 0)
		n = fd_write_at(f->fd, text, (off_t)at);
	if (n < 0)
		(void)!ftruncate(f->fd, (off_t)size); /* half a line must not stay */
	*ret = (struct audit_place){ st.st_ino, at, text.len };
	unlock(f);
	return n;
}

int audit_file_amend(struct audit_file *f, const struct audit_place *place, struct str text)
{
	struct stat st;

	if (f->fd < 0 || fstat(f->fd, &st) < 0 || st.st_ino != place->file ||
		text.len != place->size)
		return -ESTALE;
	return fd_write_at(f->fd, text, (off_t)place->at);
}

/* -- reading -------------------------------------------------------------------------------------
 */

/* From the end, a line at a time. False: `see` has stopped. */
static bool see_lines(struct str s, bool (*see)(void *data, struct str line), void *data)
{
	for (size_t end = s.len; end;) {
		size_t stop = s.p[end - 1] == '\n' ? end - 1 : end, from = stop;

		while (from && s.p[from - 1] != '\n')
			from--;
		if (!see(data, str_sub(s, from, stop - from)))
			return false;
		end = from;
	}
	return true;
}

void audit_file_each(struct str path, bool (*see)(void *data, struct str line), void *data)
{
	bool more = path.len;

	for (int i = 0; more && i < AUDIT_KEPT; i++) {
		AUTO_BUF name = BUF_INIT;
		AUTO_BUF text = BUF_INIT;

		path_of(path, i, &name);
		if (file_read_regular(buf_cstr(&name), READ_MAX, &text) == 0)
			more = see_lines(buf_str(&text), see, data);
	}
}
