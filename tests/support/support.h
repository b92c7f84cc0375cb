#pragma once

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What the little programs of the end-to-end tests share. Each waits at most this long, so that
 * nothing stays for ever when a test has gone wrong. */
enum { LIFE_SECONDS = 600 };

/* Adds a line to `path` in one go; several processes may do so at once. */
static inline void note(const char *path, const char *text, long number)
{
	char line[200];
	int n = snprintf(line, sizeof(line), "%s%ld\n", text, number);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, line, (size_t)n) != n)
		_exit(99);
	close(fd);
}

static inline void nap_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) < 0)
		;
}

static inline void leave_standard_descriptors(void)
{
	int fd = open("/dev/null", O_RDWR);

	for (int i = 0; i < 3; i++)
		(void)dup2(fd, i);
	if (fd > 2)
		close(fd);
}
