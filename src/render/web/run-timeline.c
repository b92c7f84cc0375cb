#include "render/web/run-timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/vec.h"
#include "render/web/html.h"

enum {
	WIDTH = 1000,
	FOLD_WIDTH = 36,
	FOLD_PERCENT = 10, /* a stretch without work that is longer is folded */
	TICKS = 6,
	LANES = 48, /* of the density form; more at once are drawn over each other */
	LANE_HEIGHT = 5,
};

struct drawing {
	const struct timeline *t;
	struct buf *b;
	struct timeline_piece pieces[TIMELINE_PIECES];
	size_t count;
	const struct node_span **critical; /* in no order */
	size_t critical_count;
};

/* -- the scale -----------------------------------------------------------------------------------
 */

struct stretch {
	uint64_t start, end;
};

static int by_start(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
				    : (x->end > y->end) - (x->end < y->end);
}

static const char *why_of(const struct timeline *t, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < t->pause_count; i++)
		if (t->pauses[i].start_ms < end && t->pauses[i].end_ms > start)
			return t->pauses[i].why;
	return NULL;
}

static void add_piece(const struct timeline *t, struct timeline_piece *pieces, size_t *count,
	struct stretch s, bool folded)
{
	if (s.end <= s.start || *count == TIMELINE_PIECES)
		return;
	pieces[(*count)++] = (struct timeline_piece){ .start_ms = s.start,
		.end_ms = s.end,
		.folded = folded,
		.why = folded ? why_of(t, s.start, s.end) : NULL };
}

/* Each piece its share of what the folded ones leave. */
static void place(struct timeline_piece *pieces, size_t count)
{
	uint64_t open = 0;
	size_t folded = 0;
	double x = 0;

	for (size_t i = 0; i < count; i++) {
		folded += pieces[i].folded;
		open += pieces[i].folded ? 0 : pieces[i].end_ms - pieces[i].start_ms;
	}
	double room = WIDTH - (double)folded * FOLD_WIDTH;
	for (size_t i = 0; i < count; i++) {
		struct timeline_piece *p = &pieces[i];

		p->x = x;
		p->width = p->folded ? FOLD_WIDTH
			   : open    ? room * (double)(p->end_ms - p->start_ms) / (double)open
				     : room;
		x += p->width;
	}
}

size_t timeline_scale(const struct timeline *t, struct timeline_piece pieces[TIMELINE_PIECES])
{
	uint64_t total = MAX(t->total_ms, 1u);
	uint64_t end = t->to_ms && t->to_ms < total ? t->to_ms : total;
	uint64_t from = MIN(t->from_ms, end - 1), at = from;
	uint64_t least = MAX(total * FOLD_PERCENT / 100, 1u);
	struct stretch *busy = mem_alloc((t->span_count + 1) * sizeof(*busy));
	size_t n = 0, count = 0;

	for (size_t i = 0; i < t->span_count; i++) {
		const struct node_span *s = &t->spans[i];
		struct stretch x = { MAX(s->start_ms, from), MIN(s->start_ms + s->ms + 1, end) };

		if (x.end > x.start)
			busy[n++] = x;
	}
	busy[n++] = (struct stretch){ end, end };
	qsort(busy, n, sizeof(*busy), by_start);
	uint64_t begun = from;
	for (size_t i = 0; i < n; i++) {
		/* Room for the last pieces is kept. */
		if (!t->real && busy[i].start > at && busy[i].start - at > least &&
			count + 4 < TIMELINE_PIECES) {
			add_piece(t, pieces, &count, (struct stretch){ begun, at }, false);
			add_piece(t, pieces, &count, (struct stretch){ at, busy[i].start }, true);
			begun = busy[i].start;
		}
		at = MAX(at, busy[i].end);
	}
	add_piece(t, pieces, &count, (struct stretch){ begun, end }, false);
	free(busy);
	place(pieces, count);
	return count;
}

double timeline_x(const struct timeline_piece *pieces, size_t count, uint64_t ms)
{
	for (size_t i = 0; i < count; i++) {
		const struct timeline_piece *p = &pieces[i];

		if (ms < p->start_ms)
			return p->x;
		if (ms <= p->end_ms)
			return p->x + p->width * (double)(ms - p->start_ms) /
					      (double)(p->end_ms - p->start_ms);
	}
	return WIDTH;
}

/* -- the critical path ---------------------------------------------------------------------------
 */

/* What ended last, then what ended last before that began, and so on. */
static void find_critical(struct drawing *d)
{
	const struct timeline *t = d->t;
	uint64_t limit = UINT64_MAX;
	VEC(const struct node_span *) found = { 0 };

	while (found.len < t->row_count) {
		const struct node_span *best = NULL;

		for (size_t i = 0; i < t->row_count; i++)
			for (size_t k = 0; k < t->rows[i].view.span_count; k++) {
				const struct node_span *s = &t->rows[i].view.spans[k];
				uint64_t end = s->start_ms + s->ms;

				if (end <= limit && (found.len == 0 || s->start_ms < limit) &&
					(!best || end > best->start_ms + best->ms))
					best = s;
			}
		if (!best)
			break;
		vec_push(&found, best);
		limit = best->start_ms;
	}
	d->critical = found.at;
	d->critical_count = found.len;
}

static bool is_critical(const struct drawing *d, const struct node_span *s)
{
	for (size_t i = 0; i < d->critical_count; i++)
		if (d->critical[i] == s)
			return true;
	return false;
}

/* -- rows ----------------------------------------------------------------------------------------
 */

static double x_of(const struct drawing *d, uint64_t ms)
{
	return timeline_x(d->pieces, d->count, ms) * 100 / WIDTH;
}

static void put_span(struct drawing *d, const struct node_span *s)
{
	double from = x_of(d, s->start_ms), to = x_of(d, s->start_ms + s->ms);
	const char *mark = is_critical(d, s) ? " cp" : "";

	/* Three pixels at least, on a page of any width. */
	if (to - from < 1.5)
		buf_printf(d->b,
			"<rect class=\"s-%s%s\" x=\"%.2f%%\" y=\"3\" width=\"3\" height=\"12\"/>",
			shown_state_word(s->state), mark, from);
	if (to - from >= 0.3)
		buf_printf(d->b,
			"<rect class=\"s-%s%s\" x=\"%.2f%%\" y=\"3\" width=\"%.2f%%\" "
			"height=\"12\"/>",
			shown_state_word(s->state), mark, from, to - from);
}

/* A thin line over all that is in it. */
static void put_bracket(struct drawing *d, const struct node_view *v)
{
	double from = x_of(d, v->first_ms), to = x_of(d, v->first_ms + v->ms);

	buf_printf(d->b, "<rect class=\"br\" x=\"%.2f%%\" y=\"8\" width=\"%.2f%%\" height=\"2\"/>",
		from, MAX(to - from, 0.2));
}

static void put_folds(struct drawing *d)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->pieces[i].folded)
			buf_printf(d->b,
				"<rect class=\"fold\" x=\"%.2f%%\" width=\"%.2f%%\" "
				"height=\"18\"/>",
				d->pieces[i].x * 100 / WIDTH, d->pieces[i].width * 100 / WIDTH);
	if (d->t->live)
		buf_printf(d->b, "<line class=\"now\" x1=\"%.2f%%\" x2=\"%.2f%%\" y2=\"18\"/>",
			x_of(d, d->t->total_ms), x_of(d, d->t->total_ms));
}

static bool in_part(const struct drawing *d, const struct node_span *s)
{
	const struct timeline *t = d->t;

	return s->start_ms + s->ms >= t->from_ms && (!t->to_ms || s->start_ms <= t->to_ms);
}

static void put_row(struct drawing *d, const struct tree_item *item)
{
	const struct node_view *v = &item->view;
	struct buf *b = d->b;

	buf_adds(b, "<li data-p=\"");
	html_attr(b, v->path);
	buf_printf(b, "\" data-s=\"%s\" class=\"d%u\"><a href=\"", shown_state_word(v->state),
		MIN(item->depth, 6u));
	tree_node_url(b, d->t->links.run, v->path);
	buf_adds(b, "\">");
	if (v->label.len)
		html_cut(b, v->label, 40);
	else if (!v->group && v->text.len)
		html_cut(b, v->text, 40);
	else
		buf_adds(b, v->kind);
	buf_adds(b, "</a><svg aria-hidden=\"true\">");
	put_folds(d);
	if (v->group && v->timed)
		put_bracket(d, v);
	for (size_t i = 0; i < v->span_count; i++)
		if (in_part(d, &v->spans[i]))
			put_span(d, &v->spans[i]);
	buf_printf(b, "</svg><span class=\"w\">%s</span><span class=\"t\">",
		shown_state_word(v->state));
	if (v->timed && v->reached) {
		human_number(b, v->ms);
		buf_adds(b, " ms");
	}
	buf_adds(b, "</span></li>");
}

/* -- the axis ------------------------------------------------------------------------------------
 */

static void put_tick(struct drawing *d, uint64_t ms)
{
	double x = x_of(d, ms);

	buf_printf(d->b,
		"<line class=\"tick\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"14\" y2=\"20\"/>"
		"<text x=\"%.2f%%\" y=\"11\"%s>",
		x, x, x, x > 94 ? " text-anchor=\"end\"" : "");
	human_tick(d->b, ms);
	buf_adds(d->b, "</text>");
}

static void put_axis(struct drawing *d)
{
	uint64_t open = 0;
	double last = -100;

	for (size_t i = 0; i < d->count; i++)
		open += d->pieces[i].folded ? 0 : d->pieces[i].end_ms - d->pieces[i].start_ms;
	uint64_t step = human_step(open, TICKS);
	buf_adds(d->b, "<div class=\"axis\" aria-hidden=\"true\"><svg>");
	for (size_t i = 0; i < d->count; i++) {
		const struct timeline_piece *p = &d->pieces[i];
		uint64_t at = (p->start_ms + step - 1) / step * step;

		if (p->folded)
			continue;
		/* The beginning of each burst, then round numbers. */
		if (p->x * 100 / WIDTH - last > 9) {
			put_tick(d, p->start_ms);
			last = p->x * 100 / WIDTH;
		}
		for (; at <= p->end_ms; at += step) {
			double x = x_of(d, at);

			if (x - last < 9 || x > 97)
				continue;
			put_tick(d, at);
			last = x;
		}
	}
	buf_adds(d->b, "</svg></div>");
}

/* -- what was folded, and links ------------------------------------------------------------------
 */

static void put_part_link(struct drawing *d, const char *more, const char *words)
{
	buf_adds(d->b, "<a href=\"?");
	html_attr(d->b, d->t->links.query);
	buf_printf(d->b, "%s\">%s</a>", more, words);
}

static void put_legend(struct drawing *d)
{
	struct buf *b = d->b;
	AUTO_BUF part = BUF_INIT;
	size_t folded = 0;

	buf_adds(b, "<p class=\"legend\">");
	for (size_t i = 0; i < d->count; i++) {
		const struct timeline_piece *p = &d->pieces[i];

		if (!p->folded) {
			if (d->count < 2)
				continue;
			buf_reset(&part);
			buf_printf(
				&part, "from=%" PRIu64 "&amp;to=%" PRIu64, p->start_ms, p->end_ms);
			put_part_link(d, buf_cstr(&part), "zoom");
			buf_addc(b, ' ');
			clock_duration(b, p->end_ms - p->start_ms);
			buf_adds(b, " · ");
			continue;
		}
		folded++;
		buf_adds(b, "<span class=\"folded\">⋯ ");
		clock_duration(b, p->end_ms - p->start_ms);
		buf_printf(b, ", %s</span> · ", p->why ? p->why : "nothing ran");
	}
	if (d->t->from_ms || d->t->to_ms) {
		put_part_link(d, "", "whole run");
		buf_adds(b, " · ");
	}
	if (folded)
		put_part_link(d, "fold=0", "show real time");
	else if (d->t->real)
		put_part_link(d, "", "fold idle time");
	if (folded || d->t->real)
		buf_adds(b, " · ");
	if (d->t->no_groups)
		put_part_link(d, "", "with groups");
	else
		put_part_link(d, "groups=0", "without groups");
	buf_adds(b, " · <span class=\"cpk\">outlined</span>: the critical path</p>");
}

/* -- many ----------------------------------------------------------------------------------------
 */

static int by_begin(const void *a, const void *b)
{
	const struct node_span *x = *(const struct node_span *const *)a;
	const struct node_span *y = *(const struct node_span *const *)b;

	return (x->start_ms > y->start_ms) - (x->start_ms < y->start_ms);
}

/* One path a state. Spans that follow each other in one lane within half a unit are one line. */
struct lane {
	uint64_t free_ms;
	double end;
	enum shown_state state;
};

static void put_density(struct drawing *d)
{
	const struct timeline *t = d->t;
	struct buf paths[SHOWN_STATES] = { 0 };
	struct lane lanes[LANES] = { 0 };
	const struct node_span **order = mem_alloc((t->span_count + 1) * sizeof(*order));
	size_t used = 0, n = 0;

	for (size_t i = 0; i < t->span_count; i++)
		if (in_part(d, &t->spans[i]))
			order[n++] = &t->spans[i];
	qsort(order, n, sizeof(*order), by_begin);
	for (size_t i = 0; i < n; i++) {
		const struct node_span *s = order[i];
		size_t at = 0;
		double x = x_of(d, s->start_ms) * 10, to = x_of(d, s->start_ms + s->ms) * 10;

		while (at + 1 < LANES && lanes[at].free_ms > s->start_ms)
			at++;
		lanes[at].free_ms = s->start_ms + MAX(s->ms, 1u);
		to = MAX(to, x + 1);
		if (at < used && lanes[at].state == s->state && to - lanes[at].end < 0.5)
			continue;
		used = MAX(used, at + 1);
		lanes[at].end = to;
		lanes[at].state = s->state;
		buf_printf(&paths[s->state], "M%.1f %zuh%.1f", x, at * LANE_HEIGHT + 3, to - x);
	}
	buf_printf(d->b,
		"<div class=\"dens\"><svg class=\"density\" viewBox=\"0 0 1000 %zu\" "
		"preserveAspectRatio=\"none\" "
		"height=\"%zu\" role=\"img\" aria-label=\"%zu executions over time\">",
		used * LANE_HEIGHT + 4, MIN(used * LANE_HEIGHT + 4, (size_t)240), n);
	for (size_t i = 0; i < SHOWN_STATES; i++) {
		if (paths[i].len)
			buf_printf(d->b, "<path class=\"s-%s\" d=\"%s\"/>",
				shown_state_word((enum shown_state)i), buf_cstr(&paths[i]));
		buf_done(&paths[i]);
	}
	buf_adds(d->b, "</svg></div>");
	free(order);
}

void timeline_html(struct buf *b, const struct timeline *t)
{
	struct drawing d = { .t = t, .b = b };

	d.count = timeline_scale(t, d.pieces);
	find_critical(&d);
	buf_adds(b, "<div class=\"timeline\" data-pieces=\"");
	for (size_t i = 0; i < d.count; i++)
		buf_printf(b, "%s%" PRIu64 ",%" PRIu64 ",%.1f,%.1f", i ? ";" : "",
			d.pieces[i].start_ms, d.pieces[i].end_ms, d.pieces[i].x, d.pieces[i].width);
	buf_adds(b, "\">");
	put_legend(&d);
	if (t->span_count > TIMELINE_SPANS)
		put_density(&d);
	put_axis(&d);
	buf_adds(b, "<ol class=\"rows\">");
	for (size_t i = 0; i < t->row_count; i++)
		if (!t->no_groups || !t->rows[i].view.group)
			put_row(&d, &t->rows[i]);
	buf_adds(b, "</ol></div>");
	free(d.critical);
}
