/* fork-setsid FILE [stay [ignore]]: a daemon in a session of its own writes its pid to FILE and
 * waits. With `stay` the command waits as well; with `ignore` the daemon ignores SIGTERM. */
#include "support.h"

int main(int argc, char **argv)
{
	pid_t pid = argc > 1 ? fork() : -1;

	if (pid < 0)
		return 99;
	if (pid > 0) {
		if (argc > 2) {
			note(argv[1], "", getpid());
			nap_ms(LIFE_SECONDS * 1000L);
		}
		return 0;
	}
	(void)setsid();
	if (argc > 3)
		(void)signal(SIGTERM, SIG_IGN);
	leave_standard_descriptors();
	pid = fork();
	if (pid != 0)
		_exit(pid < 0 ? 99 : 0);
	note(argv[1], "", getpid());
	nap_ms(LIFE_SECONDS * 1000L);
	return 0;
}
