#include "app/launch/flush.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "runs/dir/open.h"
#include "runs/dir/outputs.h"

/* What cannot be opened is not relied on: that is said where it is read. */
static bool may_be_left(int error)
{
	return error == -ENOENT || error == -EXDEV || error == -EINVAL || error == -EISDIR ||
	       error == -ELOOP || error == -EACCES || error == -EPERM || error == -ENXIO;
}

static int flush_file(int dirfd, const char *name)
{
	AUTO_CLOSE int fd = run_open_at(dirfd, name, O_RDONLY);

	if (fd < 0)
		return may_be_left(fd) ? 0 : fd;
	return fsync(fd) < 0 ? -errno : 0;
}

static int flush_files(const char *dir, const char *name)
{
	int fd = run_open_dir(dir, name, false);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int n = 0;

	if (!d) {
		n = fd < 0 ? fd : -errno;
		close_fd(&fd);
		return n;
	}
	errno = 0;
	for (const struct dirent *e; n == 0 && (e = readdir(d)); errno = 0)
		n = flush_file(dirfd(d), e->d_name);
	n = n == 0 && errno ? -errno : n;
	(void)closedir(d);
	return n;
}

static int flush_directory(const char *dir, const char *name, bool written)
{
	int n = written ? flush_files(dir, name) : 0;
	AUTO_CLOSE int fd = n < 0 ? n : run_open_dir(dir, name, false);

	if (fd < 0)
		return fd;
	return fsync(fd) < 0 ? -errno : 0;
}

bool flush_taken(struct launch *l, bool written, struct report *r)
{
	const char *dir = l->claim.dir.p;

	if (!l->asked.durable)
		return true;
	int n = flush_directory(dir, OUTPUTS_DIR, written);
	n = n == -ENOENT ? 0 : n;
	n = n ? n : flush_directory(dir, ".", written);
	if (n < 0)
		return report_errno(r, -n, "cannot flush %s", dir);
	return !written || launch_sync_names(l, r);
}
