#pragma once

#include "base/arena.h"
#include "base/buf.h"

/* Tables of Markdown:
 *
 *   | key | value |        the outer bars may be left out
 *   |-----|------:|        at least two columns; how they are aligned is not looked at
 *   | a   | 1     |
 */

enum { TABLE_CELLS = 37 }; /* what a telephone shows in one line */

/* A line that may be the header or a row. */
bool table_line(struct str line);
/* The line below the header. */
bool table_separator(struct str line);

struct table {
	struct str **rows; /* the header is the first; every row has `columns` cells */
	size_t row_count, columns;
	size_t *widths; /* in cells of the screen, at least 3 */
	size_t width;   /* of a whole line */
};

/* `lines` are header and rows, without the separator. Cells are without markup, in the arena. False
 * when filling it up would make far more of it than was written, as one long row among thousands of
 * short ones: such a table is shown as it stands. */
bool table_read(struct arena *a, const struct str *lines, size_t count, struct table *ret);

/* Columns padded to their width and joined by ` | `, dashes below the header. Not escaped. */
void table_text(struct buf *b, const struct table *t);
/* As HTML: each row a group of lines `header: value`, for tables that are too wide. */
void table_list(struct buf *b, const struct table *t);
