#pragma once

#include "base/buf.h"

/* Lines out of bytes as they come. A line that is too long is read to its end and dropped, so that
 * what follows it is understood. */
struct lines {
	size_t max;   /* bytes of a line; a longer one is reported through `too_long` */
	size_t limit; /* bytes without a newline after which there is nothing left to hope for */
	void (*line)(void *data, struct str line); /* without its end: LF or CR LF */
	void (*too_long)(void *data);
	void *data;
	/* Its own: */
	struct buf text;
	size_t dropped; /* of a line that is too long, so far; 0: there is none */
};

void lines_done(struct lines *l);
/* False: more than `limit` bytes have come without a newline. */
bool lines_feed(struct lines *l, struct str bytes);
/* The end of the input: a last line without a newline is a line. */
void lines_end(struct lines *l);
