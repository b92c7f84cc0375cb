#include "base/atomic-file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

/* Short, so that it fits wherever the file's own name does; hidden, and with no suffix that
 * something could take for a recipe. */
#define TEMP_PATTERN ATOMIC_PREFIX "%016llx"

enum { TEMP_NAME = 32, TEMP_TRIES = 100, ACL_BYTES = 4096, POLL_MIN_MS = 1, POLL_MAX_MS = 16 };

static const char acl_name[] = "system.posix_acl_access";

/* Where the links of `path` lead; a file that is yet to come is where it says. A link that leads
 * nowhere is -ENOENT: a slip cannot be told from a wish. */
static int resolve(const char *path, struct buf *ret)
{
	AUTO_FREE char *real = realpath(path, NULL);
	struct stat st;
	int err = errno;

	/* One that is there now, and is not a link, has come since: it is where it says. */
	if (!real && (err != ENOENT || (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))))
		return -err;
	buf_adds(ret, real ? real : path);
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int open_dir(const char *path, int flags)
{
	AUTO_BUF dir = BUF_INIT;
	size_t len = (size_t)(base_name(path) - path);

	buf_add(&dir, len ? (struct str){ path, len } : S("."));
	int fd = open(buf_cstr(&dir), flags | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       same_time(a->st_mtim, b->st_mtim);
}

/* What has the name now: 1 and its stat, 0 for nothing, or why it may not be replaced. */
static int look(int dir, const char *name, const struct atomic_options *o, struct stat *ret)
{
	if (fstatat(dir, name, ret, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			return -errno;
		return o->replaces ? -ESTALE : 0;
	}
	if (o->exclusive)
		return -EEXIST;
	if (S_ISDIR(ret->st_mode))
		return -EISDIR;
	if (!S_ISREG(ret->st_mode) && !S_ISLNK(ret->st_mode))
		return -EINVAL;
	if (o->replaces && !same_file(ret, o->replaces))
		return -ESTALE;
	return 1;
}

static int make_temp(int dir, mode_t mode, char name[TEMP_NAME])
{
	for (int i = 0; i < TEMP_TRIES; i++) {
		unsigned long long number;

		if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
			return -EIO;
		(void)snprintf(name, TEMP_NAME, TEMP_PATTERN, number);
		int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static bool no_acl(int err)
{
	return err == ENODATA || err == EOPNOTSUPP;
}

/* With a list, the group bits of the mode are its mask: copying the mode alone would open the file
 * to the group. Without one, the new file may have got one from its directory. */
static int keep_acl(int from, int to)
{
	char list[ACL_BYTES];
	ssize_t n = fgetxattr(from, acl_name, list, sizeof(list));

	if (n >= 0)
		return fsetxattr(to, acl_name, list, (size_t)n, 0) < 0 ? -errno : 0;
	if (!no_acl(errno))
		return -errno;
	if (fremovexattr(to, acl_name) < 0 && !no_acl(errno))
		return -errno;
	return 0;
}

/* Asks only for what is different: file systems without owners refuse even to keep theirs. */
static int keep_access(int dir, const char *name, int to)
{
	AUTO_CLOSE int from = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat old, ours;

	if (from < 0 || fstat(from, &old) < 0 || fstat(to, &ours) < 0)
		return -errno;
	if ((old.st_uid != ours.st_uid || old.st_gid != ours.st_gid) &&
		fchown(to, old.st_uid, old.st_gid) < 0)
		return -errno;
	int r = keep_acl(from, to);
	if (r < 0)
		return r;
	/* Last: a change of owner takes the set-user-id bit away. */
	if (fstat(to, &ours) < 0 ||
		(old.st_mode != ours.st_mode && fchmod(to, old.st_mode & 07777) < 0))
		return -errno;
	return 0;
}

/* The two change places, so that what is replaced can still be looked at: one who saved the file
 * in the last moment gets it back, and one who deleted it is not disturbed at all. */
static int swap_names(int dir, const char *temp, const char *name, const struct stat *expected)
{
	struct stat st;

	if (renameat2(dir, temp, dir, name, RENAME_EXCHANGE) < 0)
		return errno == ENOENT ? -ESTALE : -errno;
	if (fstatat(dir, temp, &st, AT_SYMLINK_NOFOLLOW) < 0 || !same_file(&st, expected)) {
		(void)renameat2(dir, temp, dir, name, RENAME_EXCHANGE);
		return -ESTALE;
	}
	(void)unlinkat(dir, temp, 0);
	return 0;
}

static bool cannot(int r)
{
	return r == -EINVAL || r == -ENOSYS;
}

/* The text is on the disk, now it gets its name. Not every file system has the safer ways. */
static int give_name(
	int dir, const char *temp, const char *name, const struct atomic_options *o, int found)
{
	struct stat st;
	int r = found;

	if (!o->quick || o->durable)
		r = look(dir, name, o, &st); /* once more, as flushing takes its time */
	if (r < 0)
		return r;
	if (o->exclusive) {
		r = renameat2(dir, temp, dir, name, RENAME_NOREPLACE) < 0 ? -errno : 0;
		if (!cannot(r))
			return r;
		/* A second name does not replace either. */
		if (linkat(dir, temp, dir, name, 0) < 0)
			return -errno;
		(void)unlinkat(dir, temp, 0);
		return 0;
	}
	if (o->replaces) {
		r = swap_names(dir, temp, name, o->replaces);
		if (!cannot(r))
			return r;
	}
	/* A name that is taken over is, on ext4, the word to write the new file to the disk at
	 * once: that is ten times the rest. */
	if (r > 0 && o->quick && renameat2(dir, temp, dir, name, RENAME_EXCHANGE) == 0) {
		(void)unlinkat(dir, temp, 0);
		return 0;
	}
	return renameat(dir, temp, dir, name) < 0 ? -errno : 0;
}

int atomic_spare(int dirfd)
{
	int fd = openat(dirfd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* The file that was made beforehand gets the text and the name, which no file may have: nothing is
 * replaced. -EAGAIN: one has it, or this cannot be done here, so that another has to be made. */
static int use_spare(int dir, const char *name, struct str bytes, int *spare)
{
	char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	AUTO_CLOSE int fd = take_fd(spare);

	int r = fd_write_all(fd, bytes);
	if (r < 0)
		return r;
	/* Older kernels let only root do it this way, which is the quicker one. */
	if (linkat(fd, "", dir, name, AT_EMPTY_PATH) == 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : -EAGAIN;
}

static int replace(int dir, const char *name, struct str bytes, const struct atomic_options *o)
{
	char temp[TEMP_NAME];
	struct stat st;
	int found = look(dir, name, o, &st);

	if (found < 0)
		return found;
	bool keep = o->keep && found && S_ISREG(st.st_mode);
	AUTO_CLOSE int fd = make_temp(dir, !keep && o->mode ? o->mode : 0600, temp);
	if (fd < 0)
		return fd;

	int r = keep ? keep_access(dir, name, fd) : 0;
	if (r == 0)
		r = fd_write_all(fd, bytes);
	if (r == 0 && (o->durable || !o->quick) && fsync(fd) < 0)
		r = -errno;
	if (r == 0)
		r = give_name(dir, temp, name, o, found);
	if (r < 0)
		(void)unlinkat(dir, temp, 0);
	return r == 0 && o->durable && fsync(dir) < 0 ? -errno : r;
}

static const struct atomic_options none;

int atomic_write_at(int dirfd, const char *name, struct str bytes, const struct atomic_options *o)
{
	sigset_t all, before;

	o = o ? o : &none;
	if (o->quick && !o->durable && !o->replaces && o->spare && *o->spare >= 0) {
		int r = use_spare(dirfd, name, bytes, o->spare);

		if (r != -EAGAIN)
			return r;
	}
	/* An interrupt that kills roux here would leave the temporary file behind. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	int r = replace(dirfd, name, bytes, o);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int atomic_write(const char *path, struct str bytes, const struct atomic_options *o)
{
	AUTO_BUF target = BUF_INIT;
	int r = 0;

	o = o ? o : &none;
	if (o->follow)
		r = resolve(path, &target);
	else
		buf_adds(&target, path);
	if (r < 0)
		return r;
	AUTO_CLOSE int dir = open_dir(buf_cstr(&target), o->durable ? O_RDONLY : O_PATH);
	return dir < 0 ? dir : atomic_write_at(dir, base_name(buf_cstr(&target)), bytes, o);
}

int file_lock(const char *path, unsigned wait_ms, int *ret_fd)
{
	AUTO_BUF target = BUF_INIT;
	uint64_t until = clock_mono_ms() + wait_ms;
	unsigned pause_ms = POLL_MIN_MS;
	int r = resolve(path, &target);

	if (r < 0)
		return r;
	AUTO_CLOSE int fd = open_dir(buf_cstr(&target), O_RDONLY);
	if (fd < 0)
		return fd;
	/* flock() has no time limit, and a signal to interrupt it would not be ours to use. */
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK)
			return -errno;
		if (clock_mono_ms() >= until)
			return -ETIMEDOUT;
		struct timespec pause = { .tv_nsec = pause_ms * 1000000L };
		(void)nanosleep(&pause, NULL);
		pause_ms = MIN(pause_ms * 2, (unsigned)POLL_MAX_MS);
	}
	*ret_fd = take_fd(&fd);
	return 0;
}
