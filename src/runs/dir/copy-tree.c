#include "runs/dir/copy-tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "runs/dir/remove-tree.h"

enum { DEPTH_MAX = 64, PIECE = 256 * 1024 };

static int copy_bytes(int from, int to)
{
	AUTO_FREE char *piece = NULL;
	ssize_t n;

	/* The kernel copies, or shares the blocks, where the file systems allow it. */
	while ((n = copy_file_range(from, NULL, to, NULL, 1 << 30, 0)) > 0)
		;
	if (n == 0)
		return 0;
	if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP &&
		errno != EBADF)
		return -errno;
	piece = mem_alloc(PIECE);
	while ((n = read(from, piece, PIECE)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		int r = n < 0 ? -errno : fd_write_all(to, (struct str){ piece, (size_t)n });
		if (r < 0)
			return r;
	}
	return 0;
}

static int copy_file(int from, const struct stat *st, int dirfd, const char *name)
{
	AUTO_CLOSE int to = openat(dirfd, name,
		O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, (st->st_mode & 0700) | 0600);

	if (to < 0)
		return -errno;
	int r = copy_bytes(from, to);
	/* It is about to be the only one. */
	if (r == 0 && fsync(to) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dirfd, name, 0);
	return r;
}

static int copy_link(int fromdir, const char *entry, int dirfd, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(fromdir, entry, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	return symlinkat(target, dirfd, name) < 0 ? -errno : 0;
}

/* On the way down. */
struct way {
	unsigned depth;
	size_t *skipped;
};

static int copy_any(
	int fromdir, const char *entry, int flags, int dirfd, const char *name, struct way way);

static int copy_entries(int from, int to, struct way way)
{
	int copy = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	int r = 0;

	if (!d) {
		r = -errno;
		close_fd(&copy);
		return r;
	}
	errno = 0;
	for (const struct dirent *e; r == 0 && (e = readdir(d)); errno = 0)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = copy_any(from, e->d_name, O_NOFOLLOW, to, e->d_name, way);
	r = r ? r : -errno; /* half a directory is not a copy */
	(void)closedir(d);
	return r;
}

static int copy_directory(int from, int dirfd, const char *name, struct way way)
{
	if (way.depth++ >= DEPTH_MAX)
		return -ELOOP;
	if (mkdirat(dirfd, name, 0700) < 0)
		return -errno;
	AUTO_CLOSE int to = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = to < 0 ? -errno : copy_entries(from, to, way);
	if (r < 0)
		(void)remove_tree(dirfd, name, NULL);
	return r;
}

/* A socket, FIFO or device has nothing to copy. */
static int skip(struct way way)
{
	++*way.skipped;
	return 0;
}

static int copy_any(
	int fromdir, const char *entry, int flags, int dirfd, const char *name, struct way way)
{
	AUTO_CLOSE int from =
		openat(fromdir, entry, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
	struct stat st;

	if (from < 0 && errno == ELOOP && flags)
		return copy_link(fromdir, entry, dirfd, name);
	if (from < 0 || fstat(from, &st) < 0)
		return errno == ENXIO && flags ? skip(way) : -errno;
	if (S_ISREG(st.st_mode))
		return copy_file(from, &st, dirfd, name);
	if (S_ISDIR(st.st_mode))
		return copy_directory(from, dirfd, name, way);
	return flags ? skip(way) : -EINVAL;
}

int copy_tree(const char *from, int dirfd, const char *name, size_t *skipped)
{
	*skipped = 0;
	return copy_any(AT_FDCWD, from, 0, dirfd, name, (struct way){ .skipped = skipped });
}
