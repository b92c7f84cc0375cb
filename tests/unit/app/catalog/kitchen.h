#pragma once

/* An app with a home of its own: recipes of the user and packaged ones in a new directory. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/recipes.h"
#include "base/file.h"
#include "base/mem.h"
#include "put.h"
#include "unit.h"

struct kitchen {
	char top[64];
	struct app *app;
	struct report report;
};

/* Writes top/BELOW; its directory is made. */
static inline void kitchen_put(struct kitchen *k, const char *below, const char *text)
{
	put_below(k->top, below, text);
}

static inline struct kitchen *kitchen_new(void)
{
	struct kitchen *k = mem_new(struct kitchen);
	char agent[128], packaged[128], work[128];

	(void)snprintf(k->top, sizeof(k->top), "/tmp/test-catalog-XXXXXX");
	assert_non_null(mkdtemp(k->top));
	(void)snprintf(agent, sizeof(agent), "%s/agent", k->top);
	(void)snprintf(packaged, sizeof(packaged), "%s/packaged", k->top);
	(void)snprintf(work, sizeof(work), "%s/work", k->top);
	assert_int_equal(dir_make(work), 0);
	assert_int_equal(setenv("HOME", k->top, 1), 0);
	assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
	assert_int_equal(unsetenv("ROUX_USAGE"), 0);
	k->app = app_open(
		&(struct app_options){ .agent_dir = agent, .packaged_dir = packaged, .cwd = work });
	return k;
}

static inline int kitchen_drop(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static inline void kitchen_free(struct kitchen *k)
{
	report_done(&k->report);
	app_close(k->app);
	(void)nftw(k->top, kitchen_drop, 16, FTW_DEPTH | FTW_PHYS);
	free(k);
}
