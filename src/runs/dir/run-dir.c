#include "runs/dir/run-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "runs/dir/open.h"

enum { ID_MAX = 128, LOCK_TRIES = 1000 };

struct str runs_root(struct arena *a, struct str agent_dir)
{
	const char *state = getenv("ROUX_STATE_DIR");

	return state && *state ? arena_str(a, str_of(state))
			       : arena_printf(a, "%.*s/roux", STR(agent_dir));
}

/* Says that what is made in the directory has nothing to do with what is there (chattr +T), which
 * ext4 takes as the word to begin at another place of the disk, chosen by its name. Whether the
 * flag was set; false: it is there already, or the file system does not know it. */
static bool set_apart(int dir, bool on)
{
	int flags = 0;

	if (ioctl(dir, FS_IOC_GETFLAGS, &flags) < 0 || !(flags & FS_TOPDIR_FL) != on)
		return false;
	flags ^= FS_TOPDIR_FL;
	return ioctl(dir, FS_IOC_SETFLAGS, &flags) == 0;
}

/* How long it takes to make a file in the directory, in nanoseconds; 0: that cannot be found out.
 */
static uint64_t time_of_file(int root, const char *name)
{
	AUTO_CLOSE int dir = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct timespec from = { 0 }, to = { 0 };

	/* The second one: the first may have to read from the disk what there is. */
	for (int i = 0; dir >= 0 && i < 2; i++) {
		(void)clock_gettime(CLOCK_MONOTONIC, &from);
		AUTO_CLOSE int fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
		(void)clock_gettime(CLOCK_MONOTONIC, &to);
		if (fd < 0)
			return 0;
	}
	return (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000 + (uint64_t)to.tv_nsec -
	       (uint64_t)from.tv_nsec;
}

enum { PLACES = 4, PLACE_NAME = 32 };

static int make_place(int root, char name[PLACE_NAME])
{
	unsigned long long number = 0;

	(void)!getrandom(&number, sizeof(number), GRND_NONBLOCK);
	(void)snprintf(name, PLACE_NAME, ".runs-%016llx", number);
	return mkdirat(root, name, 0700) < 0 ? -errno : 0;
}

/* A new file gets the first number that is free near its directory, and ext4 without a journal
 * looks at each that became free in the last minutes before it takes one: beside a directory of
 * which thousands of files were just deleted, such as a build's, making a file takes thirty times
 * as long. So the directory of runs, where many are made, stands in a place of its own, the
 * quickest of a few. */
static int make_apart(int root)
{
	char best[PLACE_NAME], name[PLACE_NAME];
	uint64_t least = 0;
	bool set = set_apart(root, true);
	int r = make_place(root, best);

	if (r == 0)
		least = time_of_file(root, best);
	for (int i = 1; set && i < PLACES && make_place(root, name) == 0; i++) {
		uint64_t time = time_of_file(root, name);

		(void)unlinkat(root, time < least ? best : name, AT_REMOVEDIR);
		if (time < least)
			(void)snprintf(best, sizeof(best), "%s", name);
		least = MIN(least, time);
	}
	if (set)
		(void)set_apart(root, false);
	if (r < 0)
		return r;
	if (renameat2(root, best, root, "runs", RENAME_NOREPLACE) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(root, best, AT_REMOVEDIR);
	return r;
}

int runs_make(struct str root)
{
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%.*s/runs", STR(root));
	if (access(buf_cstr(&path), F_OK) == 0)
		return 0;
	buf_truncate(&path, root.len);
	int r = dir_make(buf_cstr(&path));
	if (r < 0)
		return r;
	AUTO_CLOSE int dir = open(buf_cstr(&path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0 && make_apart(dir) == 0)
		return 0;
	/* Another start was quicker, or the file system is a simple one. */
	buf_adds(&path, "/runs");
	return dir_make(buf_cstr(&path));
}

struct str run_directory(struct arena *a, struct str root, struct str id)
{
	return arena_printf(a, "%.*s/runs/%.*s", STR(root), STR(id));
}

const char *run_file(struct arena *a, struct str dir, const char *name)
{
	return path_below(a, dir, str_of(name)).p;
}

/* -- names ---------------------------------------------------------------------------------------
 */

static bool id_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ascii_digit(c) || c == '_' ||
	       c == '.' || c == '-';
}

bool run_id_check(struct str s, struct report *r)
{
	bool ok = s.len && s.len <= ID_MAX && s.p[0] != '.' && s.p[0] != '-' &&
		  !str_eq(s, S("latest"));

	for (size_t i = 0; i < s.len; i++)
		ok &= id_char(s.p[i]);
	if (ok)
		return true;
	report_error(r, (struct where){ 0 }, "'%.*s' is not a name for a run", STR(s));
	return report_hint(r,
		"letters, digits, _ . and -, at most %d, not beginning with . or -; not "
		"'latest'",
		ID_MAX);
}

static void add_name(struct buf *b, struct str name)
{
	for (size_t i = 0; i < name.len && i < 64; i++)
		buf_addc(b, id_char(name.p[i]) && (i || (name.p[i] != '.' && name.p[i] != '-'))
				    ? name.p[i]
				    : '-');
	if (b->len && b->p[0] == '-')
		b->p[0] = '_';
}

struct str run_id_make(struct arena *a, struct str name)
{
	AUTO_BUF id = BUF_INIT;
	unsigned random = 0;

	add_name(&id, name);
	buf_addc(&id, '-');
	clock_stamp(&id, clock_real_ms());
	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	buf_printf(&id, "-%04x", random & 0xffff);
	return arena_str(a, buf_str(&id));
}

struct str run_id_plain(struct arena *a, struct str name)
{
	AUTO_BUF id = BUF_INIT;

	add_name(&id, name);
	return str_eq(buf_str(&id), S("latest")) ? S("latest-") : arena_str(a, buf_str(&id));
}

struct str run_id_of(struct str operand)
{
	return str_starts(operand, S("run:")) ? str_from(operand, 4) : operand;
}

/* -- the lock ------------------------------------------------------------------------------------
 */

#define LOCK_FILE ".alive"

/* How long a process holds it that only tests it. */
static const struct timespec moment = { .tv_nsec = 200000 };

static int open_lock(const char *dir, int flags)
{
	return run_open(dir, LOCK_FILE, flags);
}

/* Whether the file is still the one that the directory has: a run may have been pruned or archived
 * between opening it and locking it. */
static bool is_current(int fd, const char *dir)
{
	AUTO_BUF path = BUF_INIT;
	struct stat ours, now;

	buf_printf(&path, "%s/" LOCK_FILE, dir);
	return fstat(fd, &ours) == 0 && lstat(buf_cstr(&path), &now) == 0 &&
	       ours.st_ino == now.st_ino && ours.st_dev == now.st_dev;
}

static int lock_file(int fd, int how)
{
	int r;

	do
		r = flock(fd, how);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

/* 0, or -EAGAIN: a supervisor has it, -EBUSY: a process only tests it, for a moment. */
static int try_lock(int fd)
{
	int r = lock_file(fd, LOCK_EX | LOCK_NB);

	if (r != -EWOULDBLOCK)
		return r;
	r = lock_file(fd, LOCK_SH | LOCK_NB);
	if (r < 0)
		return r;
	(void)lock_file(fd, LOCK_UN);
	return -EBUSY;
}

int run_lock(const char *dir, int *ret_fd)
{
	int e = -EBUSY;

	for (int i = 0; i < LOCK_TRIES && e == -EBUSY; i++) {
		AUTO_CLOSE int fd = open_lock(dir, O_RDWR | O_CREAT);

		e = fd < 0 ? fd : try_lock(fd);
		if (e == 0 && !is_current(fd, dir))
			e = -EBUSY;
		if (e == 0)
			*ret_fd = take_fd(&fd);
		else if (e == -EBUSY)
			(void)nanosleep(&moment, NULL);
	}
	return e == -EBUSY ? -EAGAIN : e;
}

int run_lock_state(const char *dir)
{
	AUTO_CLOSE int fd = open_lock(dir, O_RDONLY);

	/* What is not a file is not our lock. */
	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP || fd == -EINVAL || fd == -EISDIR)
		return 0;
	if (fd < 0)
		return fd;
	/* A shared lock is enough to see an exclusive one, and two tests at once do not disturb
	 * each other. */
	int e = lock_file(fd, LOCK_SH | LOCK_NB);
	return e == -EWOULDBLOCK ? 1 : e;
}

bool run_locked(const char *dir)
{
	return run_lock_state(dir) != 0;
}

/* A byte that was never written: it takes no block of the disk, neither now nor when it is cut
 * off. */
enum { UNLISTED_BYTES = 1 };

int run_lock_new(const char *dir, int *ret_dir, int *ret_lock)
{
	AUTO_CLOSE int own = run_open_dir(dir, ".", false);
	AUTO_CLOSE int lock = -1;
	struct stat st;

	if (own < 0)
		return own;
	lock = openat(own, LOCK_FILE, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int e = lock < 0 ? -errno : -EBUSY;
	for (int i = 0; i < LOCK_TRIES && e == -EBUSY; i++) {
		e = try_lock(lock);
		if (e == -EBUSY)
			(void)nanosleep(&moment, NULL);
	}
	if (e == 0 && (fstat(lock, &st) < 0 || ftruncate(lock, UNLISTED_BYTES) < 0))
		e = -errno;
	/* It was taken for what a killed process left. */
	if (e == 0 && !st.st_nlink)
		e = -ENOENT;
	if (e < 0) {
		(void)unlinkat(own, LOCK_FILE, 0);
		return e;
	}
	*ret_dir = take_fd(&own);
	*ret_lock = take_fd(&lock);
	return 0;
}

void run_set_listed(int lock)
{
	struct stat st;

	if (fstat(lock, &st) == 0 && st.st_size)
		(void)!ftruncate(lock, 0);
}

bool run_is_unlisted(const char *dir)
{
	AUTO_CLOSE int fd = open_lock(dir, O_RDONLY);
	char first = '\0';

	/* Earlier a sentence stood there: "not in the ledger yet", "entered in the ledger". */
	return fd >= 0 && fd_read_at(fd, &first, 1, 0) == 1 && first != 'e';
}

void run_listed(const char *dir)
{
	AUTO_CLOSE int fd = open_lock(dir, O_RDWR);

	if (fd >= 0)
		run_set_listed(fd);
}

void run_unlocked_wait(const char *dir)
{
	AUTO_CLOSE int fd = open_lock(dir, O_RDONLY);

	if (fd >= 0)
		(void)lock_file(fd, LOCK_SH);
}
