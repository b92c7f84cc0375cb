#include "runs/dir/open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

enum { MODE = 0600 };

/* -- beneath -------------------------------------------------------------------------------------
 */

/* Without openat2(): one part of the way after the other, each of them no link. */
static int open_by_parts(int dirfd, const char *name, int flags)
{
	struct str way = str_of(name);
	AUTO_CLOSE int held = -1;
	int at = dirfd;

	for (size_t from = 0;;) {
		size_t end = str_find(way, '/', from);
		AUTO_BUF part = BUF_INIT;

		buf_add(&part, str_sub(way, from, end - from));
		if (!part.len || str_eq(buf_str(&part), S("..")))
			return -EXDEV;
		bool last = end >= way.len;
		int fd = openat(at, buf_cstr(&part),
			last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
			last && flags & O_CREAT ? MODE : 0);
		if (fd < 0)
			return !last && errno == ENOTDIR ? -ELOOP : -errno;
		if (last)
			return fd;
		close_fd(&held);
		at = held = fd;
		from = end + 1;
	}
}

static int open_beneath(int dirfd, const char *name, int flags)
{
	static bool lacking; /* the kernel is older than 5.6, or a sandbox does not know the call */
	const struct open_how how = { .flags = (uint64_t)flags,
		.mode = flags & O_CREAT ? MODE : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };

	if (!lacking) {
		long fd = syscall(SYS_openat2, dirfd, name, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		lacking = errno == ENOSYS || errno == EPERM;
		if (!lacking)
			return -errno;
	}
	return open_by_parts(dirfd, name, flags);
}

/* -- files ---------------------------------------------------------------------------------------
 */

int run_open_at(int dirfd, const char *name, int flags)
{
	struct stat st;
	AUTO_CLOSE int fd =
		open_beneath(dirfd, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (fd == -ENXIO) /* a FIFO without a reader, or a socket */
		return -EINVAL;
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	return take_fd(&fd);
}

static int open_own(const char *dir)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

int run_open(const char *dir, const char *name, int flags)
{
	AUTO_CLOSE int at = open_own(dir);

	return at < 0 ? at : run_open_at(at, name, flags);
}

int run_open_path(const char *path, int flags)
{
	const char *slash = strrchr(path, '/');
	AUTO_BUF dir = BUF_INIT;

	buf_add(&dir, slash ? (struct str){ path, (size_t)(slash - path) } : S("."));
	return run_open(dir.len ? buf_cstr(&dir) : "/", slash ? slash + 1 : path, flags);
}

int run_read(const char *dir, const char *name, size_t max, struct buf *ret)
{
	AUTO_CLOSE int fd = run_open(dir, name, O_RDONLY);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	return (uint64_t)st.st_size > max ? -EFBIG : fd_read_all(fd, max, ret);
}

bool run_is_foreign(int error)
{
	return error == -ELOOP || error == -EINVAL || error == -EISDIR || error == -EXDEV ||
	       error == -EFBIG;
}

/* -- directories ---------------------------------------------------------------------------------
 */

int run_open_dir_at(int dirfd, const char *name, bool make)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
	int fd = open_beneath(dirfd, name, flags);

	if (fd != -ENOENT || !make)
		return fd;
	const char *slash = strrchr(name, '/');
	AUTO_BUF up = BUF_INIT;
	buf_add(&up, slash ? (struct str){ name, (size_t)(slash - name) } : S("."));
	AUTO_CLOSE int above = open_beneath(dirfd, buf_cstr(&up), flags);
	if (above < 0)
		return above;
	if (mkdirat(above, slash ? slash + 1 : name, 0700) < 0 && errno != EEXIST)
		return -errno;
	return open_beneath(dirfd, name, flags);
}

int run_open_dir(const char *dir, const char *name, bool make)
{
	if (strcmp(name, ".") == 0) {
		int own = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

		return own < 0 ? -errno : own;
	}
	AUTO_CLOSE int at = open_own(dir);

	return at < 0 ? at : run_open_dir_at(at, name, make);
}
