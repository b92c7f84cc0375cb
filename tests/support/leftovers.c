/* leftovers NAME=VALUE: the pids of living processes that have this entry in their environment,
 * one a line; itself left out. */
#include <dirent.h>

#include "support.h"

static char text[1 << 20];

static size_t get(const char *pid, const char *name)
{
	char path[300];
	(void)snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		(void)fclose(f);
	text[n] = '\0';
	return n;
}

static int lives(const char *pid)
{
	if (!get(pid, "stat"))
		return 0;
	const char *rest = strrchr(text, ')');
	return rest && rest[1] && rest[2] != 'Z' && rest[2] != 'X';
}

int main(int argc, char **argv)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;

	if (argc < 2 || !proc)
		return 99;
	while ((e = readdir(proc))) {
		if (atoi(e->d_name) <= 0 || atoi(e->d_name) == getpid() || !lives(e->d_name))
			continue;
		size_t n = get(e->d_name, "environ");
		for (size_t at = 0; at < n; at += strlen(text + at) + 1)
			if (strcmp(text + at, argv[1]) == 0) {
				(void)puts(e->d_name);
				break;
			}
	}
	(void)closedir(proc);
	return 0;
}
