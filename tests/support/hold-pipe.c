/* hold-pipe FILE silent: exits at once; a child keeps standard output open and is silent.
 * hold-pipe FILE COUNT MS: the child prints COUNT lines, one every MS, and ends. */
#include "support.h"

int main(int argc, char **argv)
{
	if (argc < 3)
		return 99;
	(void)printf("parent\n");
	(void)fflush(stdout);
	pid_t pid = fork();
	if (pid != 0)
		return pid < 0 ? 99 : 0;
	note(argv[1], "", getpid());
	if (argc < 4)
		nap_ms(LIFE_SECONDS * 1000L);
	for (int i = 0; argc > 3 && i < atoi(argv[2]); i++) {
		nap_ms(atol(argv[3]));
		(void)printf("child %d\n", i);
		(void)fflush(stdout);
	}
	return 0;
}
