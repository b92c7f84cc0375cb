/* at-call STATE LOG NUMBER WHAT ROUX [WORD]...: runs ROUX and counts the calls by which it, or a
 * roux that it starts, is about to change something below the directory STATE; each is written to
 * LOG. At call NUMBER (0: never) WHAT happens:
 *   kill    SIGKILL for the process that makes the call, and for the roux that has forked it
 *   group   the same for its process group
 *   ENOSPC, EROFS, EACCES, EIO, …    the call and all that follow fail so
 *   do:COMMAND   the call waits until a shell has executed COMMAND
 *   do%:COMMAND  the same, and every call counts, as with `count%`
 *   ENOSPC+N   the same, but only the next N calls fail
 *   ENOSPC@NAME   only calls on files whose path ends so count, also those that open for reading
 *   ENOSPC%CALL   only calls of that name count, of all those that roux makes, wherever they lead;
 *                 `count%` counts every one. A name is that of the call, and `:new` behind it
 *                 when a file may be made, `:lock`, `:unlock` and `:dup` of fcntl
 * The call has not been executed when the signal comes, so that NUMBER = 1, 2, 3, … are all the
 * states that a crash can leave behind. Ends as ROUX does, when nobody of its kind is left. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* What names the file that a call changes. */
enum where {
	BY_FD,   /* descriptor in argument 0 */
	BY_FD2,  /* descriptor in argument 2 */
	BY_PATH, /* path in argument 0 */
	BY_PATH1,
	BY_AT, /* directory and path in arguments 0 and 1 */
	BY_AT1,
	BY_AT2,
	BY_FD4,  /* of a file that is mapped */
	NOWHERE, /* it is not about a file */
};

struct call {
	int number;
	const char *name;
	enum where where;
	int undoes; /* makes room: a full disk does not mind */
};

static const struct call calls[] = {
	{ SYS_write, "write", BY_FD, 0 },
	{ SYS_pwrite64, "pwrite", BY_FD, 0 },
	{ SYS_writev, "writev", BY_FD, 0 },
	{ SYS_ftruncate, "ftruncate", BY_FD, 0 },
	{ SYS_fallocate, "fallocate", BY_FD, 0 },
	{ SYS_fsync, "fsync", BY_FD, 0 },
	{ SYS_fdatasync, "fdatasync", BY_FD, 0 },
	{ SYS_sendfile, "sendfile", BY_FD, 0 },
	{ SYS_copy_file_range, "copy_file_range", BY_FD2, 0 },
	{ SYS_splice, "splice", BY_FD2, 0 },
	{ SYS_openat, "openat", BY_AT, 0 },
	{ SYS_openat2, "openat2", BY_AT, 0 },
	{ SYS_mkdirat, "mkdirat", BY_AT, 0 },
	{ SYS_mknodat, "mknodat", BY_AT, 0 },
	{ SYS_unlinkat, "unlinkat", BY_AT, 1 },
	{ SYS_symlinkat, "symlinkat", BY_AT1, 0 },
	{ SYS_linkat, "linkat", BY_AT2, 0 },
	{ SYS_renameat2, "renameat2", BY_AT2, 0 },
#ifdef SYS_renameat
	{ SYS_renameat, "renameat", BY_AT2, 0 },
#endif
#ifdef SYS_mkdir /* architectures with history */
	{ SYS_mkdir, "mkdir", BY_PATH, 0 },
	{ SYS_mknod, "mknod", BY_PATH, 0 },
	{ SYS_unlink, "unlink", BY_PATH, 1 },
	{ SYS_rmdir, "rmdir", BY_PATH, 1 },
	{ SYS_symlink, "symlink", BY_PATH1, 0 },
	{ SYS_link, "link", BY_PATH1, 0 },
	{ SYS_rename, "rename", BY_PATH1, 0 },
#endif
};

/* Those that change nothing, or nothing on a disk. The filter has them with `%` only. Not
 * sendmsg(): by that the filter comes here. */
static const struct call others[] = {
	{ SYS_read, "read", BY_FD, 0 },
	{ SYS_pread64, "pread", BY_FD, 0 },
	{ SYS_readv, "readv", BY_FD, 0 },
	{ SYS_lseek, "lseek", BY_FD, 0 },
	{ SYS_fstat, "fstat", BY_FD, 0 },
	{ SYS_newfstatat, "newfstatat", BY_AT, 0 },
	{ SYS_statx, "statx", BY_AT, 0 },
	{ SYS_faccessat, "faccessat", BY_AT, 0 },
	{ SYS_faccessat2, "faccessat2", BY_AT, 0 },
	{ SYS_readlinkat, "readlinkat", BY_AT, 0 },
	{ SYS_fstatfs, "fstatfs", BY_FD, 0 },
	{ SYS_statfs, "statfs", BY_PATH, 0 },
	{ SYS_getdents64, "getdents64", BY_FD, 0 },
	{ SYS_getcwd, "getcwd", NOWHERE, 0 },
	{ SYS_chdir, "chdir", BY_PATH, 0 },
	{ SYS_fchdir, "fchdir", BY_FD, 0 },
	{ SYS_fchmod, "fchmod", BY_FD, 0 },
	{ SYS_fchmodat, "fchmodat", BY_AT, 0 },
	{ SYS_fchown, "fchown", BY_FD, 0 },
	{ SYS_utimensat, "utimensat", BY_AT, 0 },
	{ SYS_flock, "flock", BY_FD, 0 },
	{ SYS_fcntl, "fcntl", BY_FD, 0 },
	{ SYS_mmap, "mmap", BY_FD4, 0 },
	{ SYS_mremap, "mremap", NOWHERE, 0 },
	{ SYS_memfd_create, "memfd_create", NOWHERE, 0 },
	{ SYS_pipe2, "pipe2", NOWHERE, 0 },
	{ SYS_dup3, "dup3", BY_FD, 0 },
	{ SYS_clone, "clone", NOWHERE, 0 },
	{ SYS_clone3, "clone3", NOWHERE, 0 },
	{ SYS_execve, "execve", BY_PATH, 0 },
	{ SYS_wait4, "wait4", NOWHERE, 0 },
	{ SYS_waitid, "waitid", NOWHERE, 0 },
	{ SYS_epoll_create1, "epoll_create1", NOWHERE, 0 },
	{ SYS_epoll_ctl, "epoll_ctl", NOWHERE, 0 },
	{ SYS_epoll_pwait, "epoll_pwait", NOWHERE, 0 },
	{ SYS_ppoll, "ppoll", NOWHERE, 0 },
	{ SYS_timerfd_create, "timerfd_create", NOWHERE, 0 },
	{ SYS_timerfd_settime, "timerfd_settime", NOWHERE, 0 },
	{ SYS_signalfd4, "signalfd4", NOWHERE, 0 },
	{ SYS_eventfd2, "eventfd2", NOWHERE, 0 },
	{ SYS_inotify_init1, "inotify_init1", NOWHERE, 0 },
	{ SYS_inotify_add_watch, "inotify_add_watch", BY_PATH1, 0 },
	{ SYS_socket, "socket", NOWHERE, 0 },
	{ SYS_bind, "bind", NOWHERE, 0 },
	{ SYS_connect, "connect", NOWHERE, 0 },
	{ SYS_listen, "listen", NOWHERE, 0 },
	{ SYS_sendto, "sendto", NOWHERE, 0 },
	{ SYS_recvfrom, "recvfrom", NOWHERE, 0 },
	{ SYS_pidfd_open, "pidfd_open", NOWHERE, 0 },
	{ SYS_pidfd_send_signal, "pidfd_send_signal", NOWHERE, 0 },
	{ SYS_kill, "kill", NOWHERE, 0 },
	{ SYS_prlimit64, "prlimit64", NOWHERE, 0 },
	{ SYS_getrandom, "getrandom", NOWHERE, 0 },
#ifdef SYS_stat
	{ SYS_stat, "stat", BY_PATH, 0 },
	{ SYS_lstat, "lstat", BY_PATH, 0 },
	{ SYS_access, "access", BY_PATH, 0 },
	{ SYS_open, "open", BY_PATH, 0 },
	{ SYS_readlink, "readlink", BY_PATH, 0 },
	{ SYS_chmod, "chmod", BY_PATH, 0 },
	{ SYS_vfork, "vfork", NOWHERE, 0 },
	{ SYS_fork, "fork", NOWHERE, 0 },
	{ SYS_pipe, "pipe", NOWHERE, 0 },
	{ SYS_dup2, "dup2", BY_FD, 0 },
	{ SYS_poll, "poll", NOWHERE, 0 },
	{ SYS_epoll_wait, "epoll_wait", NOWHERE, 0 },
#endif
};

static const char *state;
static size_t state_len;
static struct stat roux;
static FILE *log_file;
static long number, seen, failing = -1;
static const char *what, *only, *kind, *command = "";

static void die(const char *why)
{
	(void)fprintf(stderr, "at-call: %s: %s\n", why, strerror(errno));
	_exit(99);
}

/* -- the filter ----------------------------------------------------------------------------------
 */

static const struct call *call_of(int nr)
{
	for (size_t i = 0; i < COUNT(calls); i++)
		if (calls[i].number == nr)
			return &calls[i];
	for (size_t i = 0; i < COUNT(others); i++)
		if (others[i].number == nr)
			return &others[i];
	return NULL;
}

/* Only what can count: each stop costs two changes of process. */
static int wanted(const struct call *c, int changes)
{
	size_t len = strlen(c->name);

	if (!kind)
		return changes;
	if (c->number == SYS_execve || c->number == SYS_fcntl)
		return 1; /* see begun() */
	return !*kind || (strncmp(kind, c->name, len) == 0 && (!kind[len] || kind[len] == ':'));
}

static unsigned short stop_at(struct sock_filter *code, const struct call *c)
{
	code[0] =
		(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)c->number, 0, 1);
	code[1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	return 2;
}

static int install(void)
{
	struct sock_filter code[2 * (COUNT(calls) + COUNT(others)) + 2];
	unsigned short n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < COUNT(calls); i++)
		if (wanted(&calls[i], 1))
			n += stop_at(code + n, &calls[i]);
	for (size_t i = 0; i < COUNT(others); i++)
		if (wanted(&others[i], 0))
			n += stop_at(code + n, &others[i]);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { n, code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die("no_new_privs");
	return (int)syscall(
		SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static void send_fd(int to, int fd)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	char zero = 0;
	struct iovec byte = { &zero, 1 };
	struct msghdr m = { .msg_iov = &byte,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(to, &m, 0) < 0)
		_exit(99);
}

static int receive_fd(int from)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec room = { &byte, 1 };
	struct msghdr m = { .msg_iov = &room,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room) };
	int fd = -1;

	if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) > 0 && CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* -- whose call, and where -----------------------------------------------------------------------
 */

static int is_roux(pid_t pid)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat(path, &st) == 0 && st.st_ino == roux.st_ino && st.st_dev == roux.st_dev;
}

static pid_t parent_of(pid_t pid)
{
	char path[64], text[512];
	int up = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	if (f)
		(void)fclose(f);
	text[n] = '\0';
	const char *rest = strrchr(text, ')');
	return rest && sscanf(rest, ") %*c %d", &up) == 1 ? up : 0;
}

static void link_of(pid_t pid, const char *name, int fd, char ret[4096])
{
	char path[64];

	if (fd >= 0)
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	else
		(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	ssize_t n = readlink(path, ret, 4095);
	ret[n < 0 ? 0 : n] = '\0';
}

static void text_at(pid_t pid, uint64_t at, char ret[4096])
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, ret, 4095, (off_t)at);
	/* The string may stand at the very end of what is mapped. */
	for (ssize_t less = 4096; fd >= 0 && n < 0 && less > 1; n = pread(fd, ret, less, (off_t)at))
		less /= 2;
	if (fd >= 0)
		(void)close(fd);
	ret[n < 0 ? 0 : n] = '\0';
}

/* The beginning of what argument 2 points to, in the memory of the caller. */
static uint64_t pointed_at(const struct seccomp_notif *n)
{
	char path[64];
	uint64_t word = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)n->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (pread(fd, &word, sizeof(word), (off_t)n->data.args[2]) != sizeof(word))
			word = 0;
		(void)close(fd);
	}
	return word;
}

static uint64_t flags_of(const struct seccomp_notif *n)
{
	return n->data.nr == SYS_openat ? n->data.args[2] : pointed_at(n);
}

static void place_of(const struct seccomp_notif *n, const struct call *c, char ret[8192])
{
	const __u64 *a = n->data.args;
	char dir[4096] = "", name[4096] = "";
	pid_t pid = (pid_t)n->pid;
	int at = -1, path = -1;

	switch (c->where) {
	case BY_FD:
	case BY_FD2:
	case BY_FD4:
		link_of(pid, NULL,
			(int)a[c->where == BY_FD4    ? 4
				: c->where == BY_FD2 ? 2
						     : 0],
			dir);
		break;
	case NOWHERE:
		break;
	case BY_PATH:
	case BY_PATH1:
		path = (int)(c->where - BY_PATH);
		break;
	case BY_AT:
	case BY_AT1:
		at = (int)(c->where - BY_AT);
		path = at + 1;
		break;
	case BY_AT2:
		at = 2;
		path = 3;
		break;
	}
	if (path >= 0) {
		text_at(pid, a[path], name);
		if (name[0] != '/')
			link_of(pid, "cwd", at >= 0 ? (int)a[at] : -1, dir);
	}
	(void)snprintf(ret, 8192, "%s%s%s", name[0] == '/' ? "" : dir,
		path >= 0 && name[0] != '/' ? "/" : "", name);
}

/* Behind the name of a call that does several things. */
static const char *sort_of(const struct seccomp_notif *n, const struct call *c)
{
	if (c->number == SYS_openat || c->number == SYS_openat2)
		return flags_of(n) & O_CREAT ? ":new" : "";
	if (c->number != SYS_fcntl)
		return "";
	switch (n->data.args[1]) {
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_SETLK:
	case F_OFD_SETLKW: /* the kernel gives back what a process has, whatever happens */
		return (short)pointed_at(n) == F_UNLCK ? ":unlock" : ":lock";
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return ":dup";
	default:
		return ":flags";
	}
}

/* With `%`: what the loader and a sanitizer do before main() is not roux's. main() begins by asking
 * for the flags of its standard descriptors. A child that has not executed anything yet continues
 * its parent's main(). */
static int begun(const struct seccomp_notif *n)
{
	enum { PROCESSES = 4096 };
	static struct {
		pid_t pid;
		int begun;
	} known[PROCESSES];
	pid_t pid = (pid_t)n->pid;
	size_t i = 0;

	while (i < PROCESSES - 1 && known[i].pid && known[i].pid != pid)
		i++;
	if (!known[i].pid) {
		pid_t up = parent_of(pid);

		known[i].pid = pid;
		for (size_t k = 0; k < i; k++)
			if (known[k].pid == up)
				known[i].begun = known[k].begun;
	}
	int was = known[i].begun;
	if (n->data.nr == SYS_execve)
		known[i].begun = 0;
	else if (n->data.nr == SYS_fcntl && n->data.args[1] == F_GETFD)
		known[i].begun = 1;
	return was;
}

static int counts(
	const struct seccomp_notif *n, const struct call *c, const char *sort, char place[8192])
{
	if (!is_roux((pid_t)n->pid))
		return 0;
	if (kind) {
		size_t len = strlen(c->name);

		if (!begun(n))
			return 0;
		place_of(n, c, place);
		return !*kind ||
		       (strncmp(kind, c->name, len) == 0 && strcmp(kind + len, sort) == 0);
	}
	int opens = c->number == SYS_openat || c->number == SYS_openat2;
	if (opens && !only && !*sort)
		return 0;
	place_of(n, c, place);
	size_t len = strlen(place), tail = only ? strlen(only) : 0;
	return strncmp(place, state, state_len) == 0 && len >= tail &&
	       strcmp(place + len - tail, only ? only : "") == 0;
}

/* -- what happens --------------------------------------------------------------------------------
 */

static int error_of(const char *word)
{
	static const struct {
		const char *name;
		int number;
	} names[] = { { "ENOSPC", ENOSPC }, { "EROFS", EROFS }, { "EACCES", EACCES },
		{ "EIO", EIO }, { "EMFILE", EMFILE }, { "ENFILE", ENFILE }, { "ENOMEM", ENOMEM },
		{ "EINTR", EINTR }, { "EDQUOT", EDQUOT }, { "EAGAIN", EAGAIN },
		{ "ENOLCK", ENOLCK }, { "EPERM", EPERM } };

	for (size_t i = 0; i < COUNT(names); i++)
		if (strncmp(word, names[i].name, strlen(names[i].name)) == 0)
			return names[i].number;
	return 0;
}

static void strike(pid_t pid)
{
	pid_t up = parent_of(pid);

	if (strcmp(what, "group") == 0) {
		pid_t group = getpgid(pid);

		if (is_roux(up) && up != getpid())
			group = getpgid(up);
		if (group > 0 && group != getpgrp())
			(void)kill(-group, SIGKILL);
	}
	if (is_roux(up))
		(void)kill(up, SIGKILL);
	(void)kill(pid, SIGKILL);
}

static void answer(int listener, const struct seccomp_notif *n)
{
	struct seccomp_notif_resp reply = { .id = n->id,
		.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	const struct call *c = call_of(n->data.nr);
	const char *sort = c ? sort_of(n, c) : "";
	char place[8192];
	int error = error_of(what);

	if (c && counts(n, c, sort, place)) {
		int below = strncmp(place, state, state_len) == 0;

		seen++;
		(void)fprintf(log_file, "%ld %s%s %s\n", seen, c->name, kind ? sort : "",
			place + (below ? state_len : 0));
		if (seen == number) {
			const char *plus = strchr(what, '+');

			failing = plus ? atol(plus + 1) : 1000000000;
			if (*command)
				(void)!system(command);
			else if (!error && strncmp(what, "count", 5) != 0)
				strike((pid_t)n->pid);
		}
		if (error && failing > 0 && number && seen >= number &&
			!(error == ENOSPC && c->undoes)) {
			failing--;
			reply.flags = 0;
			reply.error = -error;
		}
	}
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply); /* it may be dead by now */
}

static void serve(int listener)
{
	for (;;) {
		struct pollfd p = { .fd = listener, .events = POLLIN };
		struct seccomp_notif n = { 0 };

		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			break;
		if (p.revents & POLLIN) {
			if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) == 0)
				answer(listener, &n);
		} else if (p.revents) {
			break; /* nobody is left who could call */
		}
	}
}

int main(int argc, char **argv)
{
	int ends[2], status;

	if (argc < 6 || stat(argv[5], &roux) < 0)
		return 99;
	state = argv[1];
	state_len = strlen(state);
	log_file = fopen(argv[2], "we");
	number = atol(argv[3]);
	what = argv[4];
	if (strncmp(what, "do%:", 4) == 0)
		kind = "";
	if (strncmp(what, "do:", 3) == 0 || kind) {
		command = strchr(what, ':') + 1;
	} else {
		only = strchr(what, '@') ? strchr(what, '@') + 1 : NULL;
		kind = strchr(what, '%') ? strchr(what, '%') + 1 : NULL;
	}
	if (!log_file || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		die("cannot begin");
	pid_t pid = fork();
	if (pid == 0) {
		(void)setpgid(0, 0);
		int listener = install();
		if (listener < 0)
			_exit(98);
		send_fd(ends[1], listener);
		(void)close(listener);
		(void)execv(argv[5], argv + 5);
		_exit(99);
	}
	(void)close(ends[1]);
	int listener = receive_fd(ends[0]);
	if (listener >= 0)
		serve(listener);
	(void)fclose(log_file);
	if (waitpid(pid, &status, 0) < 0)
		return 99;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
