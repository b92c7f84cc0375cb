#include "hosts/serve/cli.h"

/* The program roux-serve, reached as `roux serve`. */
int main(int argc, char **argv)
{
	return serve_main(argc, argv);
}
