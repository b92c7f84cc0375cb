#include "render/picture/svg-draw.h"

#include "base/utf8.h"
#include "render/picture/markup.h"

/* The text is clean already: only what XML itself uses is left. */
void svg_text(struct buf *b, struct str s)
{
	uint32_t c;

	for (size_t at = 0; at < s.len;) {
		at += utf8_decode(s, at, &c);
		markup_char(b, c);
	}
}

/* `y` is the middle of the line. */
void svg_line_of_text(struct buf *b, const char *class, int x, int y, int size, struct str s)
{
	if (!s.len)
		return;
	buf_printf(b, "<text class=\"%s\" x=\"%d\" y=\"%d\" xml:space=\"preserve\">", class, x,
		y + size * 35 / 100);
	svg_text(b, s);
	buf_adds(b, "</text>\n");
}

void svg_rect(struct buf *b, const char *class, int x, int y, int w, int h, int round)
{
	buf_printf(b, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", class, x,
		y, w, h);
	if (round)
		buf_printf(b, " rx=\"%d\"", round);
	buf_adds(b, "/>\n");
}

void svg_marks(struct buf *b, const struct item *i)
{
	for (size_t m = 0; m < i->text.mark_count; m++) {
		const struct mark *mark = &i->text.marks[m];
		int x = i->box.x + mark->x;
		int y = i->box.y + mark->y;
		AUTO_BUF class = BUF_INIT;

		if (mark->state)
			buf_printf(&class, "state %s", shown_state_word(i->state.state));
		else
			buf_adds(&class, i->kind == ITEM_BOX ? "pill" : "pill on-frame");
		svg_rect(b, buf_cstr(&class), x, y, mark->w, MARK_HEIGHT,
			mark->state ? 4 : MARK_HEIGHT / 2);
		buf_reset(&class);
		buf_printf(&class, mark->state ? "state-text %s" : "mark",
			shown_state_word(i->state.state));
		svg_line_of_text(b, buf_cstr(&class), x + MARK_PAD, y + MARK_HEIGHT / 2, SIZE_SMALL,
			mark->text);
	}
}

/* A triangle that touches (x, y) and points to that side. Markers would be shorter, but the colours
 * of a marker do not follow its line everywhere. */
void svg_head(struct buf *b, int x, int y, enum side side, const char *class)
{
	static const int shape[][4] = {
		[SIDE_LEFT] = { 9, -5, 9, 5 },
		[SIDE_RIGHT] = { -9, -5, -9, 5 },
		[SIDE_UP] = { -5, 9, 5, 9 },
		[SIDE_DOWN] = { -5, -9, 5, -9 },
	};
	const int *s = shape[side];

	buf_printf(b, "<path class=\"head%s\" d=\"M%d %dL%d %dL%d %dZ\"/>\n", class, x, y, x + s[0],
		y + s[1], x + s[2], y + s[3]);
}

void svg_line(struct buf *b, const char *class, int x1, int y1, int x2, int y2)
{
	buf_printf(b, "<path class=\"line%s\" d=\"M%d %dL%d %d\"/>\n", class, x1, y1, x2, y2);
}
