#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

#include "fuzz.h"

/* For readers of files: a directory in memory where there is one. What is in it goes at the end. */

static char room_path[32];

static inline void room_clean(void)
{
	DIR *d = opendir(room_path);

	for (const struct dirent *e; d && (e = readdir(d));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			(void)unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		(void)closedir(d);
	(void)rmdir(room_path);
}

static inline const char *room(void)
{
	static const char *const places[] = { "/dev/shm", "/tmp" };

	for (size_t i = 0; !room_path[0] && i < ARRAY_SIZE(places); i++) {
		(void)snprintf(room_path, sizeof(room_path), "%s/fuzz-XXXXXX", places[i]);
		if (!mkdtemp(room_path))
			room_path[0] = '\0';
		else
			HOLDS(atexit(room_clean) == 0);
	}
	HOLDS(room_path[0]);
	return room_path;
}

/* Puts the text into a file of the room; *path is its path, or NULL. */
static inline void room_put(const char *name, struct str text, struct buf *path)
{
	AUTO_BUF file = BUF_INIT;

	buf_printf(&file, "%s/%s", room(), name);
	AUTO_CLOSE int fd = open(buf_cstr(&file), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	HOLDS(fd >= 0);
	HOLDS(write(fd, text.p, text.len) == (ssize_t)text.len);
	if (path)
		buf_swap(path, &file);
}
