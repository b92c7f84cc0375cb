#include "runs/dir/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/process.h"

static bool read_boot(char ret[40])
{
	AUTO_CLOSE int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : fd_read_at(fd, ret, 36, 0);

	ret[MAX(n, (ssize_t)0)] = '\0';
	return n == 36;
}

static int read_start(int64_t pid, uint64_t *ret)
{
	struct process_stat p;
	int r = process_read(pid, &p);

	*ret = p.start;
	return r < 0 ? r : p.start ? 0 : -ESRCH;
}

bool identity_of(int64_t pid, struct identity *ret)
{
	*ret = (struct identity){ .pid = pid };
	int r = read_start(pid, &ret->start);
	return read_boot(ret->boot) && r == 0;
}

/* It does not change, but a child of this process has another one. */
bool identity_self(struct identity *ret)
{
	static struct identity known;
	pid_t pid = getpid();

	if (known.pid != pid && !identity_of(pid, &known)) {
		*ret = known;
		known.pid = 0;
		return false;
	}
	*ret = known;
	return true;
}

int identity_open(const struct identity *who)
{
	char boot[40];

	if (who->pid <= 0)
		return -ESRCH;
	if (read_boot(boot) && who->boot[0] && strcmp(boot, who->boot) != 0)
		return -ESRCH; /* of an earlier boot */
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)who->pid, 0);
	if (fd < 0)
		return -errno;
	/* The descriptor holds on to one process; only now is the comparison worth something. */
	uint64_t start;
	int r = read_start(who->pid, &start);
	if (r == 0 && start == who->start)
		return fd;
	(void)close(fd);
	return r ? r : -EPERM;
}

int identity_signal(int pidfd, int signal, int value)
{
	siginfo_t info = { .si_signo = signal, .si_code = SI_QUEUE };

	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_int = value;
	return syscall(SYS_pidfd_send_signal, pidfd, signal, &info, 0) < 0 ? -errno : 0;
}
