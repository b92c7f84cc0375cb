#include "render/picture/svg-draw.h"

static const char style[] = ".graph text{font-family:ui-monospace,'DejaVu Sans "
			    "Mono',Menlo,Consolas,monospace;fill:#1c2330}\n"
			    ".graph .paper{fill:#fff}\n"
			    ".graph .frame{fill:#f5f7fa;stroke:#b9c2cf}\n"
			    ".graph .frame.odd{fill:#fff}\n"
			    ".graph .frame.both,.graph .inner{stroke:#3f6fc4}\n"
			    ".graph .inner,.graph .line{fill:none}\n"
			    ".graph .box{fill:#fff;stroke:#8592a6;stroke-width:1.2}\n"
			    ".graph .more{fill:none;stroke:#a9b3c1;stroke-dasharray:2 4}\n"
			    ".graph .recovery{fill:#fff8ea;stroke:#a86a12;stroke-dasharray:6 4}\n"
			    ".graph .bar{fill:#3f6fc4}\n"
			    ".graph .dot{fill:#1c2330}\n"
			    ".graph .ring{fill:none;stroke:#1c2330;stroke-width:1.6}\n"
			    ".graph .title{font-size:16px;font-weight:600}\n"
			    ".graph .label{font-size:13px;font-weight:600}\n"
			    ".graph .command{font-size:12px}\n"
			    ".graph .middle{text-anchor:middle}\n"
			    ".graph .small{font-size:11px}\n"
			    ".graph .quiet{fill:#566176}\n"
			    ".graph .word{font-size:11px;font-weight:600;fill:#566176}\n"
			    ".graph .word.both{fill:#2f5cae}\n"
			    ".graph .pill{fill:#e6ebf3}\n"
			    ".graph .mark{font-size:11px;fill:#35415a}\n"
			    ".graph .line{stroke:#5d6a80;stroke-width:1.5}\n"
			    ".graph .head{fill:#5d6a80}\n"
			    ".graph .line.between{stroke:#a86a12;stroke-dasharray:6 4}\n"
			    ".graph .head.between{fill:#a86a12}\n"
			    ".graph .between-text{font-size:11px;fill:#8a550b}\n"
			    ".graph .never{opacity:.55}\n"
			    "@media (prefers-color-scheme:dark){\n"
			    ".graph text{fill:#e6e9ef}\n"
			    ".graph .paper{fill:#14171c}\n"
			    ".graph .frame{fill:#1b2028;stroke:#465163}\n"
			    ".graph .frame.odd{fill:#14171c}\n"
			    ".graph .frame.both,.graph .inner{stroke:#6f9df0}\n"
			    ".graph .box{fill:#222933;stroke:#8793a7}\n"
			    ".graph .more{fill:none;stroke:#6b778b}\n"
			    ".graph .recovery{fill:#2b2416;stroke:#e0a94c}\n"
			    ".graph .bar{fill:#6f9df0}\n"
			    ".graph .dot{fill:#e6e9ef}\n"
			    ".graph .ring{stroke:#e6e9ef}\n"
			    ".graph .quiet,.graph .word{fill:#a9b4c6}\n"
			    ".graph .word.both{fill:#93b6f7}\n"
			    ".graph .pill{fill:#323c4b}\n"
			    ".graph .mark{fill:#d6deea}\n"
			    ".graph .line{stroke:#98a4b8}\n"
			    ".graph .head{fill:#98a4b8}\n"
			    ".graph .line.between{stroke:#e0a94c}\n"
			    ".graph .head.between{fill:#e0a94c}\n"
			    ".graph .between-text{fill:#ecc078}\n"
			    "}\n";

/* The style of the states that occur; of each ground one look. */
static void add_look(struct buf *b, const char *name, const struct state_colours *c)
{
	buf_printf(b,
		".graph .box.%s,.graph .frame.%s{stroke:%s}\n"
		".graph .state.%s{fill:%s;stroke:%s}\n"
		".graph .state-text.%s{fill:%s}\n",
		name, name, c->line, name, c->fill, c->line, name, c->text);
}

static unsigned states_in(const struct item *i)
{
	unsigned seen = i->state.known ? 1u << i->state.state : 0;

	for (size_t c = 0; c < i->child_count; c++)
		seen |= states_in(i->children[c]);
	return i->recover ? seen | states_in(i->recover) : seen;
}

static void add_state_style(struct buf *b, const struct picture *p)
{
	unsigned seen = states_in(p->root);

	buf_adds(b, ".graph .state{stroke-width:1}\n"
		    ".graph .state-text{font-size:11px;font-weight:600}\n"
		    ".graph .box.known{stroke-width:2}\n");
	for (unsigned i = 0; i < SHOWN_STATES; i++)
		if (seen & 1u << i)
			add_look(b, shown_state_word(i), &state_looks[i].light);
	buf_adds(b, "@media (prefers-color-scheme:dark){\n");
	for (unsigned i = 0; i < SHOWN_STATES; i++)
		if (seen & 1u << i)
			add_look(b, shown_state_word(i), &state_looks[i].dark);
	buf_adds(b, "}\n");
}

/* The item's outline, once behind the other for copies. */
static void put_outline(struct buf *b, const struct item *i, const char *class, int round)
{
	for (int back = i->copies ? STACK : 0; back >= 0; back -= STACK / 2)
		svg_rect(b, class, i->box.x + back, i->box.y + back, i->box.w, i->box.h, round);
}

static const char *title_class(const struct item *i, bool alone)
{
	if (i->kind == ITEM_MORE)
		return alone ? "command quiet middle" : "command quiet";
	if (i->text.labelled)
		return "label";
	return alone ? "command middle" : "command";
}

static void put_box(struct buf *b, const struct item *i)
{
	bool alone = !i->text.labelled && !i->text.mark_count &&
		     !i->box.lane_right; /* then it is centred */
	int size = i->text.labelled ? SIZE_LABEL : SIZE_COMMAND;
	int x = i->box.x + (alone ? i->box.w / 2 : PAD);
	int y = i->box.y + PAD - 2 + LINE_LABEL / 2;
	const char *class = i->recovery            ? "box recovery"
			    : i->kind == ITEM_MORE ? "box more"
						   : "box";

	AUTO_BUF classes = BUF_INIT;
	buf_adds(&classes, class);
	if (i->look)
		buf_printf(&classes, " %s", item_looks[i->look].name);
	if (i->state.known)
		buf_printf(&classes, " known %s", shown_state_word(i->state.state));
	put_outline(b, i, buf_cstr(&classes), 7);
	svg_line_of_text(b, "word", x, y, SIZE_SMALL, i->text.word);
	svg_line_of_text(b, title_class(i, alone), x + word_pixels(i), y, size, i->text.title);
	svg_line_of_text(
		b, "small quiet", i->box.x + PAD, y + LINE_DETAIL + 1, SIZE_SMALL, i->text.detail);
	svg_marks(b, i);
}

/* The bars beside a column: that of the fork ends at the last branch, that of the join begins at
 * the first. A single column has no crossbars, so both are as long as the column. */
static void put_teeth(struct buf *b, const struct item *g, size_t c)
{
	const struct item *child = g->children[c];
	bool single = g->box.per_column >= g->child_count;
	int top = g->fork->box.y;
	int foot = g->join->box.y + BAR;
	int middle = child->box.y + child->box.h / 2;

	if ((c + 1) % g->box.per_column == 0 || c + 1 == g->child_count)
		svg_rect(b, "bar", child->box.lane_left, top, BAR,
			(single ? foot : middle + 8) - top, 3);
	if (c % g->box.per_column == 0)
		svg_rect(b, "bar", child->box.lane_right, single ? top : middle - 8, BAR,
			foot - (single ? top : middle - 8), 3);
}

static void put_item(struct buf *b, const struct item *i);

static void put_group(struct buf *b, const struct item *i)
{
	bool both = i->fork;
	const char *odd = i->depth % 2 ? " odd" : "";
	AUTO_BUF class = BUF_INIT;
	int y = i->box.y + GROUP_PAD / 2 + HEADER / 2;

	buf_printf(&class, "frame%s%s%s", odd, both ? " both" : "", i->recovery ? " recovery" : "");
	if (i->state.known)
		buf_printf(&class, " %s", shown_state_word(i->state.state));
	if (!i->bare)
		put_outline(b, i, buf_cstr(&class), 12);
	if (both)
		svg_rect(b, "inner", i->box.x + 4, i->box.y + 4, i->box.w - 8, i->box.h - 8, 9);
	svg_line_of_text(
		b, both ? "word both" : "word", i->box.x + GROUP_PAD, y, SIZE_SMALL, i->text.word);
	svg_line_of_text(b, "label",
		i->box.x + GROUP_PAD + text_pixels(i->text.word, SIZE_SMALL) +
			text_pixels(S("  "), SIZE_SMALL),
		y, SIZE_LABEL, i->text.title);
	svg_marks(b, i);
	if (both) {
		svg_rect(b, "bar", i->fork->box.x, i->fork->box.y, i->fork->box.w, BAR, 3);
		svg_rect(b, "bar", i->join->box.x, i->join->box.y, i->join->box.w, BAR, 3);
	}
	for (size_t c = 0; c < i->child_count; c++) {
		if (both && i->box.per_column)
			put_teeth(b, i, c);
		put_item(b, i->children[c]);
	}
}

static void put_dot(struct buf *b, const struct item *i)
{
	int x = i->box.x + i->box.port;
	int y = i->box.y + DOT / 2;

	if (i->kind == ITEM_END)
		buf_printf(b, "<circle class=\"ring\" cx=\"%d\" cy=\"%d\" r=\"%d\"/>\n", x, y,
			DOT / 2);
	buf_printf(b, "<circle class=\"dot\" cx=\"%d\" cy=\"%d\" r=\"%d\"/>\n", x, y,
		i->kind == ITEM_END ? DOT / 2 - 4 : DOT / 2);
}

static void put_item(struct buf *b, const struct item *i)
{
	buf_printf(b, "<g%s><title>", i->never ? " class=\"never\"" : "");
	svg_text(b, i->text.tip);
	buf_adds(b, "</title>\n");
	if (i->kind == ITEM_START || i->kind == ITEM_END)
		(i->box.h == DOT ? put_dot : svg_oval)(b, i);
	else if (i->kind == ITEM_CONDITION || i->kind == ITEM_GATE)
		svg_diamond(b, i);
	else if (item_is_group(i))
		put_group(b, i);
	else
		put_box(b, i);
	buf_adds(b, "</g>\n");
	if (i->recover)
		put_item(b, i->recover);
}

static int bottom_of(const struct item *i)
{
	return i->box.y + i->box.h + (i->copies ? STACK : 0);
}

static void put_down(struct buf *b, int x, int y1, int y2)
{
	svg_line(b, "", x, y1, x, y2 - 8);
	svg_head(b, x, y2, SIDE_DOWN, "");
}

static void put_branch(struct buf *b, const struct arrow *a)
{
	bool out = a->from->kind == ITEM_FORK;
	const struct item *child = out ? a->to : a->from;
	int y = child->box.y + child->box.h / 2;
	int from, to;

	if (!child->box.lane_right) {
		put_down(b, child->box.x + child->box.port, bottom_of(a->from), a->to->box.y);
		return;
	}
	from = out ? child->box.lane_left + BAR
		   : child->box.x + child->box.w + (child->copies ? STACK : 0);
	to = out ? child->box.x : child->box.lane_right;
	svg_line(b, "", from, y, to - 8, y);
	svg_head(b, to, y, SIDE_RIGHT, "");
}

static int middle_of(const struct item *i)
{
	return (i->box.diamond ? i->box.diamond : i->box.h) / 2;
}

/* From the foot of a repeated body back to its top, along its left side; of several steps from the
 * last to the first. */
static void put_again(struct buf *b, const struct item *i, const char *class)
{
	const struct item *first = item_first(i), *last = item_last(i);
	bool one = first == last;
	int left = i->box.x - 13;
	int top = first->box.y + (one ? MIN(i->box.h / 4, 40) : middle_of(first));
	int foot = last->box.y + (one ? i->box.h - MIN(i->box.h / 4, 40) : middle_of(last));

	buf_printf(b, "<path class=\"line%s\" d=\"M%d %dH%dq-6 0 -6 -6V%dq0 -6 6 -6H%d\"/>\n",
		class, last->box.x, foot, left + 6, top + 6, first->box.x - 8);
	svg_head(b, first->box.x, top, SIDE_RIGHT, "");
}

static void put_recover(struct buf *b, const struct item *i, const struct item *r)
{
	static const char class[] = " between";

	if (r->box.y >= i->box.y + i->box.h) {
		int x = r->box.x + 20;
		int y1 = bottom_of(i);

		svg_line(b, class, x, y1 + 8, x, r->box.y - 8);
		svg_head(b, x, y1, SIDE_UP, class);
		svg_head(b, x, r->box.y, SIDE_DOWN, class);
		svg_line_of_text(b, "between-text", x + 12, (y1 + r->box.y) / 2, SIZE_SMALL,
			S(BETWEEN_ATTEMPTS));
		return;
	}
	int x1 = i->box.x + i->box.w + (i->copies ? STACK : 0);
	int y = (MAX(i->box.y, r->box.y) + MIN(i->box.y + i->box.h, r->box.y + r->box.h)) / 2;

	svg_line(b, class, x1 + 8, y, r->box.x - 8, y);
	svg_head(b, x1, y, SIDE_LEFT, class);
	svg_head(b, r->box.x, y, SIDE_RIGHT, class);
	svg_line_of_text(b, "between-text", x1 + 14, y - 12, SIZE_SMALL, S(BETWEEN_ATTEMPTS));
}

static void put_arrow(struct buf *b, const struct arrow *a)
{
	switch (a->kind) {
	case ARROW_NEXT:
		put_down(b, a->to->box.x + a->to->box.port, bottom_of(a->from), a->to->box.y);
		break;
	case ARROW_BRANCH:
		put_branch(b, a);
		break;
	case ARROW_AGAIN:
		put_again(b, a->from, "");
		break;
	case ARROW_ROUND:
		put_again(b, a->from, " round");
		break;
	case ARROW_SKIP:
		svg_skip(b, a->from, a->to);
		break;
	case ARROW_RECOVER:
		put_recover(b, a->from, a->to);
		break;
	}
}

void svg_write(struct picture *p, struct buf *ret)
{
	int w, h;

	picture_layout(p, &w, &h);
	AUTO_BUF legend = BUF_INIT;
	h += svg_legend(&legend, p, h - MARGIN / 2, w);
	p->width = w;
	p->height = h;
	buf_printf(ret,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\" class=\"graph\" role=\"img\" "
		"aria-labelledby=\"graph-title graph-desc\">\n<title id=\"graph-title\">",
		w, h, w, h);
	svg_text(ret, p->title.len ? p->title : S("command graph"));
	buf_adds(ret, "</title>\n<desc id=\"graph-desc\">");
	svg_text(ret, p->description);
	buf_printf(ret, "</desc>\n<style>\n%s", style);
	if (p->steps)
		svg_steps_style(ret);
	if (p->run)
		add_state_style(ret, p);
	buf_adds(ret, "</style>\n");
	svg_rect(ret, "paper", 0, 0, w, h, 0);
	svg_line_of_text(ret, "title", MARGIN, MARGIN + SIZE_TITLE / 2, SIZE_TITLE, p->title);
	put_item(ret, p->start);
	put_item(ret, p->root);
	put_item(ret, p->end);
	vec_each (a, &p->arrows)
		put_arrow(ret, a);
	buf_add(ret, buf_str(&legend));
	buf_adds(ret, "</svg>\n");
}
