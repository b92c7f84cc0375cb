/* stop-self FILE: writes its pid to FILE and stops itself, as if by Ctrl-Z. */
#include "support.h"

int main(int argc, char **argv)
{
	if (argc < 2)
		return 99;
	note(argv[1], "", getpid());
	(void)raise(SIGSTOP);
	nap_ms(LIFE_SECONDS * 1000L);
	return 0;
}
