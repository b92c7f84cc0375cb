#include "hosts/telegram/text/table.h"

#include "base/lang.h"
#include "base/vec.h"
#include "hosts/telegram/text/html.h"
#include "hosts/telegram/text/inline.h"
#include "hosts/telegram/text/unicode.h"

enum { WIDTH_MIN = 3 };

bool table_line(struct str line)
{
	return str_find(line, '|', 0) < line.len;
}

/* The next cell of *line, which is moved behind it; false at the end. */
static bool next_cell(struct str *line, bool *more, struct str *cell)
{
	size_t i;

	if (!*more)
		return false;
	for (i = 0; i < line->len && line->p[i] != '|'; i++)
		if (line->p[i] == '\\')
			i += i + 1 < line->len;
	*cell = str_trim(str_sub(*line, 0, i));
	*more = i < line->len;
	*line = str_from(*line, MIN(i + 1, line->len));
	return true;
}

/* Without the outer bars. */
static struct str inside(struct str line)
{
	line = str_trim(line);
	if (line.len && line.p[0] == '|')
		line = str_from(line, 1);
	if (line.len && line.p[line.len - 1] == '|' &&
		!(line.len > 1 && line.p[line.len - 2] == '\\'))
		line.len--;
	return line;
}

bool table_separator(struct str line)
{
	size_t columns = 0;
	bool more = true;
	struct str cell;

	if (!table_line(line))
		return false;
	line = inside(line);
	while (next_cell(&line, &more, &cell)) {
		size_t dashes = 0;

		if (cell.len && cell.p[0] == ':')
			cell = str_from(cell, 1);
		if (cell.len && cell.p[cell.len - 1] == ':')
			cell.len--;
		while (dashes < cell.len && cell.p[dashes] == '-')
			dashes++;
		if (!dashes || dashes != cell.len)
			return false;
		columns++;
	}
	return columns >= 2;
}

/* `\|` is a bar, also inside code. */
static void unescape_bars(struct buf *b, struct str cell)
{
	for (size_t i = 0; i < cell.len; i++)
		if (cell.p[i] != '\\' || i + 1 == cell.len || cell.p[i + 1] != '|')
			buf_addc(b, cell.p[i]);
}

static struct str *read_row(struct arena *a, struct str line, size_t columns)
{
	struct str *row = arena_array(a, struct str, columns);
	bool more = true;
	struct str cell;

	line = inside(line);
	for (size_t i = 0; i < columns; i++) {
		AUTO_BUF text = BUF_INIT;
		AUTO_BUF bars = BUF_INIT;

		row[i] = S("");
		if (!next_cell(&line, &more, &cell))
			continue;
		unescape_bars(&bars, cell);
		inline_plain(&text, buf_str(&bars));
		row[i] = arena_str(a, str_trim(buf_str(&text)));
	}
	return row;
}

static size_t count_cells(struct str line)
{
	size_t count = 0;
	bool more = true;
	struct str cell;

	line = inside(line);
	while (next_cell(&line, &more, &cell))
		count++;
	return count;
}

bool table_read(struct arena *a, const struct str *lines, size_t count, struct table *ret)
{
	size_t columns = 0, cells = 0, bytes = 0;

	for (size_t i = 0; i < count; i++) {
		size_t n = count_cells(lines[i]);

		columns = MAX(columns, n);
		cells += n;
		bytes += lines[i].len;
	}
	if (columns * count > 4 * cells + 4096)
		return false;
	*ret = (struct table){ .rows = arena_array(a, struct str *, count),
		.row_count = count,
		.columns = columns,
		.widths = arena_array(a, size_t, columns) };
	for (size_t i = 0; i < count; i++) {
		ret->rows[i] = read_row(a, lines[i], columns);
		for (size_t c = 0; c < columns; c++)
			ret->widths[c] = MAX(ret->widths[c], unicode_width(ret->rows[i][c]));
	}
	for (size_t c = 0; c < columns; c++) {
		ret->widths[c] = MAX(ret->widths[c], WIDTH_MIN);
		ret->width += ret->widths[c] + (c ? 3 : 0);
	}
	return ret->width * count <= 8 * bytes + 65536;
}

static void text_row(struct buf *b, const struct table *t, struct str *row)
{
	for (size_t c = 0; c < t->columns; c++) {
		if (c)
			buf_adds(b, " | ");
		buf_add(b, row[c]);
		buf_fill(b, ' ', t->widths[c] - unicode_width(row[c]));
	}
}

void table_text(struct buf *b, const struct table *t)
{
	for (size_t i = 0; i < t->row_count; i++) {
		if (i)
			buf_addc(b, '\n');
		text_row(b, t, t->rows[i]);
		if (i)
			continue;
		buf_addc(b, '\n');
		for (size_t c = 0; c < t->columns; c++) {
			if (c)
				buf_adds(b, " | ");
			buf_fill(b, '-', t->widths[c]);
		}
	}
}

void table_list(struct buf *b, const struct table *t)
{
	for (size_t i = 1; i < t->row_count; i++) {
		bool first = true;

		if (i > 1)
			buf_adds(b, "\n\n");
		for (size_t c = 0; c < t->columns; c++) {
			if (!t->rows[i][c].len)
				continue;
			buf_adds(b, first ? "" : "\n");
			first = false;
			if (t->rows[0][c].len) {
				buf_adds(b, "<b>");
				html_escape(b, t->rows[0][c]);
				buf_adds(b, "</b>: ");
			}
			html_escape(b, t->rows[i][c]);
		}
	}
}
