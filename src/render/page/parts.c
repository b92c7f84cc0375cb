#include <inttypes.h>

#include "base/clock.h"
#include "base/human.h"
#include "base/run-status.h"
#include "base/utf8.h"
#include "render/page/page.h"
#include "render/picture/markup.h"
#include "render/picture/model.h"

enum {
	FAILURES_SHOWN = 100,
	FAILURES_OPEN = 5, /* of so many the standard error is open */
	OPEN_BYTES = 2400,
	WHOLE_BYTES = 4090, /* a text that is longer was cut */
	OPEN_LINES = 24,    /* a longer text is folded */
	OUTPUT_LINES = 80,
	LIST_SHOWN = 200,  /* of artifacts, warnings, messages, values */
	TEXT_SHOWN = 2000, /* bytes of one command or of one value */
	TIP_SHOWN = 600,
	LEAST_PERCENT = 85, /* of its size, at which the picture's letters are still readable */
};

static size_t count_lines(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += s.p[i] == '\n';
	return n + (s.len && s.p[s.len - 1] != '\n');
}

static struct str cut(struct arena *a, struct str s, size_t max)
{
	return s.len <= max ? s : arena_printf(a, "%.*s…", STR(utf8_cut(s, max)));
}

/* Says that there are more than are listed. */
static void put_rest(struct buf *b, uint64_t all, size_t shown, const char *what)
{
	if (all <= shown)
		return;
	buf_adds(b, "<p class=\"quiet\">… ");
	human_number(b, all - shown);
	buf_printf(b, " more %s</p>\n", what);
}

/* -- the graph -----------------------------------------------------------------------------------
 */

static void put_row(struct buf *b, struct arena *a, const struct item *i)
{
	buf_adds(b, "<tr><th scope=\"row\" class=\"path\">");
	markup_text(b, i->path);
	buf_adds(b, "</th><td>");
	if (i->state.known)
		page_state(b, i->state.state,
			arena_cstr(a, i->text.marks[i->text.mark_count - 1].text));
	buf_adds(b, "</td><td class=\"lines\">");
	markup_lines(b, cut(a, i->text.what, TIP_SHOWN));
	buf_adds(b, "</td></tr>\n");
}

static void put_rows(struct buf *b, struct arena *a, const struct item *i)
{
	if (i->path.len)
		put_row(b, a, i);
	for (size_t c = 0; c < i->child_count; c++)
		put_rows(b, a, i->children[c]);
	if (i->recover)
		put_rows(b, a, i->recover);
}

/* What the picture cuts, and its tooltips show only to a mouse. */
static void put_nodes(struct buf *b, struct picture *p)
{
	unsigned count = p->commands + p->groups;

	buf_adds(b, "<details><summary>");
	if (count == 1)
		buf_adds(b, "The node as a table, with its whole text");
	else
		buf_printf(b, "All %u nodes as a table, with their whole text", count);
	buf_adds(b, "</summary>\n");
	page_scroll(b, "Nodes");
	buf_adds(b, "<table><thead><tr><th scope=\"col\">Node</th><th scope=\"col\">State</th>"
		    "<th scope=\"col\">What it is</th></tr></thead>\n<tbody>\n");
	put_rows(b, &p->arena, p->root);
	buf_adds(b, "</tbody></table>\n</div>\n</details>\n");
}

void report_graph(const struct run_report *f, struct buf *b)
{
	AUTO_BUF title = BUF_INIT;
	AUTO_BUF svg = BUF_INIT;
	struct picture p;

	page_section(b, "graph", "Graph", 0);
	if (!f->graph) {
		buf_adds(b,
			"<p class=\"quiet\">The graph of this run is not known.</p>\n</section>\n");
		return;
	}
	status_phrase(&title, f->status, f->failed, f->tolerated);
	const struct picture_options options = { .title = buf_str(&title),
		.state = f->state,
		.state_data = f->state_data,
		.mask = f->mask };
	picture_build(&p, f->graph, &options, PICTURE_ITEMS_MAX);
	svg_write(&p, &svg);
	buf_printf(b,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Picture of the "
		"graph\" style=\"--least:%dpx\">\n",
		p.width * LEAST_PERCENT / 100);
	buf_add(b, buf_str(&svg));
	buf_adds(b, "</div>\n");
	put_nodes(b, &p);
	picture_done(&p);
	buf_adds(b, "</section>\n");
}

/* -- failures ------------------------------------------------------------------------------------
 */

static void put_failure_words(struct buf *b, const struct report_failure *failure)
{
	page_state(b,
		failure->tolerated ? STATE_TOLERATED
		: failure->timeout ? STATE_TIMEOUT
				   : STATE_FAILED,
		NULL);
	buf_adds(b, " <span class=\"quiet\">");
	if (failure->tolerated && failure->timeout)
		buf_adds(b, "timeout, ");
	if (failure->signal)
		buf_printf(b, "ended by signal %d, ", failure->signal);
	buf_printf(b, "exit %d, attempt %" PRIu64 "</span>", failure->code, failure->attempt);
}

/* Without the rest of a line that was cut. */
static struct str from_line(struct str s)
{
	size_t end = str_find(s, '\n', 0);

	return end < s.len / 2 ? str_from(s, end + 1) : s;
}

static void put_failure(
	struct buf *b, struct arena *a, const struct report_failure *failure, bool open)
{
	bool whole = failure->err.len < WHOLE_BYTES;
	struct str err = whole ? failure->err : from_line(failure->err);
	size_t lines = count_lines(err);

	buf_printf(b, "<article class=\"failure%s\">\n<h3>", failure->tolerated ? " passed" : "");
	page_node(b, failure->path, failure->label);
	buf_addc(b, ' ');
	put_failure_words(b, failure);
	buf_adds(b, "</h3>\n<p><span class=\"hide\">Command: </span><code>");
	markup_text(b, cut(a, failure->command, TEXT_SHOWN));
	buf_adds(b, "</code></p>\n");
	if (!failure->err.len) {
		buf_adds(b, "<p class=\"quiet\">It wrote nothing to standard error.</p>\n");
	} else {
		buf_printf(b, "<details%s><summary>standard error, %s%zu line%s</summary>\n",
			open && lines <= OPEN_LINES && err.len <= OPEN_BYTES ? " open" : "",
			whole ? "" : "the last ", lines, lines == 1 ? "" : "s");
		page_pre(b, err, true);
		buf_adds(b, "</details>\n");
	}
	buf_adds(b, "</article>\n");
}

void report_failures(const struct run_report *f, struct buf *b)
{
	struct arena a = ARENA_INIT;
	size_t shown = MIN(f->failures.len, (size_t)FAILURES_SHOWN);

	page_section(b, "failures", "Failures", f->failures.all);
	if (!f->failures.len)
		buf_adds(b, "<p class=\"quiet\">No command failed.</p>\n");
	for (size_t i = 0; i < shown; i++)
		put_failure(b, &a, &f->failures.at[i], i < FAILURES_OPEN);
	put_rest(b, f->failures.all, shown, "failed attempts");
	buf_adds(b, "</section>\n");
	arena_done(&a);
}

/* -- output --------------------------------------------------------------------------------------
 */

static void put_excerpt(struct buf *b, const struct report_output *o)
{
	page_pre(b, o->head, true);
	if (!o->tail.len)
		return;
	buf_adds(b, "<p class=\"cut\">… ");
	human_bytes(b, o->bytes - o->head.len - o->tail.len);
	buf_adds(b, " left out …</p>\n");
	page_pre(b, o->tail, true);
}

static void put_output(struct buf *b, const struct report_output *o, bool open)
{
	if (!o->bytes)
		return;
	buf_printf(b, "<details class=\"output\"%s><summary>", open ? " open" : "");
	page_node(b, o->path, o->label);
	buf_adds(b, " <span class=\"quiet\">");
	human_bytes(b, o->bytes);
	buf_adds(b, "</span></summary>\n");
	put_excerpt(b, o);
	buf_adds(b, "</details>\n");
}

/* What the run itself printed is open, unless it is long; what each command printed is folded. */
void report_outputs(const struct run_report *f, struct buf *b)
{
	bool any = false;

	page_section(b, "output", "Output", 0);
	for (size_t i = 0; i < f->outputs.len; i++) {
		const struct report_output *o = &f->outputs.at[i];

		put_output(b, o,
			!o->path.len &&
				count_lines(o->head) + count_lines(o->tail) <= OUTPUT_LINES);
		any |= o->bytes > 0;
	}
	if (!any)
		buf_adds(b, "<p class=\"quiet\">Nothing was printed.</p>\n");
	put_rest(b, f->outputs.all, f->outputs.len, "commands");
	buf_adds(b, "</section>\n");
}

/* -- lists ---------------------------------------------------------------------------------------
 */

static void put_pairs(struct buf *b, struct arena *a, const char *id, const char *title,
	const char *second, const struct report_pair *pairs, size_t count)
{
	size_t shown = MIN(count, (size_t)LIST_SHOWN);

	if (!count)
		return;
	page_section(b, id, title, count);
	page_scroll(b, title);
	buf_printf(b,
		"<table><thead><tr><th scope=\"col\">Name</th><th scope=\"col\">%s</th></tr>"
		"</thead>\n<tbody>\n",
		second);
	for (size_t i = 0; i < shown; i++) {
		buf_adds(b, "<tr><th scope=\"row\">");
		markup_text(b, cut(a, pairs[i].name, TEXT_SHOWN));
		buf_adds(b, "</th><td><code>");
		markup_text(b, cut(a, pairs[i].value, TEXT_SHOWN));
		buf_adds(b, "</code></td></tr>\n");
	}
	buf_adds(b, "</tbody></table>\n</div>\n");
	put_rest(b, count, shown, "");
	buf_adds(b, "</section>\n");
}

static void put_warnings(struct buf *b, struct arena *a, const struct run_report *f)
{
	size_t shown = MIN(f->warnings.len, (size_t)LIST_SHOWN);

	if (!f->warnings.len)
		return;
	page_section(b, "warnings", "Warnings", f->warnings.len);
	buf_adds(b, "<ul>\n");
	for (size_t i = 0; i < shown; i++) {
		buf_adds(b, "<li>");
		markup_text(b, cut(a, f->warnings.at[i], TEXT_SHOWN));
		buf_adds(b, "</li>\n");
	}
	buf_adds(b, "</ul>\n");
	put_rest(b, f->warnings.len, shown, "warnings");
	buf_adds(b, "</section>\n");
}

static void put_messages(struct buf *b, struct arena *a, const struct run_report *f)
{
	size_t shown = MIN(f->messages.len, (size_t)LIST_SHOWN);

	if (!f->messages.len)
		return;
	page_section(b, "messages", "Messages", f->messages.all);
	page_scroll(b, "Messages");
	buf_adds(b, "<table><thead><tr><th scope=\"col\">Time</th><th scope=\"col\">Way</th>"
		    "<th scope=\"col\">Type</th><th scope=\"col\">Text</th></tr></thead>\n"
		    "<tbody>\n");
	for (size_t i = 0; i < shown; i++) {
		const struct report_message *m = &f->messages.at[i];
		const struct str cells[] = { m->time, m->direction, m->type, m->text };

		buf_adds(b, "<tr>");
		for (size_t c = 0; c < ARRAY_SIZE(cells); c++) {
			buf_adds(b, c ? "<td>" : "<td class=\"nowrap\">");
			markup_text(b, cut(a, cells[c], TEXT_SHOWN));
			buf_adds(b, "</td>");
		}
		buf_adds(b, "</tr>\n");
	}
	buf_adds(b, "</tbody></table>\n</div>\n");
	put_rest(b, f->messages.all, shown, "messages");
	if (f->command_messages)
		buf_printf(b,
			"<p class=\"quiet\">%" PRIu64
			" messages that a command has ended are left out: see the timeline.</p>\n",
			f->command_messages);
	buf_adds(b, "</section>\n");
}

void report_lists(const struct run_report *f, struct buf *b)
{
	struct arena a = ARENA_INIT;

	put_pairs(b, &a, "artifacts", "Artifacts", "Path", f->artifacts.at, f->artifacts.len);
	put_warnings(b, &a, f);
	put_messages(b, &a, f);
	put_pairs(b, &a, "values", "Values", "Value", f->values.at, f->values.len);
	arena_done(&a);
}
