/* count-term FILE: three processes (itself, a child in its group, a child in a session of its own)
 * each write "ready PID", and "term PID" whenever SIGTERM arrives. They do not end by themselves.
 */
#include "support.h"

static const char *file;

static void on_term(int sig)
{
	(void)sig;
	note(file, "term ", getpid());
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 99;
	file = argv[1];
	(void)signal(SIGTERM, on_term);
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 99;
		if (pid == 0) {
			if (i)
				(void)setsid();
			break;
		}
	}
	note(file, "ready ", getpid());
	for (int i = 0; i < LIFE_SECONDS * 10; i++)
		nap_ms(100);
	return 0;
}
