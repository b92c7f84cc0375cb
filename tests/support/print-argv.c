/* print-argv WORD...: the words as hexadecimal digits, one a line. */
#include "support.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		for (const char *c = argv[i]; *c; c++)
			(void)printf("%02x", (unsigned char)*c);
		(void)printf("\n");
	}
	return 0;
}
