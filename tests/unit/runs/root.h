#pragma once

/* A temporary directory for each test, and files in it. Tests are made with T(). */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "unit.h"

static char root[64];
static struct arena arena;

static UNUSED int begin(void **state UNUSED)
{
	(void)snprintf(root, sizeof(root), "/tmp/roux-state-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int drop_one(
	const char *path, const struct stat *st UNUSED, int type UNUSED, struct FTW *at UNUSED)
{
	return remove(path);
}

static UNUSED int end(void **state UNUSED)
{
	arena_done(&arena);
	arena = ARENA_INIT;
	return nftw(root, drop_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* NAME below the root. */
static const char *at(const char *name)
{
	return arena_printf(&arena, "%s/%s", root, name).p;
}

static UNUSED bool is_there(const char *name)
{
	struct stat st;

	return lstat(at(name), &st) == 0;
}

static void write_to(const char *name, struct str text, int flags)
{
	AUTO_CLOSE int fd = open(at(name), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text), 0);
}

/* Makes the directories above it too. */
static UNUSED void put(const char *name, const char *text)
{
	char *path = mem_strdup(at(name));

	*strrchr(path, '/') = '\0';
	assert_int_equal(dir_make(path), 0);
	free(path);
	write_to(name, str_of(text), O_TRUNC);
}

static UNUSED void add(const char *name, struct str text)
{
	write_to(name, text, O_APPEND);
}

static UNUSED struct str text_of(const char *name)
{
	AUTO_BUF text = BUF_INIT;

	assert_int_equal(file_read(at(name), 1 << 20, &text), 0);
	return arena_str(&arena, buf_str(&text));
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
