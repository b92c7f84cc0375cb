/* list-fds: the descriptors that it was started with, one a line. */
#include <dirent.h>

#include "support.h"

int main(void)
{
	DIR *all = opendir("/proc/self/fd");
	struct dirent *e;

	if (!all)
		return 99;
	while ((e = readdir(all)))
		if (e->d_name[0] != '.' && atoi(e->d_name) != dirfd(all))
			(void)puts(e->d_name);
	(void)closedir(all);
	return 0;
}
