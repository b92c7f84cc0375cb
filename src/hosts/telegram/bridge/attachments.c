#include "hosts/telegram/bridge/attachments.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

bool attachment_refused(
	enum attach_refusal refusal, const char *path, int64_t size, uint64_t max, struct report *r)
{
	switch (refusal) {
	case ATTACH_NOT_A_FILE:
		return report_error(
			r, (struct where){ 0 }, "cannot attach '%s': it is not a file", path);
	case ATTACH_TOO_LARGE:
		return report_error(r, (struct where){ 0 },
			"cannot attach '%s': it has %lld bytes, and %llu may be sent", path,
			(long long)size, (unsigned long long)max);
	case ATTACH_EMPTY:
		return report_error(
			r, (struct where){ 0 }, "cannot attach '%s': it is empty", path);
	case ATTACH_OK:
	case ATTACH_NO_TURN:
	case ATTACH_TOO_MANY:
		break;
	}
	return true;
}

int attachment_look(const char *path, int64_t *ret_size, struct report *r)
{
	/* Does not wait for the other end of a pipe. */
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return report_errno(r, errno, "cannot attach '%s'", path), -1;
	*ret_size = S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
	return take_fd(&fd);
}

int attachment_open(const char *path, uint64_t max, struct report *r)
{
	int64_t size;
	AUTO_CLOSE int fd = attachment_look(path, &size, r);

	if (fd < 0 || !attachment_refused(attach_file(size, max), path, size, max, r))
		return -1;
	return take_fd(&fd);
}
