#include "runs/dir/partial-files.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "base/clock.h"

static uint64_t touched_ms(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000 + (uint64_t)st->st_mtim.tv_nsec / 1000000;
}

void partial_files_remove(const char *dir, uint64_t idle_ms)
{
	DIR *d = opendir(dir);

	for (const struct dirent *e; d && (e = readdir(d));) {
		struct stat st;

		if (strncmp(e->d_name, ATOMIC_PREFIX, strlen(ATOMIC_PREFIX)) != 0 ||
			fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
			!S_ISREG(st.st_mode))
			continue;
		if (touched_ms(&st) + idle_ms <= clock_real_ms())
			(void)unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		(void)closedir(d);
}
