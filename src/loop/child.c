#include "loop/child.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lang.h"
#include "loop/sandbox.h"

/*
 * A child is started with clone(CLONE_VM | CLONE_VFORK): it borrows our memory until it executes,
 * so starting costs the same however large we are. Until then it may only make system calls, and we
 * do not run. An error comes back through the memory we share.
 */

/* The text of a note and two numbers with their names. */
enum { NOTE_MAX = CHILD_NOTE_TEXT + 64 };

struct birth {
	const struct child_spec *spec;
	pid_t parent;
	int error;
	uint64_t before_ticks; /* the boot clock just before */
};

/* The clock of a process's start time, in its unit. */
static uint64_t boot_ticks(void)
{
	return clock_boot_ms() / 10;
}

static char *put(char *at, const char *end, struct str s)
{
	size_t n = MIN(s.len, (size_t)(end - at));

	memcpy(at, s.p, n);
	return at + n;
}

static char *put_number(char *at, const char *end, uint64_t n)
{
	char digits[20];
	size_t count = 0;

	do
		digits[count++] = (char)('0' + n % 10);
	while (n /= 10);
	while (count && at < end)
		*at++ = digits[--count];
	return at;
}

/* Field 22 of our own entry. Only system calls: we are in the child. */
static uint64_t own_start(void)
{
	char text[1024];
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	uint64_t start = 0;

	if (fd >= 0)
		(void)close(fd);
	ssize_t at = n - 1;
	while (at > 0 && text[at] != ')')
		at--;
	for (int field = 2; at < n && field < 22; field++)
		for (at++; at < n && text[at] != ' ';)
			at++;
	for (at++; at < n && text[at] >= '0' && text[at] <= '9'; at++)
		start = start * 10 + (uint64_t)(text[at] - '0');
	return start;
}

/* Writes the note; runs in the child. When the clock has not moved since the child was made, it is
 * the start time, and /proc need not be read. */
static int write_note(struct child_note *note, uint64_t before_ticks)
{
	char line[NOTE_MAX], *at = line;
	const char *end = line + sizeof(line);
	uint64_t now = boot_ticks();

	at = put(at, end, note->before);
	at = put(at, end, S("\"pid\":"));
	at = put_number(at, end, (uint64_t)getpid());
	at = put(at, end, S(",\"st\":"));
	at = put_number(at, end, now == before_ticks ? now : own_start());
	at = put(at, end, note->after);
	ssize_t n;
	do
		n = write(note->fd, line, (size_t)(at - line));
	while (n < 0 && errno == EINTR);
	if (n == at - line && (!note->durable || fdatasync(note->fd) == 0))
		return 0;
	note->failed = true;
	return errno ? errno : EIO;
}

static int move_fd(int from, int to)
{
	if (from == to)
		return fcntl(to, F_SETFD, 0);
	return dup2(from, to) < 0 ? -1 : 0;
}

static void reset_handlers(void)
{
	for (int sig = 1; sig < NSIG; sig++) {
		struct sigaction old, standard = { .sa_handler = SIG_DFL };

		if (sigaction(sig, NULL, &old) == 0 && old.sa_handler != SIG_DFL &&
			old.sa_handler != SIG_IGN)
			(void)sigaction(sig, &standard, NULL);
	}
}

/* Runs in the child. */
static int begin(void *data)
{
	struct birth *b = data;
	const struct child_spec *s = b->spec;
	int in = s->in, out = s->out, err = s->err;

	if (s->reset_handlers)
		reset_handlers();
	if (!s->foreground)
		(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != b->parent)
		_exit(127); /* died before it could be told to take us along */
	/* Sources that stand where a target goes are moved out of the way first. */
	if (out < 1)
		out = fcntl(out, F_DUPFD_CLOEXEC, 3);
	if (err < 2)
		err = fcntl(err, F_DUPFD_CLOEXEC, 3);
	if ((s->cwd && chdir(s->cwd) < 0) || move_fd(in, 0) < 0 || move_fd(out, 1) < 0 ||
		move_fd(err, 2) < 0) {
		b->error = errno;
		_exit(127);
	}
	if (s->nofile)
		(void)setrlimit(RLIMIT_NOFILE, s->nofile);
	if (s->note && (b->error = write_note(s->note, b->before_ticks)))
		_exit(127);
	if (s->sandbox && (b->error = sandbox_enter(*s->sandbox)))
		_exit(127);
	(void)sigprocmask(SIG_SETMASK, s->mask, NULL);
	(void)execve(s->program, (char *const *)s->argv, (char *const *)s->envp);
	b->error = errno;
	_exit(127);
}

static void reap(int pidfd)
{
	while (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &(siginfo_t){ 0 }, WEXITED) < 0 &&
		errno == EINTR)
		;
}

static int spawn_clone(struct loop *l, struct child *c, const struct child_spec *spec)
{
	struct birth b = { .spec = spec, .parent = loop_pid(l) };
	char *top = loop_stack(l);
	sigset_t all, before;
	int pidfd = -1;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	if (spec->note)
		b.before_ticks = boot_ticks();
	pid_t pid = clone(begin, top, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &b, &pidfd);
	int error = pid < 0 ? errno : b.error;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid > 0 && error) {
		reap(pidfd);
		close_fd(&pidfd);
	}
	if (error)
		return -error;
	c->pid = pid;
	c->pidfd = pidfd;
	return 0;
}

static int spawn_portable(struct child *c, const struct child_spec *spec)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t standard;
	pid_t pid = 0;

	(void)posix_spawnattr_init(&attr);
	(void)posix_spawn_file_actions_init(&actions);
	(void)sigemptyset(&standard);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setpgroup(&attr, 0);
	(void)posix_spawnattr_setsigmask(&attr, spec->mask);
	int r = spec->cwd ? posix_spawn_file_actions_addchdir_np(&actions, spec->cwd) : 0;
	r = r ? r : posix_spawn_file_actions_adddup2(&actions, spec->in, 0);
	r = r ? r : posix_spawn_file_actions_adddup2(&actions, spec->out, 1);
	r = r ? r : posix_spawn_file_actions_adddup2(&actions, spec->err, 2);
	r = r ? r
	      : posix_spawn(&pid, spec->program, &actions, &attr, (char *const *)spec->argv,
			(char *const *)spec->envp);
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (r)
		return -r;
	c->pid = pid;
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return c->pidfd < 0 ? -errno : 0;
}

static void on_exit_ready(struct watch *w, uint32_t events)
{
	struct child *c = container_of(w, struct child, watch);
	siginfo_t info = { 0 };

	(void)events;
	long r = syscall(SYS_waitid, P_PIDFD, c->pidfd, &info, WEXITED | WNOHANG, &c->usage);
	if (r < 0 && errno != EINTR) {
		info = (siginfo_t){ .si_code = CLD_EXITED,
			.si_status = 127 }; /* reaped by a stranger */
	} else if (!info.si_pid) {
		/* Woken for nothing: once more. */
		struct loop *l = w->loop;
		int fd = w->fd;

		watch_stop(w);
		(void)watch_start(l, w, fd, EPOLLIN | EPOLLONESHOT);
		return;
	}
	if (info.si_code == CLD_EXITED)
		c->code = info.si_status;
	else
		c->signal = info.si_status;
	watch_spent(&c->watch);
	close_fd(&c->pidfd);
	c->exited(c);
}

int child_spawn(struct loop *l, struct child *c, const struct child_spec *spec)
{
	c->pid = 0;
	c->pidfd = -1;
	c->code = c->signal = 0;
	int r = spec->portable ? -ENOSYS : spawn_clone(l, c, spec);
	if (spec->sandbox && r < 0)
		return r; /* it cannot be had the other way */
	if (r == -ENOSYS || r == -EINVAL) {
		/* No code of ours runs in this child before it executes: the line has no pid. */
		if (spec->note && (r = -write_note(spec->note, 0)) < 0)
			return r;
		r = spawn_portable(c, spec);
	}
	if (r < 0)
		return r;
	c->watch.ready = on_exit_ready;
	r = watch_start(l, &c->watch, c->pidfd, EPOLLIN | EPOLLONESHOT);
	if (r < 0) {
		child_signal(c, SIGKILL);
		reap(c->pidfd);
		child_done(c);
	}
	return r;
}

void child_signal(struct child *c, int sig)
{
	if (child_running(c))
		(void)syscall(SYS_pidfd_send_signal, c->pidfd, sig, NULL, 0);
}

void child_done(struct child *c)
{
	watch_stop(&c->watch);
	if (c->pid)
		close_fd(&c->pidfd);
}
