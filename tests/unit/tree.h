#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

/* A fresh directory for each test: tree_begin() and tree_end() are its setup and teardown. */
static char dir[64];

static inline int tree_begin(void **state UNUSED)
{
	(void)snprintf(dir, sizeof(dir), "/tmp/roux-unit-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

/* How many names the directory has; with `remove` they go. */
static inline int tree_names(bool remove)
{
	DIR *d = opendir(dir);
	int n = 0;

	for (const struct dirent *e; d && (e = readdir(d));) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		n++;
		if (remove && unlinkat(dirfd(d), e->d_name, 0) < 0)
			(void)unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	if (d)
		(void)closedir(d);
	return n;
}

static inline int tree_end(void **state UNUSED)
{
	(void)chmod(dir, 0700);
	(void)tree_names(true);
	return rmdir(dir);
}
