#pragma once

/* A state root made by hand, for tests of what reads run directories. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "runs/dir/place.h"
#include "runs/look/look.h"
#include "unit.h"

static char root[64];
static struct arena arena;

static int begin(void **state UNUSED)
{
	(void)snprintf(root, sizeof(root), "/tmp/roux-state-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int drop_one(
	const char *path, const struct stat *st UNUSED, int type UNUSED, struct FTW *at UNUSED)
{
	return remove(path);
}

static int end(void **state UNUSED)
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

static bool is_there(const char *name)
{
	struct stat st;

	return lstat(at(name), &st) == 0;
}

/* Makes the directories above it too. */
static void put(const char *name, const char *text)
{
	char *path = mem_strdup(at(name));

	*strrchr(path, '/') = '\0';
	assert_int_equal(dir_make(path), 0);
	free(path);
	AUTO_CLOSE int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, str_of(text)), 0);
}

static UNUSED struct str text_of(const char *name)
{
	AUTO_BUF text = BUF_INIT;

	assert_int_equal(file_read(at(name), 1 << 20, &text), 0);
	return arena_str(&arena, buf_str(&text));
}

static UNUSED struct ledger *opened(void)
{
	AUTO_REPORT r = REPORT_INIT;
	struct ledger *l = ledger_open(str_of(root), false, &r);

	assert_non_null(l);
	return l;
}

/* run.json of a run `id` in generation g1 whose supervisor is long gone. */
static void put_run(const char *id)
{
	put(arena_printf(&arena, "runs/%s/run.json", id).p,
		arena_printf(&arena,
			"{\"run\":\"%s\",\"generation\":\"g1\",\"started\":"
			"\"2026-01-02T03:04:05.006Z\",\"cwd\":\"/\",\"pid\":1,\"pid_start\":1,"
			"\"boot_id\":\"x\",\"detached\":true,\"owner\":\"me\"}",
			id)
			.p);
}

static UNUSED void put_result(const char *id, const char *status)
{
	put(arena_printf(&arena, "runs/%s/result.json", id).p,
		arena_printf(&arena,
			"{\"status\":\"%s\",\"code\":4,\"ended\":\"2026-01-02T03:04:06.007Z\"}",
			status)
			.p);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
