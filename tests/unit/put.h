#pragma once

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "unit.h"

/* Writes the file top/BELOW; its directory is made. */
static inline void put_below(const char *top, const char *below, const char *text)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", top, below);
	*strrchr(path, '/') = 0;
	assert_int_equal(dir_make(path), 0);
	path[strlen(path)] = '/';
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}
