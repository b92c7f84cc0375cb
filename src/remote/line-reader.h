#pragma once

#include "base/buf.h"

enum { LINE_MAX_BYTES = 1 << 20 };

/* What was read of a file of lines that grows. */
struct line_reader {
	uint64_t offset; /* of the next byte to read */
	struct buf rest; /* a line that has not ended */
	bool skipping;   /* … that is too long: it is left out */
};

/* Calls `see` with every line that is complete, without its end. False: a line was too long. */
bool line_reader_take(struct line_reader *r, struct str bytes,
	void (*see)(void *data, struct str line), void *data);
void line_reader_done(struct line_reader *r);
