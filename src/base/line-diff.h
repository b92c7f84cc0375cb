#pragma once

#include <stddef.h>

#include "base/str.h"

/* What has to be taken out of one text and put in to make another of it, line by line. */
enum line_mark {
	LINE_SAME = ' ',
	LINE_OUT = '-',
	LINE_IN = '+',
	LINE_GAP = '@', /* lines that are the same are left out here */
};

typedef void line_diff_fn(void *data, enum line_mark mark, struct str line);

/* Calls `see` with the lines that differ and `context` lines around them, in order, without their
 * ends. Nothing for texts that are the same. Of texts that differ in thousands of lines the whole
 * part is reported as replaced. */
void line_diff(struct str old, struct str now, size_t context, line_diff_fn *see, void *data);
