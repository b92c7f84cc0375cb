#pragma once

/* A home and a working directory with configuration files in them, for one test. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "prompts/config.h"

#include "unit.h"

struct house {
	char top[64];
	struct arena arena;
	struct config config;
	struct report report, warnings;
	bool loaded;
};

static inline struct str house_path(struct house *h, const char *name)
{
	return arena_printf(&h->arena, "%s/%s", h->top, name);
}

static inline void house_open(struct house *h)
{
	*h = (struct house){ 0 };
	(void)strcpy(h->top, "/tmp/roux-unit-XXXXXX");
	assert_non_null(mkdtemp(h->top));
	assert_int_equal(dir_make(arena_cstr(&h->arena, house_path(h, "home/.config/start"))), 0);
	assert_int_equal(dir_make(arena_cstr(&h->arena, house_path(h, "work/.start"))), 0);
}

static inline void house_file(struct house *h, const char *name, const char *text)
{
	FILE *f = fopen(arena_cstr(&h->arena, house_path(h, name)), "w");

	assert_non_null(f);
	(void)fputs(text, f);
	(void)fclose(f);
}

/* The text of ~/.config/start/config.toml and, when not NULL, of .start/config.toml. */
static inline bool house_load(struct house *h, const char *global, const char *local)
{
	if (global)
		house_file(h, "home/.config/start/config.toml", global);
	if (local)
		house_file(h, "work/.start/config.toml", local);
	h->loaded = true;
	return config_load(&h->config,
		&(struct config_dirs){ .home = house_path(h, "home"),
			.global = house_path(h, "home/.config/start"),
			.cwd = house_path(h, "work"),
			.local = true },
		&h->report);
}

static inline int house_remove(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static inline void house_close(struct house *h)
{
	if (h->loaded)
		config_done(&h->config);
	report_done(&h->report);
	report_done(&h->warnings);
	(void)nftw(h->top, house_remove, 16, FTW_DEPTH | FTW_PHYS);
	arena_done(&h->arena);
}

/* Whether an issue of the report has `part` in its message or hint. */
static inline bool tells(const struct report *r, const char *part)
{
	AUTO_BUF text = BUF_INIT;

	report_text(r, REPORT_ALL, &text);
	return strstr(buf_cstr(&text), part) != NULL;
}

#define assert_tells(r, part)                                     \
	do {                                                      \
		AUTO_BUF all_ = BUF_INIT;                         \
		report_text((r), REPORT_ALL, &all_);              \
		if (!strstr(buf_cstr(&all_), (part)))             \
			print_error("%s\n", buf_cstr(&all_));     \
		assert_non_null(strstr(buf_cstr(&all_), (part))); \
	} while (0)
