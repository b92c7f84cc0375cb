#pragma once

#include "base/buf.h"

/* What a terminal would show of a program that draws on it: enough of one to read a screen, not to
 * look at it. Colours, fonts and widths of characters do not matter; whatever is not understood is
 * left out. Any bytes are fine. */

enum { SCREEN_ROWS = 40, SCREEN_COLUMNS = 120, SCREEN_ARGS = 8 };

struct screen {
	uint32_t at[SCREEN_ROWS][SCREEN_COLUMNS]; /* 0: blank */
	unsigned row, column, top, bottom;        /* `bottom` is behind the last row that scrolls */
	unsigned saved_row, saved_column;
	enum { SCREEN_TEXT, SCREEN_ESCAPE, SCREEN_CHARSET, SCREEN_CSI, SCREEN_STRING } state;
	unsigned args[SCREEN_ARGS], arg_count;
	bool private_csi;   /* CSI with ? > = before its numbers */
	unsigned char held; /* bytes of an unfinished character */
	char hold[4];
};

void screen_init(struct screen *s);
void screen_feed(struct screen *s, struct str bytes);
/* Adds the rows that have something in them, a line each. */
void screen_text(const struct screen *s, struct buf *b);
