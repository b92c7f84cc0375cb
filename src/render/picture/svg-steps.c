#include "render/picture/svg-draw.h"

/* What only pictures of step recipes have. */

/* `more` is what it has beside its colours. */
static void add_look(
	struct buf *b, const char *selector, const struct look_colours *c, const char *more)
{
	buf_printf(b, ".graph %s{fill:%s;stroke:%s%s}\n", selector, c->fill, c->line, more);
}

/* Arrows past a step have the colour of the condition. */
static void add_skip(struct buf *b, const char *line, const char *dashes, const char *text)
{
	buf_printf(b,
		".graph .line.skip{stroke:%s%s}\n"
		".graph .head.skip{fill:%s}\n"
		".graph .skip-text{%s}\n",
		line, dashes, line, text);
}

void svg_steps_style(struct buf *b)
{
	static const char dashes[] = ";stroke-dasharray:6 4";

	buf_adds(b, ".graph .oval{fill:#e9ecf1;stroke:#5d6a80;stroke-width:1.2}\n");
	add_look(b, ".box.bash", &item_looks[LOOK_BASH].light, "");
	add_look(b, ".box.agent", &item_looks[LOOK_AGENT].light, "");
	add_look(b, ".box.recipe", &item_looks[LOOK_RECIPE].light, dashes);
	buf_adds(b, ".graph .box.wait{stroke-dasharray:2 3}\n");
	add_look(b, ".condition", &item_looks[LOOK_CONDITION].light, ";stroke-width:1.2");
	add_look(b, ".gate", &item_looks[LOOK_GATE].light, ";stroke-width:1.6");
	add_skip(b, item_looks[LOOK_CONDITION].light.line, dashes, "font-size:11px;fill:#7a5f00");
	buf_adds(b, ".graph .line.round{stroke-dasharray:5 3}\n"
		    ".graph .pill{fill:#fff;fill-opacity:.75}\n"
		    ".graph .pill.on-frame{fill:#e6ebf3;fill-opacity:1}\n"
		    "@media (prefers-color-scheme:dark){\n"
		    ".graph .oval{fill:#2a313c;stroke:#98a4b8}\n");
	add_look(b, ".box.bash", &item_looks[LOOK_BASH].dark, "");
	add_look(b, ".box.agent", &item_looks[LOOK_AGENT].dark, "");
	add_look(b, ".box.recipe", &item_looks[LOOK_RECIPE].dark, "");
	add_look(b, ".condition", &item_looks[LOOK_CONDITION].dark, "");
	add_look(b, ".gate", &item_looks[LOOK_GATE].dark, "");
	add_skip(b, item_looks[LOOK_CONDITION].dark.line, "", "fill:#ecd27a");
	buf_adds(b, ".graph .pill{fill:#000;fill-opacity:.3}\n"
		    ".graph .pill.on-frame{fill:#323c4b;fill-opacity:1}\n"
		    "}\n");
}

enum {
	JOIN_ABOVE = 22, /* where the arrow past a step meets the line to the next */
	LEGEND_ROW = 26,
	LEGEND_SIGN = 34,
	LEGEND_GAP = 24,
};

void svg_oval(struct buf *b, const struct item *i)
{
	svg_rect(b, "oval", i->box.x, i->box.y, i->box.w, i->box.h, i->box.h / 2);
	svg_line_of_text(b, "small middle", i->box.x + i->box.w / 2, i->box.y + i->box.h / 2,
		SIZE_SMALL, i->kind == ITEM_START ? S("start") : S("end"));
}

static void put_diamond(struct buf *b, const char *class, int x, int y, int w, int h)
{
	buf_printf(b, "<path class=\"%s\" d=\"M%d %dL%d %dL%d %dL%d %dZ\"/>\n", class, x + w / 2, y,
		x + w, y + h / 2, x + w / 2, y + h, x, y + h / 2);
}

void svg_diamond(struct buf *b, const struct item *i)
{
	bool gate = i->kind == ITEM_GATE;
	int y = i->box.y + i->box.diamond / 2 - (i->text.detail.len ? 8 : 0);
	int middle = i->box.x + i->box.w / 2;
	AUTO_BUF class = BUF_INIT;

	buf_adds(&class, item_looks[i->look].name);
	if (i->state.known)
		buf_printf(&class, " box known %s", shown_state_word(i->state.state));
	put_diamond(b, buf_cstr(&class), i->box.x, i->box.y, i->box.w, i->box.diamond);
	if (gate) {
		int w = word_pixels(i) + text_pixels(i->text.title, SIZE_LABEL);

		svg_line_of_text(b, "word", middle - w / 2, y, SIZE_SMALL, i->text.word);
		svg_line_of_text(
			b, "label", middle - w / 2 + word_pixels(i), y, SIZE_LABEL, i->text.title);
		svg_line_of_text(
			b, "small quiet middle", middle, y + 17, SIZE_SMALL, i->text.detail);
	} else {
		svg_line_of_text(b, "small middle", middle, y, SIZE_SMALL, i->text.title);
		svg_line_of_text(b, "small middle", middle, y + 16, SIZE_SMALL, i->text.detail);
	}
	svg_marks(b, i);
}

/* Out of the right corner, down beside the step, and back to the line above what comes next. */
void svg_skip(struct buf *b, const struct item *condition, const struct item *to)
{
	int x = condition->box.x + condition->box.w;
	int y = condition->box.y + condition->box.diamond / 2;
	int join = to->box.y - JOIN_ABOVE;
	int port = to->box.x + to->box.port;

	buf_printf(b, "<path class=\"line skip\" d=\"M%d %dH%dq8 0 8 8V%dq0 8 -8 8H%d\"/>\n", x, y,
		condition->box.lane - 8, join - 8, port + 8);
	svg_head(b, port + 1, join, SIDE_LEFT, " skip");
	svg_line_of_text(b, "skip-text", x + 3, y - 9, SIZE_SMALL, S("skip"));
}

/* -- legend --------------------------------------------------------------------------------------
 */

static void put_arrow_sign(struct buf *b, enum legend what, int x, int y)
{
	const char *class = what == LEGEND_SKIP ? " skip" : what == LEGEND_WHILE ? " round" : "";

	if (what == LEGEND_SKIP) {
		svg_line(b, class, x, y, x + LEGEND_SIGN - 8, y);
		svg_head(b, x + LEGEND_SIGN, y, SIDE_RIGHT, class);
		return;
	}
	/* An arrow that comes back. */
	buf_printf(b, "<path class=\"line%s\" d=\"M%d %dh-14q-5 0 -5 -5v-4q0 -5 5 -5h6\"/>\n",
		class, x + 26, y + 7);
	svg_head(b, x + 26, y - 7, SIDE_RIGHT, "");
}

static void put_sign(struct buf *b, enum legend what, int x, int y)
{
	const struct legend_entry *e = &legend_entries[what];
	AUTO_BUF class = BUF_INIT;

	buf_printf(&class, "box %s", item_looks[e->look].name);
	if (e->kind == ITEM_CONDITION || e->kind == ITEM_GATE) {
		put_diamond(b, item_looks[e->look].name, x, y - 9, LEGEND_SIGN, 18);
	} else if (what == LEGEND_PARALLEL) {
		for (int back = 6; back >= 0; back -= 3)
			svg_rect(b, buf_cstr(&class), x + back, y - 9 + back, LEGEND_SIGN - 6, 12,
				4);
	} else if (e->kind == ITEM_BOX) {
		svg_rect(b, buf_cstr(&class), x, y - 8, LEGEND_SIGN, 16, 4);
	} else {
		put_arrow_sign(b, what, x, y);
	}
}

int svg_legend(struct buf *b, const struct picture *p, int y, int width)
{
	int x = MARGIN;
	int row = y + LEGEND_ROW / 2;

	if (!p->legend)
		return 0;
	buf_adds(b, "<g class=\"legend\"><title>legend</title>\n");
	for (unsigned what = 0; what < LEGEND_COUNT; what++) {
		struct str words = str_of(legend_entries[what].words);
		int w = LEGEND_SIGN + 8 + text_pixels(words, SIZE_SMALL);

		if (!(p->legend & 1u << what))
			continue;
		if (x > MARGIN && x + w > width - MARGIN) {
			x = MARGIN;
			row += LEGEND_ROW;
		}
		put_sign(b, (enum legend)what, x, row);
		svg_line_of_text(b, "small quiet", x + LEGEND_SIGN + 8, row, SIZE_SMALL, words);
		x += w + LEGEND_GAP;
	}
	buf_adds(b, "</g>\n");
	return row + LEGEND_ROW / 2 - y;
}
