/* The engine gives every command a process group and pipes of its own. An agent on a terminal needs
 * the opposite, so this is the one place above loop/ that starts a process by itself. */
#include "app/agents/terminal.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "loop/tree.h"

enum { GRACE_MS = 5000, POLL_MS = 20, DEPTH_MAX = 64 };

static sigset_t before, held;
static bool holding;

void terminal_hold_signals(void)
{
	static const int wanted[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCONT, SIGTSTP };

	if (holding)
		return;
	holding = true;
	(void)sigemptyset(&held);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct sigaction now;

		/* One that is ignored (nohup) stays ignored, here and in the agent. */
		if (sigaction(wanted[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			(void)sigaddset(&held, wanted[i]);
	}
	(void)sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	(void)sigaddset(&held, SIGCHLD);
	(void)pthread_sigmask(SIG_BLOCK, &held, &before);
}

/* The agent may be a shell that waits for a program: both must hear what a terminal would have told
 * the whole group. */
static void pass_on(pid_t pid, int signal, unsigned depth)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF children = BUF_INIT;

	buf_printf(&path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
	if (depth < DEPTH_MAX && file_read(buf_cstr(&path), 1 << 20, &children) == 0) {
		struct str list = buf_str(&children);

		for (size_t at = 0; at < list.len;) {
			size_t end = str_find(list, ' ', at);
			uint64_t child;

			if (str_to_uint(str_sub(list, at, end - at), &child))
				pass_on((pid_t)child, signal, depth + 1);
			at = end + 1;
		}
	}
	(void)kill(pid, signal);
}

struct attended {
	pid_t pid;
	bool ended, asked;
	int status;
	uint64_t ask_at_ms, kill_at_ms; /* when more is done than passing signals on; 0: never */
	struct tree_asked told;
};

static bool is_agent(void *data, pid_t pid)
{
	const struct attended *a = data;

	return pid == a->pid;
}

static void look_at_agent(struct attended *a)
{
	siginfo_t info = { 0 };

	while (!a->ended && waitid(P_PID, (id_t)a->pid, &info, WEXITED | WSTOPPED | WNOHANG) == 0 &&
		info.si_pid) {
		if (info.si_code == CLD_STOPPED) {
			(void)kill(getpid(), SIGSTOP);
		} else {
			a->ended = true;
			a->status =
				info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
		}
		info = (siginfo_t){ 0 };
	}
	(void)tree_reap(is_agent, a);
}

static void on_signal(struct attended *a, const siginfo_t *info)
{
	int signal = info->si_signo;
	bool typed = info->si_code == SI_KERNEL; /* at the terminal, to the agent as well */

	switch (signal) {
	case SIGCHLD:
		look_at_agent(a);
		return;
	case SIGTSTP: /* we stop when the agent does */
		if (!typed)
			pass_on(a->pid, signal, 0);
		return;
	case SIGINT:
	case SIGQUIT:
		if (typed)
			return;
		break;
	case SIGCONT:
		pass_on(a->pid, signal, 0);
		return;
	default:
		break;
	}
	/* A signal asks this process to end. What does not listen is ended all the same; a second
	 * signal does not wait. A terminal that is gone has told the agent itself. */
	if (!typed) {
		uint64_t now = clock_mono_ms();

		a->ask_at_ms = now + GRACE_MS / 2;
		a->kill_at_ms = now + (a->kill_at_ms ? 0 : GRACE_MS);
	}
	a->asked = true;
	pass_on(a->pid, signal, 0);
	/* A stopped agent would not hear it. */
	if (signal == SIGTERM || signal == SIGHUP)
		pass_on(a->pid, SIGCONT, 0);
}

/* The next step of ending the agent and everything it started. Returns how many are left. */
static size_t press(struct attended *a)
{
	uint64_t now = clock_mono_ms();
	struct tree_scan *scan = tree_scan_new();
	size_t left = !scan                  ? 0
		      : now >= a->kill_at_ms ? tree_kill(scan, NULL)
		      : now >= a->ask_at_ms  ? tree_ask(scan, NULL, &a->told)
					     : tree_count(scan, NULL);

	tree_scan_free(scan);
	return left;
}

static void attend(struct attended *a)
{
	static const struct timespec poll = { .tv_nsec = POLL_MS * 1000000L };

	while (!a->ended) {
		siginfo_t info;
		int got = a->kill_at_ms ? sigtimedwait(&held, &info, &poll)
					: sigwaitinfo(&held, &info);

		if (got > 0)
			on_signal(a, &info);
		if (a->kill_at_ms)
			(void)press(a);
		look_at_agent(a);
	}
}

/* What the agent has left running, after it was asked to end. */
static void sweep(struct attended *a)
{
	unsigned empty = 0;

	if (!a->kill_at_ms)
		a->kill_at_ms = clock_mono_ms() + GRACE_MS;
	a->ask_at_ms = 0;
	while (empty < 2) {
		size_t left = press(a);
		size_t reaped = tree_reap(is_agent, a);

		empty = left || reaped ? 0 : empty + 1;
		if (left)
			(void)nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000L }, NULL);
	}
}

static int spawn(const struct terminal_spec *spec, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;

	(void)posix_spawnattr_init(&attr);
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setsigmask(&attr, &before);
	int r = posix_spawn_file_actions_addchdir_np(&actions, spec->cwd);
	if (!r && spec->in >= 0)
		r = posix_spawn_file_actions_adddup2(&actions, spec->in, STDIN_FILENO);
	r = r ? r
	      : posix_spawn(pid, spec->program, &actions, &attr, (char *const *)spec->argv,
			(char *const *)spec->envp);
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&actions);
	return -r;
}

int terminal_run(const struct terminal_spec *spec)
{
	struct attended a = { 0 };

	terminal_hold_signals();
	(void)tree_become_subreaper();
	int r = spawn(spec, &a.pid);
	if (r < 0)
		return r;
	attend(&a);
	if (a.asked)
		sweep(&a);
	tree_asked_done(&a.told);
	return a.status;
}
