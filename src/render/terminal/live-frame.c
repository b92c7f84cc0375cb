#include "render/terminal/live-frame.h"

#include <inttypes.h>

#include "base/utf8.h"
#include "base/width.h"

enum {
	SPIN_MS = 100,
	NARROW_COLUMNS = 40, /* below, counts are written with signs */
	CAPTION_COLUMNS = 4, /* numbers leave a caption at least that */
	OUTPUT_COLUMNS = 8,  /* with less room, a command's output is not worth its place */
};

enum sign { SIGN_RUNNING, SIGN_GROUP, SIGN_AGAIN, SIGN_DONE, SIGN_FAILED, SIGN_CUT, SIGN_DOT };

static const char *const signs[][2] = {
	[SIGN_RUNNING] = { "●", "*" },
	[SIGN_GROUP] = { "▾", "-" },
	[SIGN_AGAIN] = { "↻", "~" },
	[SIGN_DONE] = { "✓", "+" },
	[SIGN_FAILED] = { "✗", "x" },
	[SIGN_CUT] = { "…", "..." },
	[SIGN_DOT] = { "·", "-" },
};

static const char *const spinner[][2] = {
	{ "⠋", "|" },
	{ "⠙", "/" },
	{ "⠸", "-" },
	{ "⠴", "\\" },
	{ "⠦", "|" },
	{ "⠇", "/" },
	{ "⠏", "-" },
	{ "⠛", "\\" },
};

/* Select Graphic Rendition. */
#define DIM "2"
#define RED "31"
#define YELLOW "33"
#define CYAN "36"

/* A row in the making. */
struct pen {
	struct buf *b;
	struct live_style style;
	unsigned left; /* columns */
	uint64_t now;
	struct str on; /* what queued commands wait for */
};

static const char *sign(const struct pen *p, enum sign s)
{
	return signs[s][p->style.ascii];
}

static void put_ascii(struct buf *b, struct str s)
{
	uint32_t c;

	for (size_t i = 0; i < s.len;) {
		i += utf8_decode(s, i, &c);
		if (c < 0x80)
			buf_addc(b, (char)c);
		else
			buf_fill(b, '?', width_of(c));
	}
}

/* As much of it as fits. */
static void put(struct pen *p, const char *sgr, struct str s)
{
	unsigned used;
	struct str fits = width_cut(s, p->left, &used);
	bool coloured = p->style.colour && sgr && fits.len;

	if (coloured)
		buf_printf(p->b, "\033[%sm", sgr);
	if (p->style.ascii)
		put_ascii(p->b, fits);
	else
		buf_add(p->b, fits);
	if (coloured)
		buf_adds(p->b, "\033[m");
	p->left -= used;
}

static void putf(struct pen *p, const char *sgr, const char *fmt, ...) PRINTF(3, 4);

static void putf(struct pen *p, const char *sgr, const char *fmt, ...)
{
	AUTO_BUF text = BUF_INIT;
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&text, fmt, args);
	va_end(args);
	put(p, sgr, buf_str(&text));
}

/* At most `columns` of it, with an ellipsis where it is cut. */
static void put_cut(struct pen *p, const char *sgr, struct str s, unsigned columns)
{
	struct str cut = str_of(sign(p, SIGN_CUT));
	unsigned cut_columns = (unsigned)width_text(cut);

	columns = MIN(columns, p->left);
	if (width_cut(s, columns, NULL).len == s.len) {
		put(p, sgr, s);
	} else if (columns > cut_columns) {
		AUTO_BUF text = BUF_INIT;

		buf_add(&text, width_cut(s, columns - cut_columns, NULL));
		buf_add(&text, cut);
		put(p, sgr, buf_str(&text));
	} else {
		put(p, sgr, width_cut(s, columns, NULL));
	}
}

static void add_elapsed(struct buf *b, const struct pen *p, uint64_t since_ms)
{
	uint64_t s = p->now > since_ms ? (p->now - since_ms) / 1000 : 0;

	if (s >= 3600)
		buf_printf(
			b, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60, s % 60);
	else
		buf_printf(b, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
}

/* Whether `after` and two spaces fit behind a caption; *ret is what they leave for it. */
static bool fits_after(const struct pen *p, struct str after, unsigned *ret)
{
	size_t need = width_text(after) + 2;

	if (!after.len || need + CAPTION_COLUMNS > p->left)
		return false;
	*ret = p->left - (unsigned)need;
	return true;
}

/* How long it still rests: rounded up, so that it ends with a second and not with nothing. */
static void add_pause(struct buf *b, const struct pen *p, const struct live_row *r)
{
	uint64_t s = (r->until_ms - p->now + 999) / 1000;

	buf_printf(b, "%s %" PRIu64 ":%02" PRIu64, r->attempt > 1 ? "again in" : "waits", s / 60,
		s % 60);
}

static void draw_command(struct pen *p, const struct live_row *r)
{
	struct str last = r->state == LIVE_RUNNING ? last_line_text(&r->last) : S("");
	AUTO_BUF facts = BUF_INIT;
	unsigned caption = p->left;

	if (r->state == LIVE_RUNNING)
		add_elapsed(&facts, p, r->started_ms);
	else if (r->state == LIVE_QUEUED)
		buf_printf(&facts, "waits for %.*s", STR(p->on));
	else if (r->until_ms > p->now)
		add_pause(&facts, p, r);
	if (r->attempt > 1 && p->left < NARROW_COLUMNS)
		buf_printf(&facts, "%s#%" PRIu64, facts.len ? " " : "", r->attempt);
	else if (r->attempt > 1)
		buf_printf(&facts, "%sattempt %" PRIu64, facts.len ? "  " : "", r->attempt);
	bool tell = fits_after(p, buf_str(&facts), &caption);
	if (last.len && caption >= 3 * OUTPUT_COLUMNS)
		caption -= (unsigned)MIN(width_text(last) + 2, caption / 2);
	put_cut(p, NULL, buf_str(&r->caption), caption);
	if (tell)
		putf(p, r->attempt > 1 ? YELLOW : DIM, "  %s", buf_cstr(&facts));
	if (last.len && p->left >= 2 + MIN(width_text(last), (size_t)OUTPUT_COLUMNS)) {
		put(p, NULL, S("  "));
		put_cut(p, DIM, last, p->left);
	}
}

static void draw_failed(struct pen *p, const struct live_row *r)
{
	AUTO_BUF facts = BUF_INIT;
	unsigned caption = p->left;

	if (r->timeout)
		buf_adds(&facts, "time limit");
	else if (r->signal)
		buf_printf(&facts, "signal %d", r->signal);
	else
		buf_printf(&facts, "exit %d", r->code);
	if (r->tolerated)
		buf_adds(&facts, ", tolerated");
	if (p->left >= NARROW_COLUMNS)
		buf_printf(&facts, "  [%s]", r->path);
	bool tell = fits_after(p, buf_str(&facts), &caption);
	put_cut(p, r->tolerated ? YELLOW : RED, buf_str(&r->caption), caption);
	if (tell)
		putf(p, DIM, "  %s", buf_cstr(&facts));
}

static void add_progress(struct buf *b, const struct pen *p, const struct live_row *r)
{
	bool narrow = p->left < NARROW_COLUMNS;

	if (r->count)
		buf_printf(b, "%" PRIu64 "/%" PRIu64, r->done, r->count);
	else
		buf_printf(b, "%" PRIu64, r->done);
	if (!narrow)
		buf_adds(b, " done");
	if (r->repeats && !narrow)
		text_rate(b, r->done + r->failed, p->now - MIN(r->started_ms, p->now));
	if (r->failed && narrow)
		buf_printf(b, " %s%" PRIu64, sign(p, SIGN_FAILED), r->failed);
	else if (r->failed)
		buf_printf(b, ", %" PRIu64 " failed", r->failed);
}

static void draw_group(struct pen *p, const struct live_row *r)
{
	AUTO_BUF progress = BUF_INIT;
	AUTO_BUF elapsed = BUF_INIT;
	unsigned caption = p->left;

	add_progress(&progress, p, r);
	if (fits_after(p, buf_str(&progress), &caption))
		add_elapsed(&elapsed, p, r->started_ms);
	else
		buf_reset(&progress);
	if (caption > NARROW_COLUMNS)
		caption -= (unsigned)elapsed.len + 2;
	put_cut(p, NULL, buf_str(&r->caption), caption);
	if (progress.len)
		putf(p, r->failed ? RED : NULL, "  %s", buf_cstr(&progress));
	if (elapsed.len && p->left >= elapsed.len + 2)
		putf(p, DIM, "  %s", buf_cstr(&elapsed));
	if (r->attempt > 1 && p->left > 12)
		putf(p, YELLOW, "  attempt %" PRIu64, r->attempt);
}

static void draw_row(struct pen *p, const struct live_row *r, unsigned depth)
{
	unsigned indent = MIN(depth * 2, p->left / 4);
	bool again = r->attempt > 1 || (r->state == LIVE_WAITING && !r->until_ms);

	for (unsigned i = 0; i < indent; i++)
		put(p, NULL, S(" "));
	if (r->state == LIVE_FAILED)
		put(p, r->tolerated ? YELLOW : RED, str_of(sign(p, SIGN_FAILED)));
	else if (again)
		put(p, YELLOW, str_of(sign(p, SIGN_AGAIN)));
	else if (r->state == LIVE_GROUP || r->state == LIVE_QUEUED)
		put(p, DIM, str_of(sign(p, r->state == LIVE_GROUP ? SIGN_GROUP : SIGN_DOT)));
	else
		put(p, CYAN, str_of(sign(p, SIGN_RUNNING)));
	put(p, NULL, S(" "));
	if (r->state == LIVE_GROUP)
		draw_group(p, r);
	else if (r->state == LIVE_FAILED)
		draw_failed(p, r);
	else
		draw_command(p, r);
	buf_addc(p->b, '\n');
}

static void draw_totals(struct pen *p, const struct live_tree *t)
{
	size_t spin = p->now / SPIN_MS % ARRAY_SIZE(spinner);
	AUTO_BUF elapsed = BUF_INIT;

	add_elapsed(&elapsed, p, t->started_ms);
	putf(p, CYAN, "%s ", spinner[spin][p->style.ascii]);
	if (t->stopping)
		putf(p, YELLOW, "%s %s ", t->stopping == EVENT_RUN_KILL ? "killing" : "cancelling",
			sign(p, SIGN_CUT));
	if (p->left < NARROW_COLUMNS) {
		putf(p, NULL, "%s%" PRIu64 " %s%" PRIu64, sign(p, SIGN_RUNNING), t->running,
			sign(p, SIGN_DONE), t->done);
		if (t->failed)
			putf(p, RED, " %s%" PRIu64, sign(p, SIGN_FAILED), t->failed);
		putf(p, DIM, " %s", buf_cstr(&elapsed));
		return;
	}
	putf(p, NULL, "running %" PRIu64 ", done %" PRIu64, t->running, t->done);
	if (t->failed)
		putf(p, RED, ", failed %" PRIu64, t->failed);
	putf(p, DIM, " %s %s", sign(p, SIGN_DOT), buf_cstr(&elapsed));
}

/* Marks `r` and the groups around it, as long as there is room. The first command is always
 * marked, without the outermost groups if need be. */
static void show(struct live_row *r, size_t *room, bool must)
{
	size_t need = 0;

	for (struct live_row *up = r; up->path && !up->shown; up = up->parent)
		need += !up->wrapper;
	if (need > *room && !must)
		return;
	for (struct live_row *up = r; up->path && !up->shown; up = up->parent) {
		if (!up->wrapper && !*room)
			return;
		*room -= !up->wrapper;
		up->shown = true;
	}
}

/* How many rows of a state are not drawn. */
struct hidden {
	uint64_t running, failed;
};

/* Marks as many of that state as there is room for; how many have none. */
static uint64_t show_all(struct live_tree *t, enum live_state state, size_t *room)
{
	uint64_t hidden = 0;
	bool first = state == LIVE_RUNNING;

	list_each (link, &t->order) {
		struct live_row *r = list_entry(link, struct live_row, order);

		if (r->state != state)
			continue;
		if (*room)
			show(r, room, first);
		first = false;
		hidden += !r->shown;
	}
	return hidden;
}

/* Marks the rest, queued commands or all else. */
static void show_rest(struct live_tree *t, bool queued, size_t *room)
{
	for (struct list *link = t->order.next; link != &t->order && *room; link = link->next) {
		struct live_row *r = list_entry(link, struct live_row, order);

		if ((r->state == LIVE_QUEUED) == queued)
			show(r, room, false);
	}
}

/* Decides what is drawn: what runs, what failed, the rest, and last what waits. */
static struct hidden choose(struct live_tree *t, size_t room)
{
	struct hidden hidden;

	list_each (link, &t->order)
		list_entry(link, struct live_row, order)->shown = false;
	hidden.running = show_all(t, LIVE_RUNNING, &room);
	hidden.failed = show_all(t, LIVE_FAILED, &room);
	show_rest(t, false, &room);
	show_rest(t, true, &room);
	return hidden;
}

/* How many of what waits are drawn is not worth a line: the executor's has the number. */
static size_t rows_wanted(const struct live_tree *t)
{
	size_t wanted = 0;

	list_each (link, &t->order) {
		const struct live_row *r = list_entry(link, struct live_row, order);

		wanted += !r->wrapper && r->state != LIVE_QUEUED;
	}
	return wanted;
}

/* The row after `r` in the order of the tree, or the root at the end. *depth follows. */
static struct live_row *next_row(struct live_tree *t, struct live_row *r, unsigned *depth)
{
	if (!list_empty(&r->children)) {
		*depth += r->shown && !r->wrapper;
		return list_entry(r->children.next, struct live_row, siblings);
	}
	while (r != &t->root && r->siblings.next == &r->parent->children) {
		r = r->parent;
		*depth -= r->shown && !r->wrapper;
	}
	return r == &t->root ? r : list_entry(r->siblings.next, struct live_row, siblings);
}

static void draw_fold(struct pen *p, struct hidden hidden)
{
	putf(p, DIM, "%s", sign(p, SIGN_CUT));
	if (hidden.running)
		putf(p, DIM, " %" PRIu64 " more running", hidden.running);
	if (hidden.failed)
		putf(p, RED, "%s %" PRIu64 " more failed", hidden.running ? "," : "",
			hidden.failed);
	buf_addc(p->b, '\n');
}

void live_frame(struct live_tree *t, struct live_style style, unsigned columns, unsigned rows,
	uint64_t mono_ms, struct buf *ret)
{
	struct pen p = { .b = ret, .style = style, .now = mono_ms, .on = buf_str(&t->on) };
	size_t own = 2 + (t->away.len && rows > 3); /* the totals, one that stays free, workers */
	size_t room = rows > own ? rows - own : 0;
	size_t wanted = rows_wanted(t);
	bool fold = wanted > room && room > 1;
	struct hidden hidden = choose(t, fold ? room - 1 : room);
	unsigned depth = 0;

	if (rows < 2 || columns < 2)
		return;
	for (struct live_row *r = next_row(t, &t->root, &depth); r != &t->root;
		r = next_row(t, r, &depth)) {
		p.left = columns - 1;
		if (r->shown && !r->wrapper)
			draw_row(&p, r, depth);
	}
	p.left = columns - 1;
	if (fold)
		draw_fold(&p, hidden);
	if (own > 2) {
		p.left = columns - 1;
		put_cut(&p, DIM, buf_str(&t->away), p.left);
		buf_addc(p.b, '\n');
	}
	p.left = columns - 1;
	draw_totals(&p, t);
}
