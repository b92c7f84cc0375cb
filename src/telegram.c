#include "hosts/telegram/bridge/cli.h"

/* The program roux-telegram, reached as `roux telegram`. */
int main(int argc, char **argv)
{
	return telegram_main(argc, argv);
}
