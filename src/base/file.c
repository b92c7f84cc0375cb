#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "base/user.h"

int fd_read_all(int fd, size_t max, struct buf *ret)
{
	for (;;) {
		buf_reserve(ret, 16384);
		ssize_t n = read(fd, ret->p + ret->len, 16384);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		ret->len += (size_t)n;
		ret->p[ret->len] = '\0';
		if (ret->len > max)
			return -EFBIG;
	}
}

int file_read(const char *path, size_t max, struct buf *ret)
{
	struct stat st;

	/* Looked at before it is opened: opening a device can do things. A pipe such as /dev/fd/63
	 * of a shell's <(…) is as good as a file; the user who names one waits for its writer. */
	if (stat(path, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return -EINVAL;
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > max)
		return -EFBIG;
	return fd_read_all(fd, max, ret);
}

int file_read_regular(const char *path, size_t max, struct buf *ret)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	bool null = S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
	if (!S_ISREG(st.st_mode) && !null)
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	/* Some files of /proc would wait as well. */
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	return st.st_size > 0 && (uint64_t)st.st_size > max ? -EFBIG : fd_read_all(fd, max, ret);
}

ssize_t fd_read_at(int fd, void *to, size_t size, off_t at)
{
	ssize_t n;

	do
		n = pread(fd, to, size, at);
	while (n < 0 && errno == EINTR);
	return n;
}

int fd_write_all(int fd, struct str s)
{
	while (s.len) {
		ssize_t n = write(fd, s.p, s.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		s = str_from(s, (size_t)n);
	}
	return 0;
}

int fd_write_at(int fd, struct str s, off_t at)
{
	for (size_t done = 0; done < s.len;) {
		ssize_t n = pwrite(fd, s.p + done, s.len - done, at + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

void sigpipe_begin(struct sigpipe *s)
{
	sigset_t set, before, waiting;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGPIPE);
	(void)sigpending(&waiting);
	(void)pthread_sigmask(SIG_BLOCK, &set, &before);
	s->pending = sigismember(&waiting, SIGPIPE) == 1;
	s->blocked = sigismember(&before, SIGPIPE) == 1;
}

void sigpipe_end(const struct sigpipe *s)
{
	int saved = errno;
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGPIPE);
	/* Ours is taken away; one that was there before is not ours to take. */
	if (!s->pending)
		(void)sigtimedwait(&set, NULL, &(struct timespec){ 0 });
	if (!s->blocked)
		(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	errno = saved;
}

/* Whether it is the home directory of the user, who has none then. */
static bool is_missing_home(const char *path)
{
	struct arena a = ARENA_INIT;
	struct str home = user_home(&a);
	bool is = home.len && access(path, F_OK) < 0 && errno == ENOENT &&
		  str_eq(path_absolute(&a, str_of(path)), path_absolute(&a, home));

	arena_done(&a);
	return is;
}

int dir_make(const char *path)
{
	struct str all = str_of(path);
	AUTO_BUF part = BUF_INIT;

	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	for (size_t at = 1; at <= all.len; at++) {
		if (at < all.len && all.p[at] != '/')
			continue;
		buf_reset(&part);
		buf_add(&part, str_sub(all, 0, at));
		if (is_missing_home(buf_cstr(&part)))
			return -ENOENT;
		if (mkdir(buf_cstr(&part), 0700) < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

const char *file_temp_dir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && dir[0] == '/' ? dir : "/tmp";
}

int file_temp_named(const char *prefix, struct buf *ret)
{
	buf_printf(ret, "%s/%sXXXXXX", file_temp_dir(), prefix);
	int fd = mkostemp(ret->p, O_CLOEXEC); /* creates it 0600 */
	return fd < 0 ? -errno : fd;
}

int file_temp(void)
{
	int fd = open(file_temp_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd < 0 ? -errno : fd;
	/* A file system without O_TMPFILE. */
	AUTO_BUF path = BUF_INIT;
	fd = file_temp_named("roux-", &path);
	if (fd >= 0)
		(void)unlink(buf_cstr(&path));
	return fd;
}
