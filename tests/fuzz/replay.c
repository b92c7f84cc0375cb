/* usage: fuzz-NAME FILE|DIRECTORY...     runs a fuzzer over files without libFuzzer, reporting TAP
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"

#include "fuzz.h"

enum { INPUT_MAX = 1 << 20 };

static int number;

static int replay(const char *path)
{
	AUTO_BUF input = BUF_INIT;
	int r = file_read(path, INPUT_MAX, &input);

	if (r == 0) {
		/* A copy of exactly this size, so that a byte too far is noticed. */
		AUTO_FREE uint8_t *copy = malloc(input.len ? input.len : 1);

		memcpy(copy, buf_cstr(&input), input.len);
		(void)LLVMFuzzerTestOneInput(copy, input.len);
	}
	printf("%sok %d - %s\n", r == 0 ? "" : "not ", ++number, path);
	(void)fflush(stdout);
	return r;
}

static int replay_all(const char *path)
{
	DIR *dir = opendir(path);
	int r = 0;

	if (!dir)
		return replay(path);
	for (struct dirent *e; (e = readdir(dir));) {
		AUTO_BUF file = BUF_INIT;

		if (e->d_name[0] == '.')
			continue;
		buf_printf(&file, "%s/%s", path, e->d_name);
		r |= replay(buf_cstr(&file));
	}
	(void)closedir(dir);
	return r;
}

int main(int argc, char **argv)
{
	int r = 0;

	for (int i = 1; i < argc; i++)
		r |= replay_all(argv[i]);
	printf("1..%d\n", number);
	return r ? 1 : 0;
}
