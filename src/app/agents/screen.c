#include "app/agents/screen.h"

#include <string.h>

#include "base/utf8.h"

enum { REPLACEMENT = 0xfffd };

void screen_init(struct screen *s)
{
	*s = (struct screen){ .bottom = SCREEN_ROWS };
}

static void clear(struct screen *s, unsigned row, unsigned from, unsigned to)
{
	for (unsigned c = from; c < to && c < SCREEN_COLUMNS; c++)
		s->at[row][c] = 0;
}

static void clear_rows(struct screen *s, unsigned from, unsigned to)
{
	for (unsigned r = from; r < to; r++)
		clear(s, r, 0, SCREEN_COLUMNS);
}

/* Rows of [from, to) move up by `n`. */
static void scroll_up(struct screen *s, unsigned from, unsigned to, unsigned n)
{
	n = MIN(n, to - from);
	memmove(s->at[from], s->at[from + n], (to - from - n) * sizeof(s->at[0]));
	clear_rows(s, to - n, to);
}

static void scroll_down(struct screen *s, unsigned from, unsigned to, unsigned n)
{
	n = MIN(n, to - from);
	memmove(s->at[from + n], s->at[from], (to - from - n) * sizeof(s->at[0]));
	clear_rows(s, from, from + n);
}

static void line_feed(struct screen *s)
{
	if (s->row + 1 == s->bottom)
		scroll_up(s, s->top, s->bottom, 1);
	else if (s->row + 1 < SCREEN_ROWS)
		s->row++;
}

static void put(struct screen *s, uint32_t c)
{
	if (s->column >= SCREEN_COLUMNS) {
		s->column = 0;
		line_feed(s);
	}
	s->at[s->row][s->column++] = c;
}

static void control(struct screen *s, unsigned char c)
{
	if (c == '\r')
		s->column = 0;
	else if (c == '\n' || c == '\v' || c == '\f')
		line_feed(s);
	else if (c == '\b')
		s->column -= s->column > 0;
	else if (c == '\t')
		s->column = MIN((s->column / 8 + 1) * 8, SCREEN_COLUMNS - 1);
}

/* -- sequences -----------------------------------------------------------------------------------
 */

static unsigned arg(const struct screen *s, unsigned i, unsigned otherwise)
{
	return i < s->arg_count && s->args[i] ? s->args[i] : otherwise;
}

static void go_to(struct screen *s, unsigned row, unsigned column)
{
	s->row = MIN(row ? row - 1 : 0, SCREEN_ROWS - 1);
	s->column = MIN(column ? column - 1 : 0, SCREEN_COLUMNS - 1);
}

static void erase_screen(struct screen *s)
{
	unsigned how = arg(s, 0, 0);

	if (how == 0) {
		clear(s, s->row, s->column, SCREEN_COLUMNS);
		clear_rows(s, s->row + 1, SCREEN_ROWS);
	} else if (how == 1) {
		clear_rows(s, 0, s->row);
		clear(s, s->row, 0, s->column + 1);
	} else {
		clear_rows(s, 0, SCREEN_ROWS);
	}
}

static void erase_line(struct screen *s)
{
	unsigned how = arg(s, 0, 0);

	clear(s, s->row, how == 0 ? s->column : 0, how == 1 ? s->column + 1 : SCREEN_COLUMNS);
}

/* Characters of the row behind the cursor move by `n`: to the left they are lost. */
static void shift(struct screen *s, unsigned n, bool left)
{
	if (s->column >= SCREEN_COLUMNS)
		return;
	unsigned room = SCREEN_COLUMNS - s->column;
	uint32_t *row = s->at[s->row] + s->column;

	n = MIN(n, room);
	memmove(left ? row : row + n, left ? row + n : row, (room - n) * sizeof(*row));
	if (left)
		clear(s, s->row, SCREEN_COLUMNS - n, SCREEN_COLUMNS);
	else
		clear(s, s->row, s->column, s->column + n);
}

static void move(struct screen *s, char how, unsigned n)
{
	switch (how) {
	case 'A':
	case 'F':
		s->row -= MIN(n, s->row);
		break;
	case 'B':
	case 'E':
		s->row = MIN(s->row + n, SCREEN_ROWS - 1);
		break;
	case 'C':
		s->column = MIN(s->column + n, SCREEN_COLUMNS - 1);
		break;
	default:
		s->column -= MIN(n, s->column);
		break;
	}
	if (how == 'E' || how == 'F')
		s->column = 0;
}

static void set_region(struct screen *s)
{
	unsigned top = arg(s, 0, 1), bottom = MIN(arg(s, 1, SCREEN_ROWS), SCREEN_ROWS);

	if (top >= bottom)
		return;
	s->top = top - 1;
	s->bottom = bottom;
	go_to(s, 1, 1);
}

static bool scrolls(const struct screen *s)
{
	return s->row >= s->top && s->row < s->bottom;
}

static void csi_edit(struct screen *s, char end, unsigned n)
{
	switch (end) {
	case 'L':
		if (scrolls(s))
			scroll_down(s, s->row, s->bottom, n);
		break;
	case 'M':
		if (scrolls(s))
			scroll_up(s, s->row, s->bottom, n);
		break;
	case 'S':
		scroll_up(s, s->top, s->bottom, n);
		break;
	case 'T':
		scroll_down(s, s->top, s->bottom, n);
		break;
	case 'X':
		clear(s, s->row, s->column, s->column + MIN(n, SCREEN_COLUMNS));
		break;
	case 'P':
	case '@':
		shift(s, n, end == 'P');
		break;
	default:
		break;
	}
}

static void csi(struct screen *s, char end)
{
	unsigned n = MIN(arg(s, 0, 1), 10000u);

	if (s->private_csi) {
		/* Another screen begins empty; what it showed is what was to be read. */
		if (end == 'h' && arg(s, 0, 0) == 1049)
			clear_rows(s, 0, SCREEN_ROWS);
		return;
	}
	switch (end) {
	case 'A':
	case 'B':
	case 'C':
	case 'D':
	case 'E':
	case 'F':
		move(s, end, n);
		break;
	case 'G':
	case '`':
		go_to(s, s->row + 1, n);
		break;
	case 'd':
		s->row = MIN(n - 1, SCREEN_ROWS - 1);
		break;
	case 'H':
	case 'f':
		go_to(s, n, arg(s, 1, 1));
		break;
	case 'J':
		erase_screen(s);
		break;
	case 'K':
		erase_line(s);
		break;
	case 'r':
		set_region(s);
		break;
	default:
		csi_edit(s, end, n);
		break;
	}
}

static void escape(struct screen *s, char c)
{
	s->state = SCREEN_TEXT;
	if (c == '[') {
		s->state = SCREEN_CSI;
		memset(s->args, 0, sizeof(s->args));
		s->arg_count = 0;
		s->private_csi = false;
	} else if (c == ']' || c == 'P' || c == '_' || c == '^' || c == 'X') {
		s->state = SCREEN_STRING;
	} else if (c == '(' || c == ')' || c == '#' || c == '%' || c == ' ') {
		s->state = SCREEN_CHARSET;
	} else if (c == '7') {
		s->saved_row = s->row;
		s->saved_column = s->column;
	} else if (c == '8') {
		s->row = s->saved_row;
		s->column = s->saved_column;
	} else if (c == 'M') {
		if (s->row == s->top)
			scroll_down(s, s->top, s->bottom, 1);
		else
			s->row -= s->row > 0;
	} else if (c == 'D' || c == 'E') {
		line_feed(s);
		s->column = c == 'E' ? 0 : s->column;
	}
}

static void csi_byte(struct screen *s, char c)
{
	if (ascii_digit(c)) {
		s->arg_count = MAX(s->arg_count, 1u);
		unsigned *a = &s->args[s->arg_count - 1];
		*a = MIN(*a * 10 + (unsigned)(c - '0'), 100000u);
	} else if (c == ';' || c == ':') {
		s->arg_count = MIN(MAX(s->arg_count, 1u) + 1, (unsigned)SCREEN_ARGS);
	} else if (c == '?' || c == '>' || c == '=' || c == '<') {
		s->private_csi = true;
	} else if (c >= 0x40 && c <= 0x7e) {
		s->state = SCREEN_TEXT;
		csi(s, c);
	}
}

/* -- bytes ---------------------------------------------------------------------------------------
 */

static unsigned char_length(unsigned char first)
{
	return first < 0x80   ? 1
	       : first < 0xc2 ? 0
	       : first < 0xe0 ? 2
	       : first < 0xf0 ? 3
	       : first < 0xf5 ? 4
			      : 0;
}

static void text_byte(struct screen *s, unsigned char c)
{
	uint32_t code = REPLACEMENT;

	/* A character that was broken off by the next. */
	if (s->held && (c & 0xc0) != 0x80) {
		s->held = 0;
		put(s, REPLACEMENT);
	}
	s->hold[s->held++] = (char)c;
	struct str all = { s->hold, s->held };
	if (s->held < char_length((unsigned char)s->hold[0]))
		return;
	if (utf8_valid(all))
		(void)utf8_decode(all, 0, &code);
	s->held = 0;
	put(s, code == ' ' ? 0 : code);
}

static void feed_byte(struct screen *s, unsigned char c)
{
	if (c == 0x1b) {
		s->state = SCREEN_ESCAPE;
		s->held = 0;
		return;
	}
	switch (s->state) {
	case SCREEN_ESCAPE:
		escape(s, (char)c);
		break;
	case SCREEN_CHARSET:
		s->state = SCREEN_TEXT;
		break;
	case SCREEN_CSI:
		if (c < 0x20)
			control(s, c);
		else
			csi_byte(s, (char)c);
		break;
	case SCREEN_STRING:
		s->state = c == 0x07 ? SCREEN_TEXT : SCREEN_STRING;
		break;
	case SCREEN_TEXT:
		if (c < 0x20 || c == 0x7f)
			control(s, c);
		else
			text_byte(s, c);
		break;
	}
}

void screen_feed(struct screen *s, struct str bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		feed_byte(s, (unsigned char)bytes.p[i]);
}

void screen_text(const struct screen *s, struct buf *b)
{
	for (unsigned r = 0; r < SCREEN_ROWS; r++) {
		unsigned end = SCREEN_COLUMNS;

		while (end && !s->at[r][end - 1])
			end--;
		for (unsigned c = 0; c < end; c++)
			utf8_add(b, s->at[r][c] ? s->at[r][c] : ' ');
		if (end)
			buf_addc(b, '\n');
	}
}
