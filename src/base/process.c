#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lang.h"

/* Fields are counted as in proc(5), from 1. */
enum { STATE = 3, PARENT, GROUP, SESSION, START = 22 };

int process_read(int64_t pid, struct process_stat *ret)
{
	char path[64], text[1024];

	*ret = (struct process_stat){ .pid = (pid_t)pid };
	(void)snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return n == 0 || errno == ENOENT ? -ESRCH : -errno;
	text[n] = '\0';
	/* The name stands in parentheses and may hold anything, parentheses too. */
	const char *at = strrchr(text, ')');
	int field = STATE;
	for (; at && field <= START && (at = strchr(at, ' ')); field++) {
		at++;
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

uint64_t process_ticks_ms(uint64_t ticks)
{
	return ticks * 1000 / (uint64_t)MAX(sysconf(_SC_CLK_TCK), 1L);
}
