#pragma once

#include <string.h>

#include "base/buf.h"
#include "unit.h"

/* For tests of long texts: pages, pictures, documents. */

static inline size_t text_count(const struct buf *b, const char *part)
{
	size_t n = 0;

	for (const char *at = buf_cstr(b); (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}

static inline void assert_has(const struct buf *b, const char *part)
{
	if (!text_count(b, part))
		fail_msg("no '%s' in:\n%.6000s", part, buf_cstr(b));
}

static inline void assert_lacks(const struct buf *b, const char *part)
{
	if (text_count(b, part))
		fail_msg("'%s' in:\n%.6000s", part, buf_cstr(b));
}
