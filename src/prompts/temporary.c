#include "prompts/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lang.h"

enum { RANDOM_LEN = 12, TRIES = 20 };

static const char *const whats[] = { "role", "prompt" };

static void prefix(const char *what, struct buf *b)
{
	const char *dir = file_temp_dir();

	buf_printf(b, "%s%sstart-%s-", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", what);
}

void temporary_example(const char *what, struct buf *b)
{
	prefix(what, b);
	buf_adds(b, "XXXXXXXX.md");
}

static int make_name(const char *what, struct buf *b)
{
	static const char letters[] = "0123456789abcdefghijklmnopqrstuv";
	unsigned char random[RANDOM_LEN];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	buf_reset(b);
	prefix(what, b);
	for (size_t i = 0; i < sizeof(random); i++)
		buf_addc(b, letters[random[i] & 31]);
	buf_printf(b, "_%d.md", (int)getpid());
	return 0;
}

int temporary_create(const char *what, struct str bytes, struct temporary *ret)
{
	AUTO_BUF path = BUF_INIT;
	int fd = -1, error = -EEXIST;

	for (int i = 0; i < TRIES && error == -EEXIST; i++) {
		error = make_name(what, &path);
		if (error < 0)
			return error;
		fd = open(
			buf_cstr(&path), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		error = fd < 0 ? -errno : 0;
	}
	if (error < 0)
		return error;
	(void)flock(fd, LOCK_EX | LOCK_NB);
	error = fchmod(fd, 0600) < 0 ? -errno : fd_write_all(fd, bytes);
	*ret = (struct temporary){ buf_take(&path), fd };
	if (error < 0)
		temporary_delete(ret);
	return error;
}

void temporary_delete(struct temporary *t)
{
	if (t->path)
		(void)unlink(t->path);
	free(TAKE(t->path));
	close_fd(&t->fd);
}

/* -- what others have left -----------------------------------------------------------------------
 */

/* The process in a name that we could have made; 0: another's file. */
static pid_t owner_in(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(whats); i++) {
		AUTO_BUF begin = BUF_INIT;
		uint64_t pid;

		buf_printf(&begin, "start-%s-", whats[i]);
		if (!str_starts(name, buf_str(&begin)) || !str_ends(name, S(".md")))
			continue;
		struct str rest = str_sub(name, begin.len, name.len - begin.len - 3);
		size_t at = str_find(rest, '_', 0);
		if (at == RANDOM_LEN && str_to_uint(str_from(rest, MIN(at + 1, rest.len)), &pid) &&
			pid > 0 && pid < INT32_MAX)
			return (pid_t)pid;
	}
	return 0;
}

static bool left_behind(int dir, const char *name, pid_t owner)
{
	struct stat st;

	/* Alive, or another process that has its number now: next time. */
	if (kill(owner, 0) == 0 || errno != ESRCH)
		return false;
	AUTO_CLOSE int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != getuid())
		return false;
	/* Its number may mean nothing here (another container), its lock does. */
	return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

size_t temporary_sweep(void)
{
	DIR *dir = opendir(file_temp_dir());
	size_t count = 0;

	if (!dir)
		return 0;
	for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		pid_t owner = owner_in(str_of(e->d_name));

		if (owner && left_behind(dirfd(dir), e->d_name, owner))
			count += unlinkat(dirfd(dir), e->d_name, 0) == 0;
	}
	(void)closedir(dir);
	return count;
}
