/* ignore-term FILE: writes its pid to FILE and stays, whatever it is asked. */
#include "support.h"

int main(int argc, char **argv)
{
	static const int asked[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE };

	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++)
		(void)signal(asked[i], SIG_IGN);
	if (argc > 1)
		note(argv[1], "", getpid());
	nap_ms(LIFE_SECONDS * 1000L);
	return 0;
}
