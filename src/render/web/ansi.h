#pragma once

#include "base/buf.h"

/* What a command printed, for a page: colours and weights of SGR sequences, nothing else of a
 * terminal. One reader of lines and two writers: HTML and JSON. */

struct ansi_style {
	uint8_t fg, bg; /* 0: the page's own; 1 to 16: the colours of a terminal */
	uint8_t flags;
};

enum {
	ANSI_BOLD = 1 << 0,
	ANSI_DIM = 1 << 1,
	ANSI_ITALIC = 1 << 2,
	ANSI_UNDERLINE = 1 << 3,
	ANSI_INVERSE = 1 << 4,
};

/* A piece of a line in one style: valid UTF-8, what is invisible shown as marks. */
typedef void ansi_fn(void *data, struct str text, struct ansi_style style);

/* Reads one line without its end. `style` is the one that the line before ended with, and becomes
 * the one that this line ends with. A return to the first column makes what follows it the whole
 * line, as a terminal would show it. Sequences that are not SGR vanish; of a hyperlink the text
 * stays. */
void ansi_read(struct ansi_style *style, struct str line, ansi_fn *piece, void *data);

/* The line as HTML: text, and <span class="f2 bo"> around what has a style. */
void ansi_html(struct buf *b, struct ansi_style *style, struct str line);
/* The same as JSON: [["text","f2 bo"],…], "" for the page's own style. */
void ansi_json(struct buf *b, struct ansi_style *style, struct str line);
/* The text alone. */
void ansi_plain(struct buf *b, struct str line);
