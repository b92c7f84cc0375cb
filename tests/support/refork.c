/* refork FILE MS: when asked to end, goes on under a new pid, and again, for MS milliseconds; every
 * pid is written to FILE. The last one waits to be killed. */
#include "support.h"

static volatile sig_atomic_t asked;

static void on_term(int sig)
{
	(void)sig;
	asked = 1;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 99;
	(void)signal(SIGTERM, on_term);
	note(argv[1], "", getpid());
	while (!asked)
		(void)pause();
	for (long rounds = atol(argv[2]); rounds > 0; rounds--) {
		pid_t pid = fork();

		if (pid > 0)
			_exit(0);
		if (pid == 0)
			note(argv[1], "", getpid());
		nap_ms(1);
	}
	for (int i = 0; i < LIFE_SECONDS; i++)
		nap_ms(1000);
	return 0;
}
