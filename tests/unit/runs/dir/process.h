#pragma once

/* Processes that a test starts, which do not outlive it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

/* Sleeps with that environment; returns when it does. */
static UNUSED pid_t sleeper(const char *const environment[])
{
	static const char *const argv[] = { "sleep", "86400", NULL };
	int started[2];
	char byte;

	assert_int_equal(pipe2(started, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)execve("/bin/sleep", (char *const *)argv, (char *const *)environment);
		_exit(127);
	}
	(void)close(started[1]);
	assert_int_equal(read(started[0], &byte, 1), 0); /* closed by exec */
	(void)close(started[0]);
	return pid;
}

/* Ends it, if it still is; returns the signal that it was ended by. */
static UNUSED int reap(pid_t pid)
{
	int status;

	(void)kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}
