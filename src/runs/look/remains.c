#include "runs/look/remains.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/lang.h"
#include "runs/dir/remove-tree.h"

static int open_at(int dir, const char *path)
{
	return openat(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_gone(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && !st.st_nlink;
}

int remains_hold(int dir, const char *path)
{
	AUTO_CLOSE int fd = open_at(dir, path);

	if (fd < 0)
		return errno == ENOENT ? -ESTALE : -1;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -1;
	return is_gone(fd) ? -ESTALE : take_fd(&fd);
}

int remains_delete(int runs, const char *name)
{
	AUTO_CLOSE int fd = open_at(runs, name);

	if (fd < 0 && errno != EACCES)
		return errno == ENOENT ? 0 : -errno;
	/* Without a permission to read it no process has it locked. */
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return -EBUSY;
	return fd >= 0 && is_gone(fd) ? 0 : remove_tree(runs, name, NULL);
}

bool remains_held(const char *path)
{
	AUTO_CLOSE int fd = open_at(AT_FDCWD, path);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

void remains_clean(struct str root)
{
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%.*s/runs", STR(root));
	DIR *d = opendir(buf_cstr(&path));
	for (const struct dirent *e; d && (e = readdir(d));)
		if (strncmp(e->d_name, REMAINS_PREFIX, strlen(REMAINS_PREFIX)) == 0)
			(void)remains_delete(dirfd(d), e->d_name);
	if (d)
		(void)closedir(d);
}
