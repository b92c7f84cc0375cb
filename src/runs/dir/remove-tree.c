#include "runs/dir/remove-tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/mem.h"

/* A deeper one is moved up: each level holds a descriptor. */
enum { DEPTH_MAX = 64 };

struct removal {
	int top; /* the directory as it was named */
	dev_t dev;
	unsigned moved;
	int error;
	char *failed;
};

static void fail(struct removal *r, int error, const char *name)
{
	if (r->error)
		return;
	r->error = error;
	r->failed = mem_strdup(name);
}

static void remove_entry(struct removal *r, int dirfd, const char *name, unsigned depth);

static void empty_directory(struct removal *r, int fd, const char *name, unsigned depth)
{
	/* Opened anew: a duplicate would continue where the last one stopped reading. */
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);

	if (!d) {
		fail(r, -errno, name);
		close_fd(&copy);
		return;
	}
	errno = 0;
	for (const struct dirent *e; (e = readdir(d)); errno = 0)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			remove_entry(r, fd, e->d_name, depth);
	if (errno)
		fail(r, -errno, name);
	(void)closedir(d);
}

static void remove_directory(struct removal *r, int dirfd, const char *name, unsigned depth)
{
	struct stat st;

	if (depth >= DEPTH_MAX) {
		char shallow[48];

		(void)snprintf(shallow, sizeof(shallow), ".deep-%u", r->moved++);
		if (renameat(dirfd, name, r->top, shallow) < 0)
			fail(r, -errno, name);
		return; /* the top is looked through again */
	}
	AUTO_CLOSE int fd =
		openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	/* A command may have taken our own permission away. */
	if (fd < 0 && errno == EACCES && fchmodat(dirfd, name, 0700, 0) == 0)
		fd = openat(
			dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0) {
		fail(r, -errno, name);
		return;
	}
	if (st.st_dev != r->dev) {
		fail(r, -EXDEV, name);
		return;
	}
	if ((st.st_mode & 0700) != 0700)
		(void)fchmod(fd, 0700);
	empty_directory(r, fd, name, depth + 1);
	if (unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		fail(r, -errno, name);
}

static void remove_entry(struct removal *r, int dirfd, const char *name, unsigned depth)
{
	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return;
	if (errno == EISDIR)
		remove_directory(r, dirfd, name, depth);
	else
		fail(r, -errno, name);
}

int remove_tree(int dirfd, const char *name, char **failed)
{
	struct removal r = { .top = -1 };
	struct stat st;
	unsigned before;

	r.top = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r.top < 0 || fstat(r.top, &st) < 0) {
		int error = -errno;

		close_fd(&r.top);
		return error;
	}
	r.dev = st.st_dev;
	(void)fchmod(r.top, 0700);
	do {
		before = r.moved;
		empty_directory(&r, r.top, name, 0);
	} while (r.moved > before && !r.error);
	close_fd(&r.top);
	if (!r.error && unlinkat(dirfd, name, AT_REMOVEDIR) < 0)
		fail(&r, -errno, name);
	if (failed)
		*failed = r.failed;
	else
		lang_auto_free(&r.failed);
	return r.error;
}
