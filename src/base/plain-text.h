#pragma once

#include "base/buf.h"
#include "base/str.h"

/* Bytes of commands made harmless for a terminal: escape sequences and control characters are gone,
 * invalid UTF-8 is U+FFFD, characters whose width terminals disagree about are left out. */

/* Where a stream of bytes is: inside an escape sequence, in the middle of a character. */
struct text_filter {
	unsigned char state;
	unsigned char held; /* bytes of an unfinished character */
	char hold[4];
};

/* Called for each character that is left. Besides visible ones that is '\n', '\r' for everything
 * that returns to the first column, '\b', and a space for a tab. */
typedef void text_put_fn(void *data, uint32_t c);

void text_filter_feed(struct text_filter *f, struct str bytes, text_put_fn *put, void *data);

/* ", 12.5/s": how fast `done` of something went by; nothing as long as that means little. */
void text_rate(struct buf *b, uint64_t done, uint64_t ms);

/* A whole text as one line: spaces for line ends. */
void text_plain(struct buf *b, struct str text);
/* The same of each of its lines: they stay lines. */
void text_plain_lines(struct buf *b, struct str text);

/* A whole text as one line: control characters as people write them, "\\n". */
void text_escaped(struct buf *b, struct str text);

/* Of any origin, as diagnostics show it: nothing in it may move the cursor, change the title or
 * turn the text around it, so a control character is shown like a byte that is not text. */
void text_marked(struct buf *b, struct str text);

/* How a node is called: "1.r3 lint f/2.sh". Label and item may be empty; control characters of
 * values are shown escaped, and the item is cut to ITEM_COLUMNS. One that the label has already is
 * left out. */
enum { ITEM_COLUMNS = 40 };
void text_name(struct buf *b, struct str path, struct str label, struct str item);
/* The item alone. */
void text_item(struct buf *b, struct str item);

/* The last line of a stream that says anything, finished or not. Zeroed: nothing came yet. */
struct last_line {
	struct text_filter filter;
	struct buf text;
	bool open; /* what comes next belongs to the line in `text` */
};

enum { LAST_LINE_BYTES = 512 }; /* more of a line is not kept */

void last_line_done(struct last_line *l);
void last_line_feed(struct last_line *l, struct str bytes);

static inline struct str last_line_text(const struct last_line *l)
{
	return str_trim(buf_str(&l->text));
}

/* Writes all of it; waits when the descriptor does not block. Errors are dropped: there is nowhere
 * to tell them. */
void text_write(int fd, struct str s);
