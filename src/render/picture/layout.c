#include "render/picture/layout.h"

#include "render/picture/text.h"

enum {
	STEP_GAP = 36, /* room for an arrow between two steps */
	ROW_GAP = 28,  /* between branches side by side */
	BRANCH_GAP = 30,
	BAR_OVERHANG = 30,
	COLUMN_GAP = 16,
	HEADER_GAP = 8,
	ARM = 34, /* room for an arrow between a bar and a branch beside it */
	RECOVER_DROP = 38,
	RECOVER_INDENT = 28,
	MARKS_WIDTH = 300,
	MARK_GAP = 6,
	BOX_MIN = 76,
	ROW_MAX = 6,          /* more branches than these stand in columns, */
	ROW_WIDTH_MAX = 1300, /* and wider rows as well */
	COLUMNS_MAX = 4,
	AGAIN_ROOM = 20, /* for the arrow of a step to itself */
	SKIP_ROOM = 46,  /* for the arrow that passes a step by */
	SKIP_LANE = 14,  /* … which goes down so far from the right end of that room */
	DIAMOND_LINE = 16,
	OVAL_WIDTH = 64,
	OVAL_HEIGHT = 28,
	LEGEND_WIDTH = 520,
};

/* An item with its recovery and the copies behind it. `left` is up to where arrows come in. */
struct extent {
	int left, right, h;
};

int text_pixels(struct str s, int size)
{
	return ((int)picture_width(s) * size + 99) / 100;
}

int word_pixels(const struct item *i)
{
	return i->text.word.len
		       ? text_pixels(i->text.word, SIZE_SMALL) + text_pixels(S("  "), SIZE_SMALL)
		       : 0;
}

static int recover_gap(void)
{
	return text_pixels(S(BETWEEN_ATTEMPTS), SIZE_SMALL) + 28;
}

static int stack_of(const struct item *i)
{
	return i->copies ? STACK : 0;
}

/* With `below`, the recovery stands under its node: beside it arrows of the bars go out. */
static struct extent extent_of(const struct item *i, bool below)
{
	struct extent e = { i->box.port + (i->again ? AGAIN_ROOM : 0),
		i->box.w - i->box.port + stack_of(i), i->box.h + stack_of(i) };

	if (!i->recover)
		return e;
	struct extent r = extent_of(i->recover, false);
	int w = r.left + r.right;

	if (below) {
		e.right = MAX(e.right, RECOVER_INDENT + w - e.left);
		e.h += RECOVER_DROP + r.h;
	} else {
		e.right += recover_gap() + w;
		e.h = MAX(e.h, r.h);
	}
	return e;
}

/* Rows of marks from (x, y); returns how high they are and widens *w to hold them. */
static int measure_marks(struct item *i, int x, int y, int *w)
{
	int at = 0;
	int rows = 0;

	for (size_t m = 0; m < i->text.mark_count; m++) {
		struct mark *mark = &i->text.marks[m];

		mark->w = text_pixels(mark->text, SIZE_SMALL) + 2 * MARK_PAD;
		if (!rows || mark->state || at + mark->w > MARKS_WIDTH) {
			rows++;
			at = 0;
		}
		mark->x = x + at;
		mark->y = y + (rows - 1) * (MARK_HEIGHT + MARK_GAP);
		at += mark->w + MARK_GAP;
		*w = MAX(*w, at - MARK_GAP);
	}
	return rows * (MARK_HEIGHT + MARK_GAP);
}

/* Wide enough that the corners of its text stay inside; the flatter the wider. */
static void measure_diamond(struct item *i)
{
	int lines = 1 + (i->text.detail.len > 0);
	int text = MAX(text_pixels(i->text.title, i->text.labelled ? SIZE_LABEL : SIZE_SMALL) +
			       word_pixels(i),
		text_pixels(i->text.detail, SIZE_SMALL));
	int half = lines * DIAMOND_LINE / 2;
	int w = 0;

	i->box.diamond = lines * DIAMOND_LINE + 34 + 10 * lines;
	i->box.w = text * (i->box.diamond / 2) / (i->box.diamond / 2 - half) + 8;
	i->box.h = i->box.diamond;
	if (i->text.mark_count)
		i->box.h += 4 + measure_marks(i, 0, i->box.diamond + 4, &w);
	for (size_t m = 0; m < i->text.mark_count; m++)
		i->text.marks[m].x += (i->box.w - w) / 2;
	i->box.port = i->box.w / 2;
}

static void measure_box(struct item *i)
{
	int w = text_pixels(i->text.title, i->text.labelled ? SIZE_LABEL : SIZE_COMMAND) +
		word_pixels(i);
	int h = PAD - 2 + LINE_LABEL;

	w = MAX(w, text_pixels(i->text.detail, SIZE_SMALL));
	if (i->text.detail.len)
		h += LINE_DETAIL;
	if (i->text.mark_count)
		h += 5 + measure_marks(i, PAD, h + 5, &w) - MARK_GAP;
	i->box.w = MAX(w + 2 * PAD, BOX_MIN);
	i->box.h = h + PAD - (i->text.mark_count ? 0 : 2);
	i->box.port = i->box.w / 2;
}

/* The frame's own lines. Returns their height. */
static int measure_header(struct item *i, int *w)
{
	int h = HEADER;

	*w = text_pixels(i->text.word, SIZE_SMALL);
	if (i->bare)
		return 0;
	if (i->text.title.len)
		*w += text_pixels(S("  "), SIZE_SMALL) + text_pixels(i->text.title, SIZE_LABEL);
	if (i->text.mark_count)
		h += 6 + measure_marks(i, GROUP_PAD, GROUP_PAD / 2 + h + 4, w);
	return h + GROUP_PAD / 2 + HEADER_GAP;
}

/* Child `at` of a sequence; beside a condition and its step goes the arrow that skips it. */
static struct extent extent_in(const struct item *g, size_t at)
{
	struct extent e = extent_of(g->children[at], false);

	if (g->children[at]->kind != ITEM_CONDITION || at + 1 >= g->child_count)
		return e;
	struct extent step = extent_of(g->children[at + 1], false);
	e.right = MAX(e.right, step.right) + SKIP_ROOM;
	return e;
}

static struct extent sum_sequence(const struct item *g)
{
	struct extent sum = { 0 };

	for (size_t i = 0; i < g->child_count; i++) {
		struct extent e = extent_in(g, i);

		sum.left = MAX(sum.left, e.left);
		sum.right = MAX(sum.right, e.right);
		sum.h += e.h + (i ? STEP_GAP : 0);
	}
	return sum;
}

static struct extent sum_row(const struct item *g)
{
	struct extent sum = { 0 };
	int w = -ROW_GAP;

	for (size_t i = 0; i < g->child_count; i++) {
		struct extent e = extent_of(g->children[i], false);

		w += ROW_GAP + e.left + e.right;
		sum.h = MAX(sum.h, e.h);
	}
	w = MAX(w, 2 * BAR_OVERHANG);
	sum.left = w / 2;
	sum.right = w - w / 2;
	sum.h += 2 * (BAR + BRANCH_GAP);
	return sum;
}

/* The column that begins with child `first`: its width without bars, and its height. */
static struct extent sum_column(const struct item *g, size_t first, size_t count)
{
	struct extent sum = { 0 };

	for (size_t i = first; i < first + count && i < g->child_count; i++) {
		struct extent e = extent_of(g->children[i], true);

		sum.right = MAX(sum.right, e.left + e.right);
		sum.h += e.h + COLUMN_GAP;
	}
	return sum;
}

static struct extent sum_columns(const struct item *g, size_t per_column)
{
	struct extent sum = { 0 };
	int w = -ROW_GAP;

	for (size_t i = 0; i < g->child_count; i += per_column) {
		struct extent e = sum_column(g, i, per_column);

		w += ROW_GAP + 2 * (BAR + ARM) + e.right;
		sum.h = MAX(sum.h, e.h);
	}
	sum.left = w / 2;
	sum.right = w - w / 2;
	sum.h += 2 * BAR + COLUMN_GAP;
	return sum;
}

/* As many columns as make the group most like a square. */
static struct extent best_columns(struct item *g)
{
	struct extent best = { 0 };
	int best_side = 0;

	for (size_t k = 1; k <= COLUMNS_MAX && k <= g->child_count; k++) {
		size_t per_column = (g->child_count + k - 1) / k;
		struct extent e = sum_columns(g, per_column);
		int side = MAX(e.left + e.right, e.h);

		if (best_side && side >= best_side)
			continue;
		best = e;
		best_side = side;
		g->box.per_column = per_column;
	}
	return best;
}

static struct extent sum_parallel(struct item *g)
{
	struct extent row = sum_row(g);

	if (g->child_count > ROW_MAX ||
		(g->child_count > 2 && row.left + row.right > ROW_WIDTH_MAX))
		return best_columns(g);
	return row;
}

static void measure(struct item *i)
{
	if (i->recover)
		measure(i->recover);
	if (!item_is_group(i)) {
		if (i->kind == ITEM_CONDITION || i->kind == ITEM_GATE)
			measure_diamond(i);
		else
			measure_box(i);
		return;
	}
	for (size_t c = 0; c < i->child_count; c++)
		measure(i->children[c]);

	int header_w;
	int header = measure_header(i, &header_w);
	struct extent in = i->fork ? sum_parallel(i) : sum_sequence(i);
	int pad = i->bare ? 0 : GROUP_PAD;
	int spare = MAX(header_w - in.left - in.right, 0); /* a header wider than what is in it */

	i->box.w = in.left + in.right + spare + 2 * pad;
	i->box.h = header + in.h + pad;
	i->box.port = pad + in.left + spare / 2;
}

static void place(struct item *i);

/* `x` is where arrows come in, `y` the top of all that `extent_of` counts. */
static void place_unit(struct item *i, int x, int y, bool below)
{
	i->box.x = x - i->box.port;
	i->box.y = y;
	if (i->recover) {
		struct extent r = extent_of(i->recover, false);

		if (below) {
			place_unit(i->recover, i->box.x + RECOVER_INDENT + r.left,
				y + i->box.h + stack_of(i) + RECOVER_DROP, false);
		} else {
			i->box.y += MAX(r.h - i->box.h, 0) / 2;
			place_unit(i->recover,
				i->box.x + i->box.w + stack_of(i) + recover_gap() + r.left,
				y + MAX(i->box.h - r.h, 0) / 2, false);
		}
	}
	place(i);
}

static void place_sequence(struct item *g, int y)
{
	for (size_t i = 0; i < g->child_count; i++) {
		struct item *child = g->children[i];

		place_unit(child, g->box.x + g->box.port, y, false);
		child->box.lane = g->box.x + g->box.port + extent_in(g, i).right - SKIP_LANE;
		y += extent_of(g->children[i], false).h + STEP_GAP;
	}
}

static void place_bar(struct item *bar, int left, int right, int y)
{
	bar->box.x = left;
	bar->box.y = y;
	bar->box.w = right - left;
	bar->box.h = BAR;
	bar->box.port = bar->box.w / 2;
}

static void place_row(struct item *g, int y, int bottom)
{
	struct extent in = sum_row(g);
	int x = g->box.x + g->box.port - in.left;
	int width = in.left + in.right;
	int first = 0;
	int last = 0;

	if (g->child_count == 1) { /* narrower than the bars, perhaps */
		struct extent e = extent_of(g->children[0], false);
		x += MAX(width - e.left - e.right, 0) / 2;
	}
	for (size_t i = 0; i < g->child_count; i++) {
		struct extent e = extent_of(g->children[i], false);

		last = x + e.left;
		first = i ? first : last;
		place_unit(g->children[i], last, y + BAR + BRANCH_GAP, false);
		x += e.left + e.right + ROW_GAP;
	}
	place_bar(g->fork, first - BAR_OVERHANG, last + BAR_OVERHANG, y);
	place_bar(g->join, first - BAR_OVERHANG, last + BAR_OVERHANG, bottom - BAR);
}

/* Fork and join are combs here: a bar across, and one beside every column. */
static void place_columns(struct item *g, int y, int bottom)
{
	struct extent in = sum_columns(g, g->box.per_column);
	int x = g->box.x + g->box.port - in.left;

	place_bar(g->fork, x, x, y);
	for (size_t first = 0; first < g->child_count; first += g->box.per_column) {
		int w = sum_column(g, first, g->box.per_column).right;
		int at = y + BAR + COLUMN_GAP;

		g->fork->box.w = x + BAR - g->fork->box.x;
		if (first == 0)
			place_bar(g->join, x + BAR + 2 * ARM + w, 0, bottom - BAR);
		for (size_t i = first; i < first + g->box.per_column && i < g->child_count; i++) {
			struct item *child = g->children[i];

			child->box.lane_left = x;
			child->box.lane_right = x + BAR + 2 * ARM + w;
			if (!item_is_group(child) && !child->recover)
				child->box.w = w - stack_of(child);
			place_unit(child, x + BAR + ARM + child->box.port, at, true);
			at += extent_of(child, true).h + COLUMN_GAP;
		}
		x += 2 * (BAR + ARM) + w + ROW_GAP;
	}
	g->join->box.w = x - ROW_GAP - g->join->box.x;
}

static void place(struct item *i)
{
	int header_w;

	if (!item_is_group(i))
		return;
	int top = i->box.y + measure_header(i, &header_w);
	int bottom = i->box.y + i->box.h - (i->bare ? 0 : GROUP_PAD);

	if (!i->fork)
		place_sequence(i, top);
	else if (i->box.per_column)
		place_columns(i, top, bottom);
	else
		place_row(i, top, bottom);
}

/* Start and end: dots, of a step recipe ovals with their word in it. */
static void place_dot(struct item *dot, int x, int y, bool oval)
{
	dot->box.w = oval ? OVAL_WIDTH : DOT;
	dot->box.h = oval ? OVAL_HEIGHT : DOT;
	dot->box.port = dot->box.w / 2;
	dot->box.x = x - dot->box.port;
	dot->box.y = y;
}

void picture_layout(struct picture *p, int *width, int *height)
{
	int title = p->title.len ? SIZE_TITLE + 20 : 0;
	int y = MARGIN + title;

	measure(p->root);
	struct extent e = extent_of(p->root, false);
	int w = MAX(e.left + e.right, text_pixels(p->title, SIZE_TITLE));
	if (p->legend)
		w = MAX(w, LEGEND_WIDTH);
	int x = MARGIN + e.left + (w - e.left - e.right) / 2;

	place_dot(p->start, x, y, p->steps);
	y += p->start->box.h + STEP_GAP;
	place_unit(p->root, x, y, false);
	place_dot(p->end, x, y + e.h + STEP_GAP, p->steps);
	*width = w + 2 * MARGIN;
	*height = p->end->box.y + p->end->box.h + MARGIN;
}
