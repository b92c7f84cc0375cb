#pragma once

/* A state root of its own for every test, with a ledger in it. */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "runs/ledger/ledger.h"
#include "unit.h"

static char root[64];
static struct arena arena;

static int begin(void **state UNUSED)
{
	(void)snprintf(root, sizeof(root), "/tmp/roux-ledger-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int drop(
	const char *path, const struct stat *st UNUSED, int type UNUSED, struct FTW *at UNUSED)
{
	return remove(path);
}

static int end(void **state UNUSED)
{
	arena_done(&arena);
	arena = ARENA_INIT;
	(void)chmod(root, 0700);
	return nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static const char *in_root(const char *name)
{
	return arena_printf(&arena, "%s/%s", root, name).p;
}

static UNUSED void put(const char *name, struct str text)
{
	AUTO_CLOSE int fd = open(in_root(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text), 0);
}

static struct ledger *opened(void)
{
	AUTO_REPORT r = REPORT_INIT;
	struct ledger *l = ledger_open(str_of(root), false, &r);

	if (!l)
		fail_msg("%.*s", STR(r.issues.at[0].message));
	return l;
}

/* The only issue of a report has these words. */
static UNUSED void assert_said(const struct report *r, const char *words)
{
	assert_int_equal(r->issues.len, 1);
	if (!str_contains(r->issues.at[0].message, str_of(words)))
		fail_msg("said: %.*s", STR(r->issues.at[0].message));
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
