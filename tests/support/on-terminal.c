/* on-terminal LOG TRIGGER KEYS|close PROGRAM [WORD]...: runs it on a terminal of 80 columns, keeps
 * what it writes in LOG and, once TRIGGER has been written, types KEYS (\x03 is Ctrl-C) or closes
 * the terminal and waits. Ends as the program does. */
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>

#include "support.h"

static char seen[1 << 20];
static size_t length;

static int ended(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0)
		return 99;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	int master;
	FILE *log = argc > 4 ? fopen(argv[1], "we") : NULL;
	pid_t pid = log ? forkpty(&master, NULL, NULL, &size) : -1;
	int typed = argc > 4 && !argv[2][0];

	if (pid < 0)
		return 99;
	if (pid == 0) {
		(void)signal(SIGHUP, SIG_DFL); /* nohup may have started the tests */
		(void)execvp(argv[4], argv + 4);
		_exit(127);
	}
	(void)alarm(LIFE_SECONDS);
	for (ssize_t n; length < sizeof(seen) - 1 &&
			(n = read(master, seen + length, sizeof(seen) - 1 - length)) > 0;) {
		(void)fwrite(seen + length, 1, (size_t)n, log);
		(void)fflush(log);
		length += (size_t)n;
		if (typed || !memmem(seen, length, argv[2], strlen(argv[2])))
			continue;
		typed = 1;
		if (strcmp(argv[3], "close") == 0) {
			(void)close(master);
			return ended(pid);
		}
		(void)write(master, argv[3], strlen(argv[3]));
	}
	return ended(pid);
}
