/*
 * A directory as another file system shows it, for tests: what is below REAL, at the mount point
 * VIEW, as the file CONTROL says at every call.
 *
 *   held-fs REAL CONTROL VIEW      VIEW may be REAL: what is there already is shown
 *
 *   go        as it is
 *   hang      nothing is answered until CONTROL says something else
 *   late MS   a name is seen so many milliseconds after it was made, and names come in reverse
 * order
 *   slow MS   what is written takes up to so many milliseconds, at random
 */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAMES_MAX = 4096, PAUSE_NS = 20 * 1000 * 1000 };

static int root;
static uint64_t own[NAMES_MAX]; /* made here, and so seen here */
static size_t own_count;
static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *control;

/* Waits as it is told; the number behind that word. */
static long asked_by(const char *what)
{
	char text[64] = "";
	long ms = 0;

	for (;;) {
		int fd = open(control, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

		if (fd >= 0)
			close(fd);
		text[n > 0 ? n : 0] = '\0';
		if (strncmp(text, "hang", 4) != 0)
			break;
		(void)nanosleep(&(struct timespec){ 0, PAUSE_NS }, NULL);
	}
	if (strncmp(text, what, strlen(what)) == 0)
		(void)sscanf(text + strlen(what), "%ld", &ms);
	return ms;
}

static long asked(void)
{
	return asked_by("late");
}

static void take_time(void)
{
	long ms = asked_by("slow");

	if (ms)
		(void)nanosleep(&(struct timespec){ 0, (random() % ms) * 1000 * 1000 }, NULL);
}

static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static int result(int r)
{
	return r < 0 ? -errno : r;
}

static int is_own(uint64_t inode)
{
	int found = 0;

	(void)pthread_mutex_lock(&own_lock);
	for (size_t i = 0; i < own_count; i++)
		found |= own[i] == inode;
	(void)pthread_mutex_unlock(&own_lock);
	return found;
}

static void make_own(uint64_t inode)
{
	(void)pthread_mutex_lock(&own_lock);
	if (own_count < NAMES_MAX)
		own[own_count++] = inode;
	(void)pthread_mutex_unlock(&own_lock);
}

/* Whether it is a file whose name is too young to be seen. */
static int is_unseen(int dir, const char *name, long late)
{
	struct statx st;
	struct timespec now;

	if (!late ||
		statx(dir, name, AT_SYMLINK_NOFOLLOW, STATX_BTIME | STATX_TYPE | STATX_INO, &st) <
			0 ||
		S_ISDIR(st.stx_mode))
		return 0;
	if (is_own(st.stx_ino))
		return 0;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (now.tv_sec - st.stx_btime.tv_sec) * 1000 +
		       (now.tv_nsec - (long)st.stx_btime.tv_nsec) / 1000000 <
	       late;
}

static int fs_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	long late = asked();

	(void)fi;
	if (is_unseen(root, below(path), late))
		return -ENOENT;
	return result(fstatat(root, below(path), st, AT_SYMLINK_NOFOLLOW));
}

static int fs_readdir(const char *path, void *buf, fuse_fill_dir_t fill, off_t offset,
	struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	long late = asked();
	int fd = openat(root, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	char *names[NAMES_MAX];
	size_t count = 0;

	(void)offset;
	(void)fi;
	(void)flags;
	if (!dir)
		return -errno;
	for (struct dirent *e; count < NAMES_MAX && (e = readdir(dir));)
		if (!is_unseen(fd, e->d_name, late))
			names[count++] = strdup(e->d_name);
	closedir(dir);
	for (size_t i = count; i-- > 0;) {
		(void)fill(buf, names[i], NULL, 0, 0);
		free(names[i]);
	}
	return 0;
}

static int fs_open(const char *path, struct fuse_file_info *fi)
{
	if (is_unseen(root, below(path), asked()))
		return -ENOENT;
	int fd = openat(root, below(path), fi->flags | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	fi->fh = (uint64_t)fd;
	fi->direct_io = 1;
	return 0;
}

static int fs_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	(void)asked();
	int fd = openat(root, below(path), fi->flags | O_CREAT | O_CLOEXEC, mode);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0)
		make_own(st.st_ino);
	fi->fh = (uint64_t)fd;
	fi->direct_io = 1;
	return 0;
}

static int fs_read(
	const char *path, char *buf, size_t size, off_t offset, struct fuse_file_info *fi)
{
	(void)path;
	(void)asked();
	return result((int)pread((int)fi->fh, buf, size, offset));
}

static int fs_write(
	const char *path, const char *buf, size_t size, off_t offset, struct fuse_file_info *fi)
{
	(void)path;
	take_time();
	return result((int)pwrite((int)fi->fh, buf, size, offset));
}

static int fs_fsync(const char *path, int data, struct fuse_file_info *fi)
{
	(void)path;
	take_time();
	return result(data ? fdatasync((int)fi->fh) : fsync((int)fi->fh));
}

static int fs_release(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	return result(close((int)fi->fh));
}

static int fs_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
	(void)asked();
	if (fi)
		return result(ftruncate((int)fi->fh, size));
	int fd = openat(root, below(path), O_WRONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : result(ftruncate(fd, size));
	if (fd >= 0)
		close(fd);
	return r;
}

static int fs_unlink(const char *path)
{
	(void)asked();
	return result(unlinkat(root, below(path), 0));
}

static int fs_rmdir(const char *path)
{
	(void)asked();
	return result(unlinkat(root, below(path), AT_REMOVEDIR));
}

static int fs_mkdir(const char *path, mode_t mode)
{
	(void)asked();
	return result(mkdirat(root, below(path), mode));
}

static int fs_rename(const char *from, const char *to, unsigned int flags)
{
	(void)asked();
	return flags ? -EINVAL : result(renameat(root, below(from), root, below(to)));
}

/* It ends with the test, whose directory CONTROL is in. */
static void *watch(void *data)
{
	while (access(control, R_OK) == 0)
		(void)nanosleep(&(struct timespec){ 0, 10 * PAUSE_NS }, NULL);
	(void)data;
	_exit(0);
}

static void *fs_init(struct fuse_conn_info *conn, struct fuse_config *config)
{
	pthread_t thread;

	(void)conn;
	(void)pthread_create(&thread, NULL, watch, NULL);
	config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
	return NULL;
}

static const struct fuse_operations operations = {
	.init = fs_init,
	.getattr = fs_getattr,
	.readdir = fs_readdir,
	.open = fs_open,
	.create = fs_create,
	.read = fs_read,
	.write = fs_write,
	.fsync = fs_fsync,
	.release = fs_release,
	.truncate = fs_truncate,
	.unlink = fs_unlink,
	.rmdir = fs_rmdir,
	.mkdir = fs_mkdir,
	.rename = fs_rename,
};

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	root = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	control = realpath(argv[2], NULL);
	if (root < 0 || !control)
		return 1;
	char *words[] = { argv[0], argv[3], NULL };
	return fuse_main(2, words, &operations, NULL);
}
