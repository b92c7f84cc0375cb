#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lang.h"

/* Fields are counted as in proc(5), from 1. */
enum { STATE = 3, PARENT, GROUP, SESSION, START = 22, SIZE = 23, ENV_START = 50, ENV_END };

enum { STAT_MAX = 1024, ENVIRON_MAX = 4 << 20 };

/* The entry of a process, from its state on, in `text`. */
static int read_stat(int64_t pid, char text[STAT_MAX], const char **ret)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : fd_read_at(fd, text, STAT_MAX - 1, 0);
	if (n <= 0)
		return n == 0 || errno == ENOENT ? -ESRCH : -errno;
	text[n] = '\0';
	/* The name stands in parentheses and may hold anything, parentheses too. */
	const char *end = strrchr(text, ')');
	*ret = end && end[1] == ' ' ? end + 2 : NULL;
	return *ret ? 0 : -ESRCH;
}

/* The one behind that `at` is at; NULL when it is the last. */
static const char *next_field(const char *at)
{
	at = strchr(at, ' ');
	return at ? at + 1 : NULL;
}

int process_read(int64_t pid, struct process_stat *ret)
{
	char text[STAT_MAX];
	const char *at;
	int field = STATE;

	*ret = (struct process_stat){ .pid = (pid_t)pid };
	int r = read_stat(pid, text, &at);
	if (r < 0)
		return r;
	for (; at && field <= START; at = next_field(at), field++) {
		if (field == STATE)
			ret->state = *at;
		else if (field == PARENT)
			ret->parent = (pid_t)strtol(at, NULL, 10);
		else if (field == GROUP)
			ret->group = (pid_t)strtol(at, NULL, 10);
		else if (field == SESSION)
			ret->session = (pid_t)strtol(at, NULL, 10);
		else if (field == START)
			ret->start = strtoull(at, NULL, 10);
	}
	return field > START ? 0 : -ESRCH;
}

int64_t process_self(void)
{
	char text[32];
	ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);
	uint64_t pid;

	if (n < 0)
		return -errno;
	return str_to_uint((struct str){ text, (size_t)n }, &pid) ? (int64_t)pid : -ESRCH;
}

uint64_t process_ticks_ms(uint64_t ticks)
{
	return ticks * 1000 / (uint64_t)MAX(sysconf(_SC_CLK_TCK), 1L);
}

/* -- its environment -----------------------------------------------------------------------------
 */

/* Why nothing could be read: 0 when it has no variables. execve() exchanges the memory of a process
 * first and notes where its variables are some microseconds later, or more when it has to wait. */
static int why_empty(pid_t pid)
{
	char text[STAT_MAX];
	uint64_t size = 0, from = 0, to = 0;
	const char *at;

	int r = read_stat(pid, text, &at);
	for (int field = STATE; r == 0 && at && field <= ENV_END; at = next_field(at), field++) {
		if (field == SIZE)
			size = strtoull(at, NULL, 10);
		else if (field == ENV_START)
			from = strtoull(at, NULL, 10);
		else if (field == ENV_END)
			to = strtoull(at, NULL, 10);
	}
	if (r < 0 || !size)
		return r < 0 ? r : -ESRCH;
	return to && from == to ? 0 : -EAGAIN;
}

int process_environ(pid_t pid, struct buf *ret)
{
	char path[40];

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	size_t before = ret->len;
	int r = fd_read_all(fd, ENVIRON_MAX, ret);
	return r < 0 || ret->len > before ? r : why_empty(pid);
}

int process_environ_settled(pid_t pid, unsigned patience_ms, struct buf *ret)
{
	int r = process_environ(pid, ret);

	for (unsigned ms = 0; r == -EAGAIN && ms < patience_ms; ms++) {
		(void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		r = process_environ(pid, ret);
	}
	return r;
}
