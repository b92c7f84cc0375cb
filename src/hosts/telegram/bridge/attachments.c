#include "hosts/telegram/bridge/attachments.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

int attachment_open(const char *path, uint64_t max, struct report *r)
{
	/* Does not wait for the other end of a pipe. */
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return report_errno(r, errno, "cannot attach '%s'", path), -1;
	if (!S_ISREG(st.st_mode))
		return report_error(r, (struct where){ 0 }, "cannot attach '%s': it is not a file",
			       path),
		       -1;
	if ((uint64_t)st.st_size > max)
		return report_error(r, (struct where){ 0 },
			       "cannot attach '%s': it has %lld bytes, and %llu may be sent", path,
			       (long long)st.st_size, (unsigned long long)max),
		       -1;
	if (st.st_size == 0)
		return report_error(
			       r, (struct where){ 0 }, "cannot attach '%s': it is empty", path),
		       -1;
	return take_fd(&fd);
}
