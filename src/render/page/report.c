#include "render/page/report.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/run-status.h"
#include "render/page/page.h"
#include "render/picture/markup.h"

/* The run's status in the words that nodes have, for its colour. */
static enum shown_state look_of(const struct run_report *f)
{
	enum shown_state kind = STATE_UNREACHED;

	(void)shown_state_read(f->status, &kind);
	return kind == STATE_DONE && (f->failed || f->tolerated) ? STATE_TOLERATED : kind;
}

/* What became of it: "done, 2 failed". */
static void add_state(struct buf *b, const struct run_report *f)
{
	status_phrase(b, f->status.len ? f->status : S("unknown"), f->failed, f->tolerated);
}

static void put_fact(struct buf *b, const char *name, struct str value, bool wide)
{
	if (!value.len)
		return;
	buf_printf(b, "<div%s><dt>%s</dt><dd>", wide ? " class=\"wide\"" : "", name);
	markup_text(b, value);
	buf_adds(b, "</dd></div>\n");
}

/* "2026-11-15T18:42:10.123Z" → "2026-11-15 18:42:10 UTC"; anything else as it is. */
static void put_time(struct buf *b, const char *name, struct str time)
{
	if (!time.len)
		return;
	buf_printf(b, "<div><dt>%s</dt><dd><time datetime=\"", name);
	markup_text(b, time);
	buf_adds(b, "\">");
	if (time.len == 24 && time.p[10] == 'T' && time.p[23] == 'Z') {
		markup_text(b, str_sub(time, 0, 10));
		buf_addc(b, ' ');
		markup_text(b, str_sub(time, 11, 8));
		buf_adds(b, " UTC");
	} else {
		markup_text(b, time);
	}
	buf_adds(b, "</time></dd></div>\n");
}

static void put_duration(struct buf *b, const struct run_report *f)
{
	if (!f->timed)
		return;
	buf_printf(b, "<div><dt>%s</dt><dd>", f->live ? "Running for" : "Duration");
	clock_duration(b, f->ms);
	buf_adds(b, "</dd></div>\n");
}

/* How the commands ended, each copy counted. */
static void put_commands(struct buf *b, const struct run_report *f)
{
	struct picture_state sum = { 0 };

	for (size_t i = 0; i < f->leaves.len; i++) {
		const struct report_leaf *l = &f->leaves.at[i];

		sum.counts[l->spans[l->span_count - 1].state]++;
	}
	if (!f->leaves.len)
		return;
	buf_adds(b, "<div><dt>Commands</dt><dd>");
	picture_state_words(&sum, b);
	if (f->leaves.all > f->leaves.len)
		buf_printf(b, " and %" PRIu64 " more", f->leaves.all - f->leaves.len);
	buf_adds(b, "</dd></div>\n");
}

static void put_facts(struct buf *b, const struct run_report *f)
{
	AUTO_BUF code = BUF_INIT;

	if (f->exited)
		buf_printf(&code, "%d", f->exit);
	buf_adds(b, "<dl class=\"facts\">\n");
	put_fact(b, "Recipe", f->recipe, false);
	put_time(b, "Started", f->started);
	put_time(b, "Ended", f->ended);
	put_duration(b, f);
	put_fact(b, "Exit status", buf_str(&code), false);
	put_commands(b, f);
	put_fact(b, "Owner", f->owner, false);
	put_fact(b, "Working directory", f->cwd, true);
	put_fact(b, "Command line", f->command, true);
	buf_adds(b, "</dl>\n");
}

static void put_navigation(struct buf *b, const struct run_report *f)
{
	const struct {
		const char *id, *title;
		bool there;
	} parts[] = {
		{ "failures", "Failures", true },
		{ "graph", "Graph", true },
		{ "timeline", "Timeline", true },
		{ "output", "Output", true },
		{ "artifacts", "Artifacts", f->artifacts.len },
		{ "warnings", "Warnings", f->warnings.len },
		{ "messages", "Messages", f->messages.len },
		{ "values", "Values", f->values.len },
	};

	buf_adds(b, "<nav aria-label=\"Parts of this page\"><ul>\n");
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].there)
			buf_printf(b, "<li><a href=\"#%s\">%s</a></li>\n", parts[i].id,
				parts[i].title);
	buf_adds(b, "</ul></nav>\n");
}

static void put_header(struct buf *b, const struct run_report *f)
{
	AUTO_BUF status = BUF_INIT;

	add_state(&status, f);
	buf_adds(b, "<header>\n<h1>");
	markup_text(b, f->run);
	buf_addc(b, ' ');
	page_state(b, look_of(f), buf_cstr(&status));
	buf_adds(b, "</h1>\n");
	if (f->error.len) {
		buf_adds(b, "<p class=\"error\">");
		markup_text(b, f->error);
		buf_adds(b, "</p>\n");
	}
	put_facts(b, f);
	put_navigation(b, f);
	buf_adds(b, "</header>\n");
}

void report_html(const struct run_report *f, struct buf *b)
{
	buf_adds(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
		    /* Nothing is fetched and nothing runs, whatever a label holds. */
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
		    "<meta name=\"color-scheme\" content=\"light dark\">\n"
		    "<meta name=\"generator\" content=\"roux " ROUX_VERSION "\">\n<title>");
	markup_text(b, f->run);
	if (f->status.len) {
		AUTO_BUF state = BUF_INIT;

		add_state(&state, f);
		buf_adds(b, " · ");
		markup_text(b, buf_str(&state));
	}
	buf_adds(b, "</title>\n");
	report_style(b);
	buf_adds(b, "</head>\n<body>\n");
	put_header(b, f);
	buf_adds(b, "<main>\n");
	report_failures(f, b);
	report_graph(f, b);
	report_timeline(f, b);
	report_outputs(f, b);
	report_lists(f, b);
	buf_adds(b, "</main>\n<footer>Made by roux " ROUX_VERSION ".</footer>\n</body>\n</html>\n");
}
