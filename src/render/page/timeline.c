#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "render/page/page.h"
#include "render/picture/markup.h"

enum {
	LANES_MAX = 120,  /* with more commands … */
	LANES_SHOWN = 60, /* … only these have a lane of their own */
	NODE_SPANS = 500, /* in the lane of a node */
	TICKS = 6,
	TIP_BYTES = 400,
	BUCKETS = 150,
	LOAD_FROM = 9,        /* so many commands make "how many at once" worth a curve */
	NUMBERED_PERCENT = 3, /* a bar with room for the number of its attempt */
};

struct timeline {
	const struct run_report *facts;
	struct buf *b;
	uint64_t total_ms; /* never 0 */
	uint64_t tick_ms;
};

/* -- the axis ------------------------------------------------------------------------------------
 */

static double percent(const struct timeline *t, uint64_t ms)
{
	return (double)MIN(ms, t->total_ms) * 100 / (double)t->total_ms;
}

static void put_axis(const struct timeline *t)
{
	struct buf *b = t->b;

	buf_adds(b, "<div class=\"axis\">");
	/* A label needs some room before the end. */
	for (uint64_t at = 0; !at || at * 3 + t->tick_ms <= t->total_ms * 3; at += t->tick_ms) {
		buf_printf(b, "<span style=\"left:%.3f%%\">", percent(t, at));
		human_tick(b, at);
		buf_adds(b, "</span>");
	}
	buf_adds(b, "</div>");
}

/* -- how many at once ----------------------------------------------------------------------------
 */

/* A command begins or ends. */
struct edge {
	uint64_t ms;
	int change;
};

/* At the same moment ends come first: a sequence is never two at once. */
static int by_moment(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->ms != y->ms ? (x->ms > y->ms) - (x->ms < y->ms) : x->change - y->change;
}

/* The most that ran at once in each part of the time. */
static void count_load(const struct timeline *t, uint32_t load[BUCKETS])
{
	VEC(struct edge) edges = { 0 };
	uint32_t running = 0;

	for (size_t i = 0; i < t->facts->leaves.len; i++) {
		const struct report_leaf *l = &t->facts->leaves.at[i];

		for (size_t k = 0; k < l->span_count; k++) {
			const struct report_span *s = &l->spans[k];

			vec_push(&edges, (struct edge){ s->start_ms, 1 });
			vec_push(&edges, (struct edge){ s->start_ms + MAX(s->ms, 1u), -1 });
		}
	}
	qsort(edges.at, edges.len, sizeof(*edges.at), by_moment);
	vec_each (e, &edges) {
		size_t from = (size_t)(percent(t, e->ms) * BUCKETS / 100);
		uint64_t until = e + 1 < edges.at + edges.len ? e[1].ms : e->ms;
		size_t to = (size_t)(percent(t, until) * BUCKETS / 100);

		running += (uint32_t)e->change;
		for (size_t at = from; at <= to && at < BUCKETS; at++)
			load[at] = MAX(load[at], running);
	}
	vec_done(&edges);
}

static void put_load(const struct timeline *t)
{
	uint32_t load[BUCKETS] = { 0 };
	uint32_t most = 1;
	struct buf *b = t->b;

	if (t->facts->leaves.len < LOAD_FROM)
		return;
	count_load(t, load);
	for (size_t i = 0; i < BUCKETS; i++)
		most = MAX(most, load[i]);
	buf_printf(b,
		"<tr><th scope=\"row\" class=\"name\">running at once</th><td class=\"bars\">"
		"<svg class=\"load\" viewBox=\"0 0 %d 100\" preserveAspectRatio=\"none\" "
		"aria-hidden=\"true\"><path d=\"M0 100",
		BUCKETS);
	for (size_t i = 0; i < BUCKETS; i++)
		buf_printf(b, "V%uH%zu", 98 - load[i] * 94 / most, i + 1);
	buf_printf(b,
		"V100Z\"/></svg></td><td class=\"number\"></td><td class=\"number\"></td>"
		"<td>up to %" PRIu32 "</td></tr>\n",
		most);
}

/* -- lanes ---------------------------------------------------------------------------------------
 */

static void put_span(const struct timeline *t, const struct report_leaf *l, size_t k)
{
	const struct report_span *s = &l->spans[k];
	const char *word = shown_state_word(s->state);
	double width = percent(t, s->start_ms + s->ms) - percent(t, s->start_ms);
	/* The last ones are kept when there were too many. */
	uint64_t number = k < l->span_count / 2 || l->executions <= l->span_count
				  ? k + 1
				  : l->executions - (l->span_count - 1 - k);
	AUTO_BUF words = BUF_INIT;
	struct buf *b = t->b;

	buf_printf(&words, "%sattempt %" PRIu64 ": %s", k ? ", " : "", number, word);
	if (s->signal)
		buf_printf(&words, " by signal %d", s->signal);
	else if (s->code)
		buf_printf(&words, " with exit %d", s->code);
	buf_adds(&words, " after ");
	clock_duration(&words, s->ms);
	buf_printf(b, "<span class=\"span %s\" style=\"left:%.3f%%;width:%.3f%%\" title=\"%s\">",
		word, MIN(percent(t, s->start_ms), 99.6), width, buf_cstr(&words) + (k ? 2 : 0));
	if (l->executions > 1 && width >= NUMBERED_PERCENT)
		buf_printf(b, "<b aria-hidden=\"true\">%" PRIu64 "</b>", number);
	buf_printf(b, "<span class=\"hide\">%s</span></span>", buf_cstr(&words));
}

static void put_time(struct buf *b, uint64_t ms)
{
	buf_adds(b, "<td class=\"number\">");
	clock_duration(b, ms);
	buf_adds(b, "</td>");
}

static void put_lane(const struct timeline *t, const struct report_leaf *l)
{
	const struct report_span *last = &l->spans[l->span_count - 1];
	AUTO_BUF words = BUF_INIT;
	struct buf *b = t->b;

	buf_adds(b, "<tr><th scope=\"row\" class=\"name\" title=\"");
	markup_text(b, utf8_cut(l->command.len ? l->command : l->label, TIP_BYTES));
	buf_adds(b, "\">");
	page_node(b, l->path, utf8_cut(l->label.len ? l->label : l->command, TIP_BYTES));
	buf_printf(b, "</th><td class=\"bars\"><div class=\"lane\">");
	for (size_t k = 0; k < l->span_count; k++)
		put_span(t, l, k);
	buf_adds(b, "</div></td>");
	put_time(b, l->spans[0].start_ms);
	put_time(b, last->start_ms + last->ms - l->spans[0].start_ms);
	buf_adds(b, "<td>");
	buf_adds(&words, shown_state_word(last->state));
	if (last->code && last->state != STATE_TIMEOUT)
		buf_printf(&words, " %d", last->code);
	page_state(b, last->state, buf_cstr(&words));
	if (l->executions > 1)
		buf_printf(b, " <span class=\"quiet\">×%" PRIu64 "</span>", l->executions);
	buf_adds(b, "</td></tr>\n");
}

/* -- leaving out ---------------------------------------------------------------------------------
 */

struct ranked {
	size_t index;
	unsigned rank;
	uint64_t ms;
};

static unsigned rank_of(const struct report_leaf *l)
{
	return shown_state_rank(l->spans[l->span_count - 1].state);
}

/* Failures and what needs attention first, then what took longest. */
static int by_interest(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	if (x->ms != y->ms)
		return x->ms < y->ms ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Marks the lanes that are shown; NULL: all are. */
static bool *choose(const struct run_report *f)
{
	size_t n = f->leaves.len;

	if (n <= LANES_MAX)
		return NULL;
	struct ranked *ranked = mem_zero(n * sizeof(*ranked));
	bool *shown = mem_zero(n * sizeof(*shown));
	for (size_t i = 0; i < n; i++) {
		const struct report_leaf *l = &f->leaves.at[i];

		ranked[i] = (struct ranked){ i, rank_of(l), 0 };
		for (size_t k = 0; k < l->span_count; k++)
			ranked[i].ms += l->spans[k].ms;
	}
	qsort(ranked, n, sizeof(*ranked), by_interest);
	for (size_t i = 0; i < LANES_SHOWN; i++)
		shown[ranked[i].index] = true;
	free(ranked);
	return shown;
}

/* One lane for all that have none. */
static void put_rest(const struct timeline *t, const bool *shown)
{
	const struct run_report *f = t->facts;
	uint64_t first = UINT64_MAX, last = 0;
	struct picture_state sum = { 0 };
	struct buf *b = t->b;

	for (size_t i = 0; i < f->leaves.len; i++) {
		const struct report_leaf *l = &f->leaves.at[i];
		const struct report_span *end = &l->spans[l->span_count - 1];

		if (shown[i])
			continue;
		first = MIN(first, l->spans[0].start_ms);
		last = MAX(last, end->start_ms + end->ms);
		sum.counts[end->state]++;
	}
	buf_adds(b, "<tr class=\"more\"><th scope=\"row\" class=\"name\">… ");
	human_number(b, picture_state_total(&sum));
	buf_printf(b,
		" more commands</th><td class=\"bars\"><div class=\"lane\"><span class=\"span %s\" "
		"style=\"left:%.3f%%;width:%.3f%%\"></span></div></td>",
		shown_state_word(picture_state_worst(&sum)), percent(t, first),
		percent(t, last) - percent(t, first));
	put_time(b, first);
	put_time(b, last - first);
	buf_adds(b, "<td>");
	picture_state_words(&sum, b);
	buf_adds(b, "</td></tr>\n");
}

/* -- nodes ---------------------------------------------------------------------------------------
 */

struct node_lane {
	struct str host;
	uint64_t commands, ms, first_ms;
	size_t drawn;
};

struct node_lanes {
	VEC(struct node_lane) each;
};

static struct node_lane *node_lane(struct node_lanes *all, struct str host)
{
	vec_each (lane, &all->each)
		if (str_eq(lane->host, host))
			return lane;
	vec_push(&all->each, (struct node_lane){ .host = host, .first_ms = UINT64_MAX });
	return &all->each.at[all->each.len - 1];
}

static void find_nodes(const struct run_report *f, struct node_lanes *all)
{
	for (size_t i = 0; i < f->leaves.len; i++)
		for (size_t k = 0; k < f->leaves.at[i].span_count; k++) {
			const struct report_span *s = &f->leaves.at[i].spans[k];

			if (!s->host.len)
				continue;
			struct node_lane *lane = node_lane(all, s->host);
			lane->commands++;
			lane->ms += s->ms;
			lane->first_ms = MIN(lane->first_ms, s->start_ms);
		}
}

/* What a command waited for its node is hatched. */
static void put_node_span(
	const struct timeline *t, const struct report_leaf *l, const struct report_span *s)
{
	double start = MIN(percent(t, s->start_ms), 99.6);
	double before = percent(t, s->start_ms - MIN(s->queued_ms, s->start_ms));
	struct buf *b = t->b;

	if (start > before)
		buf_printf(b,
			"<span class=\"span queued\" style=\"left:%.3f%%;width:%.3f%%\"></span>",
			before, start - before);
	buf_printf(b, "<span class=\"span %s\" style=\"left:%.3f%%;width:%.3f%%\" title=\"",
		shown_state_word(s->state), start,
		percent(t, s->start_ms + s->ms) - percent(t, s->start_ms));
	markup_text(b, utf8_cut(l->label.len ? l->label : l->command, TIP_BYTES));
	buf_adds(b, "\"></span>");
}

static void put_node(const struct timeline *t, struct node_lane *lane)
{
	const struct run_report *f = t->facts;
	struct buf *b = t->b;

	buf_adds(b, "<tr><th scope=\"row\" class=\"name\">");
	markup_text(b, utf8_cut(lane->host, TIP_BYTES));
	buf_adds(b, "</th><td class=\"bars\"><div class=\"lane\">");
	for (size_t i = 0; i < f->leaves.len && lane->drawn < NODE_SPANS; i++)
		for (size_t k = 0; k < f->leaves.at[i].span_count; k++) {
			const struct report_span *s = &f->leaves.at[i].spans[k];

			if (!str_eq(s->host, lane->host) || lane->drawn == NODE_SPANS)
				continue;
			lane->drawn++;
			put_node_span(t, &f->leaves.at[i], s);
		}
	buf_adds(b, "</div></td>");
	put_time(b, lane->first_ms);
	put_time(b, lane->ms);
	buf_adds(b, "<td>");
	human_number(b, lane->commands);
	buf_printf(b, " command%s", lane->commands == 1 ? "" : "s");
	if (lane->drawn < lane->commands)
		buf_printf(b, ", %zu drawn", lane->drawn);
	buf_adds(b, "</td></tr>\n");
}

static void put_table(const struct timeline *t, const char *what)
{
	buf_printf(t->b,
		"<table class=\"gantt\" style=\"--tick:%.4f%%\">\n<thead><tr><th scope=\"col\" "
		"class=\"name\">%s</th><th scope=\"col\" class=\"bars\">"
		"<span class=\"hide\">When</span>",
		(double)t->tick_ms * 100 / (double)t->total_ms, what);
	put_axis(t);
	buf_adds(t->b, "</th><th scope=\"col\" class=\"time number\">Start</th><th scope=\"col\" "
		       "class=\"time number\">Time</th><th scope=\"col\" class=\"how\">State</th>"
		       "</tr></thead>\n<tbody>\n");
}

/* One lane for each node of a batch system. */
static void put_nodes(const struct timeline *t)
{
	struct node_lanes all = { 0 };

	find_nodes(t->facts, &all);
	if (all.each.len) {
		page_section(t->b, "nodes", "Nodes", all.each.len);
		page_scroll(t->b, "Nodes");
		put_table(t, "Node");
		for (size_t i = 0; i < MIN(all.each.len, (size_t)LANES_MAX); i++)
			put_node(t, &all.each.at[i]);
		buf_adds(t->b, "</tbody></table>\n</div>\n");
		if (all.each.len > LANES_MAX)
			buf_printf(t->b, "<p class=\"quiet\">%zu more node%s not shown.</p>\n",
				all.each.len - LANES_MAX,
				all.each.len - LANES_MAX == 1 ? " is" : "s are");
		buf_adds(t->b, "</section>\n");
	}
	vec_done(&all.each);
}

static void put_notes(const struct run_report *f, struct buf *b, bool folded)
{
	if (folded)
		buf_printf(b,
			"<p class=\"quiet\">%d of %zu commands have a lane of their own: those "
			"that "
			"failed or were tried again, then those that took longest.</p>\n",
			LANES_SHOWN, f->leaves.len);
	if (f->leaves.all > f->leaves.len)
		buf_printf(b,
			"<p class=\"quiet\">%" PRIu64
			" more commands were executed and are not shown.</p>\n",
			f->leaves.all - f->leaves.len);
}

void report_timeline(const struct run_report *f, struct buf *b)
{
	struct timeline t = { .facts = f, .b = b, .total_ms = MAX(f->timed ? f->ms : 0, 1u) };
	bool *shown = choose(f);

	page_section(b, "timeline", "Timeline", f->leaves.all);
	if (!f->leaves.len) {
		buf_adds(b, "<p class=\"quiet\">No command was started.</p>\n</section>\n");
		free(shown);
		return;
	}
	for (size_t i = 0; i < f->leaves.len; i++) {
		const struct report_leaf *l = &f->leaves.at[i];
		const struct report_span *s = &l->spans[l->span_count - 1];

		t.total_ms = MAX(t.total_ms, s->start_ms + s->ms);
	}
	t.tick_ms = human_step(t.total_ms, TICKS);
	put_notes(f, b, shown);
	page_scroll(b, "Timeline");
	put_table(&t, "Command");
	put_load(&t);
	for (size_t i = 0; i < f->leaves.len; i++)
		if (!shown || shown[i])
			put_lane(&t, &f->leaves.at[i]);
	if (shown)
		put_rest(&t, shown);
	buf_adds(b, "</tbody></table>\n</div>\n</section>\n");
	put_nodes(&t);
	free(shown);
}
