/* usage: markdown ROUNDS FILE     renders the Markdown of FILE as messages ROUNDS times; prints how
 * many milliseconds of the processor one took markdown - FILE          prints the messages instead,
 * a line of dashes before each */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/lang.h"
#include "hosts/telegram/text/chunk.h"

static double now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	AUTO_BUF text = BUF_INIT;
	bool print = argc == 3 && strcmp(argv[1], "-") == 0;
	unsigned rounds = argc == 3 && !print ? (unsigned)strtoul(argv[1], NULL, 10) : 1;

	if (argc != 3 || !rounds || file_read(argv[2], 64 << 20, &text) < 0) {
		(void)fprintf(stderr, "usage: %s ROUNDS|- FILE\n", argv[0]);
		return 2;
	}
	double begin = now_ms();
	for (unsigned i = 0; i < rounds; i++) {
		struct arena a = ARENA_INIT;
		struct chunks chunks;

		chunk_markdown(&a, buf_str(&text), NULL, &chunks);
		for (size_t k = 0; print && k < chunks.count; k++)
			printf("%.*s\n----\n", STR(chunks.at[k]));
		arena_done(&a);
	}
	if (!print)
		printf("%.3f\n", (now_ms() - begin) / rounds);
	return 0;
}
