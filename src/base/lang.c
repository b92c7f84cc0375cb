#include "base/lang.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void lang_unreachable(const char *file, int line, const char *why)
{
	(void)fprintf(stderr, "roux: bug at %s:%d: %s\n", file, line, why);
	abort();
}

void lang_auto_free(void *pointer_to_pointer)
{
	free(*(void **)pointer_to_pointer);
}

void lang_auto_close(const int *fd)
{
	int copy = *fd;

	close_fd(&copy);
}

void close_fd(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	errno = saved;
}
