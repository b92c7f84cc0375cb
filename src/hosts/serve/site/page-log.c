/* A window into a log of any size. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/logs.h"
#include "base/file.h"
#include "base/human.h"
#include "hosts/serve/site/find.h"
#include "hosts/serve/site/site.h"
#include "render/web/ansi.h"

enum { BLOCK_LINES = 500, HITS_SHOWN = 50 };

struct log_page {
	struct page p;
	struct run_model *m;
	struct log_at at;
	struct str id, find;
	struct log_slice slice;
	bool asked_at; /* a place was asked for */
	bool wrap;
};

/* -- blocks --------------------------------------------------------------------------------------
 */

struct blocks {
	struct buf *b;
	struct ansi_style style;
	size_t lines;
	uint64_t number; /* of the first line, from 1; 0: not known */
};

static void block_end(struct blocks *k)
{
	size_t in = k->lines % BLOCK_LINES ? k->lines % BLOCK_LINES : BLOCK_LINES;

	if (!k->lines)
		return;
	buf_adds(k->b, "</pre>");
	if (k->number) {
		buf_adds(k->b, "<pre class=\"gut\" aria-hidden=\"true\">");
		for (size_t i = k->lines - in; i < k->lines; i++)
			buf_printf(k->b, "%" PRIu64 "\n", k->number + i);
		buf_adds(k->b, "</pre>");
	}
	buf_adds(k->b, "</div>");
}

static void add_line(void *data, const struct log_line *line)
{
	struct blocks *k = data;

	if (k->lines % BLOCK_LINES == 0) {
		block_end(k);
		buf_printf(k->b, "<div class=\"blk\" data-at=\"%" PRIu64 "\"><pre class=\"txt\">",
			line->offset);
	}
	k->lines++;
	ansi_html(k->b, &k->style, line->text);
	if (line->cut)
		buf_printf(k->b,
			"<a class=\"cutmark\" href=\"?at=%" PRIu64 "\">⋯ the line continues</a>",
			line->offset + line->text.len);
	buf_addc(k->b, '\n');
}

/* -- links ---------------------------------------------------------------------------------------
 */

/* This page at another place. */
static void put_query(struct log_page *l, const char *more, bool find)
{
	struct buf *b = &l->p.b;

	run_url(b, l->id, "/log?");
	if (l->at.node.len) {
		buf_adds(b, "path=");
		html_url(b, l->at.node);
		buf_adds(b, "&amp;");
	}
	buf_printf(b, "stream=%s", l->at.name);
	if (l->at.attempt)
		buf_printf(b, "&amp;attempt=%" PRIu64, l->at.attempt);
	if (l->wrap)
		buf_adds(b, "&amp;wrap=1");
	if (find && l->find.len) {
		buf_adds(b, "&amp;find=");
		html_url(b, l->find);
	}
	buf_adds(b, more);
}

static void put_link(struct log_page *l, const char *more, const char *words, const char *rest)
{
	buf_adds(&l->p.b, "<a href=\"");
	put_query(l, more, true);
	buf_printf(&l->p.b, "\"%s>%s</a> ", rest, words);
}

static void put_streams(struct log_page *l)
{
	static const struct {
		const char *name, *words;
	} of_node[] = { { "out", "Standard output" }, { "err", "Standard error" } },
	  of_run[] = { { "run-out", "Standard output" }, { "run-err", "Standard error" } };
	struct log_page other = *l;

	buf_adds(&l->p.b, "<nav class=\"tabs\" aria-label=\"Stream\">");
	for (size_t i = 0; i < 2; i++) {
		other.at.name = l->at.node.len ? of_node[i].name : of_run[i].name;
		other.find = S("");
		other.p = l->p;
		put_link(&other, "", of_run[i].words,
			strcmp(other.at.name, l->at.name) == 0 ? " aria-current=\"page\"" : "");
		l->p = other.p;
	}
	buf_adds(&l->p.b, "</nav>");
}

static void put_tools(struct log_page *l)
{
	struct buf *b = &l->p.b;

	buf_adds(b, "<form class=\"tools\" role=\"search\" action=\"");
	run_url(b, l->id, "/log");
	buf_adds(b, "\">");
	if (l->at.node.len)
		page_hidden(&l->p, "path", l->at.node);
	page_hidden(&l->p, "stream", str_of(l->at.name));
	if (l->wrap)
		page_hidden(&l->p, "wrap", S("1"));
	buf_adds(b, "<label for=\"find\">Search this log</label> <input id=\"find\" name=\"find\" "
		    "type=\"search\" value=\"");
	html_attr(b, l->find);
	buf_adds(b, "\"><button>Search</button> ");
	put_link(l, "&amp;at=0", "Beginning", "");
	put_link(l, "&amp;tail=1", "End", " id=\"end\"");
	l->wrap = !l->wrap;
	put_link(l, "", l->wrap ? "Wrap" : "Do not wrap", " id=\"wrap\"");
	l->wrap = !l->wrap;
	buf_adds(b, "<a href=\"");
	run_url(b, l->id, "/log/raw?");
	if (l->at.node.len) {
		buf_adds(b, "path=");
		html_url(b, l->at.node);
		buf_adds(b, "&amp;");
	}
	buf_printf(b,
		"stream=%s\" download>Download</a> <span class=\"quiet\">(the download is not "
		"masked)</span></form>",
		l->at.name);
}

/* -- the window ----------------------------------------------------------------------------------
 */

static void note_first(void *data, const struct log_line *line)
{
	(void)line;
	(*(size_t *)data)++;
}

/* Where the window begins, and the number of its first line. False: the request waits. */
static bool find_number(struct log_page *l, uint64_t *ret)
{
	struct log_found found = { 0 };
	size_t count = 0;

	*ret = 0;
	return l->wrap ||
	       run_log_lines(run_model_run(l->m), &l->slice, note_first, &count, &found) != 0 ||
	       aside_number(l->p.q, l->m, &l->at, found.offset, ret);
}

static void put_window(struct log_page *l, uint64_t number)
{
	struct buf *b = &l->p.b;
	struct log_found found = { 0 };
	struct mask *mask;
	AUTO_REPORT why = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;
	struct blocks k = { .b = &text, .number = number };

	if (!run_mask(run_model_run(l->m), &mask, &why)) {
		buf_adds(b,
			"<p class=\"box\">The secrets of this run are not all known here, so that "
			"they could not be masked, and its output is not shown: ");
		html_text(b, why.issues.at[0].message);
		buf_adds(b, ".</p>");
		return;
	}
	l->slice.mask = mask;
	int e = run_log_lines(run_model_run(l->m), &l->slice, add_line, &k, &found);
	block_end(&k);
	mask_free(mask);
	if (found.offset) {
		AUTO_BUF more = BUF_INIT;

		buf_printf(&more, "&amp;at=%" PRIu64 "&amp;back=1", found.offset);
		buf_adds(b, "<p class=\"pages\">");
		put_link(l, buf_cstr(&more), "↑ Load earlier", " id=\"earlier\" rel=\"prev\"");
		buf_adds(b, "</p>");
	}
	buf_printf(b,
		"<div id=\"log\" class=\"logbox%s\" role=\"log\" aria-live=\"off\" "
		"aria-label=\"Log\" "
		"tabindex=\"0\" dir=\"ltr\" data-from=\"%" PRIu64 "\" data-to=\"%" PRIu64
		"\" data-size=\"%" PRIu64 "\" data-stream=\"%s\">",
		l->wrap ? " wrap" : "", found.offset, found.next, found.size, l->at.name);
	buf_add(b, buf_str(&text));
	if (!k.lines)
		buf_adds(b,
			e == -ENOENT
				? "<p class=\"quiet\">There is no such output: the command has not "
				  "begun, or its output was not kept.</p>"
			: e < 0 ? "<p class=\"quiet\">This output cannot be read.</p>"
				: "<p class=\"quiet\">Nothing was printed here.</p>");
	buf_adds(b, "</div><p class=\"pages\">");
	if (found.next < found.size) {
		AUTO_BUF more = BUF_INIT;

		buf_printf(&more, "&amp;at=%" PRIu64, found.next);
		put_link(l, buf_cstr(&more), "↓ Load later", " id=\"later\" rel=\"next\"");
	}
	buf_adds(b, "<span id=\"logpos\">bytes ");
	human_number(b, found.offset);
	buf_adds(b, " to ");
	human_number(b, found.next);
	buf_adds(b, " of ");
	human_number(b, found.size);
	buf_adds(b, "</span> <button type=\"button\" id=\"follow\" hidden>Follow</button></p>");
}

/* -- the page ------------------------------------------------------------------------------------
 */

static void put_hits(struct log_page *l, const struct finding *f)
{
	struct buf *b = &l->p.b;

	buf_adds(b, "<section class=\"box hits\" aria-label=\"Hits\"><p>");
	buf_printf(b, "%zu%s hit%s for <q>", f->hits.len, f->next ? " or more" : "",
		f->hits.len == 1 ? "" : "s");
	html_text(b, l->find);
	buf_adds(b, "</q>");
	if (f->next) {
		AUTO_BUF more = BUF_INIT;

		buf_printf(&more, "&amp;find_from=%" PRIu64, f->next);
		buf_adds(b, " · ");
		put_link(l, buf_cstr(&more), "search further", "");
	}
	buf_adds(b, "</p><ol>");
	vec_each (hit, &f->hits) {
		buf_adds(b, "<li><a class=\"hit\" href=\"");
		AUTO_BUF more = BUF_INIT;
		buf_printf(&more, "&amp;at=%" PRIu64, hit->offset);
		put_query(l, buf_cstr(&more), true);
		buf_printf(b, "\">@%" PRIu64 "</a> <code>", hit->offset);
		html_text(b, hit->before);
		buf_adds(b, "<mark>");
		html_text(b, hit->match);
		buf_adds(b, "</mark>");
		html_text(b, hit->after);
		buf_adds(b, "</code></li>");
	}
	buf_adds(b, "</ol></section>");
}

static void reply(struct log_page *l, const struct finding *f)
{
	AUTO_BUF run = BUF_INIT;
	AUTO_BUF log = BUF_INIT;
	AUTO_BUF title = BUF_INIT;
	bool follows = l->slice.kind == SLICE_TAIL && !l->find.len;
	uint64_t number;

	if (!find_number(l, &number))
		return;
	buf_printf(&run, "run:%.*s", STR(l->id));
	buf_printf(&log, "log:%.*s:%.*s:%s:END", STR(l->id),
		STR(l->at.node.len ? l->at.node : S("root")), l->at.name);
	buf_printf(&title, "Log of %.*s", STR(l->id));
	const struct str topics[] = { buf_str(&run), buf_str(&log) };
	page_begin(&l->p, l->p.q,
		&(struct page_head){ .title = buf_str(&title),
			.nav = NAV_RUNS,
			.topics = topics,
			.topic_count = follows || run_model_live(l->m) ? 2 : 1 });
	buf_adds(&l->p.b, "<p class=\"crumbs\">");
	page_run_link(&l->p, l->id);
	if (l->at.node.len) {
		buf_adds(&l->p.b, " › <a href=\"");
		tree_node_url(&l->p.b, l->id, l->at.node);
		buf_adds(&l->p.b, "\">");
		html_text(&l->p.b, l->at.node);
		buf_adds(&l->p.b, "</a>");
	}
	buf_adds(&l->p.b, "</p><h1>Log</h1>");
	put_streams(l);
	put_tools(l);
	if (f)
		put_hits(l, f);
	put_window(l, number);
	page_end(&l->p, 200);
}

static bool read_page(struct http_request *q, struct log_page *l)
{
	struct str text;
	uint64_t at = 0;
	const struct past_node *n;
	struct node_view v = { 0 };

	*l = (struct log_page){ .p = { .q = q, .site = site_of(q) }, .id = http_param(q, "id") };
	if (!ask_log(q, &l->at) || !ask_number(q, "at", &at))
		return false;
	l->m = ask_run(q);
	if (!l->m)
		return false;
	(void)http_query(q, "find", &l->find);
	l->wrap = http_query(q, "wrap", &text) && str_eq(text, S("1"));
	l->asked_at = http_query(q, "at", &text);
	l->slice = (struct log_slice){ .stream = l->at.stream,
		.node = l->at.node,
		.attempt = l->at.attempt,
		.at = at,
		.kind = SLICE_FROM };
	n = l->at.node.len ? run_model_find(l->m, l->at.node) : run_model_root(l->m);
	if (n)
		run_model_view(l->m, n, &v);
	if (http_query(q, "back", &text))
		l->slice.kind = SLICE_BACK;
	else if (http_query(q, "tail", &text) ||
		 (!l->asked_at && (run_model_live(l->m) || shown_state_bad(v.state))))
		l->slice.kind = SLICE_TAIL;
	return true;
}

/* The search has taken its time: the run is looked at again. */
static void found(struct finding *f)
{
	struct log_page l;

	if (!read_page(f->q, &l))
		return;
	if (!l.asked_at && f->hits.len) {
		l.slice.kind = SLICE_FROM;
		l.slice.at = f->hits.at[0].offset;
	}
	reply(&l, f);
}

void page_log(struct http_request *q)
{
	struct log_page l;
	uint64_t from = 0;

	if (!read_page(q, &l) || !ask_number(q, "find_from", &from))
		return;
	if (!l.find.len || finding_start(q, l.m, &l.at, l.find, from, HITS_SHOWN, found, NULL) < 0)
		reply(&l, NULL);
}

/* -- the bytes -----------------------------------------------------------------------------------
 */

void rest_output(struct http_request *q)
{
	struct log_at at;
	struct run_model *m;
	struct stat st;
	AUTO_BUF state = BUF_INIT;
	AUTO_BUF name = BUF_INIT;

	if (!ask_log(q, &at) || !(m = ask_run(q)))
		return;
	AUTO_CLOSE int fd = run_log_open(run_model_run(m), at.node, at.attempt, at.stream);
	if (fd < 0 || fstat(fd, &st) < 0) {
		http_refuse(q, 404, "no such output", NULL, "there is no such output");
		return;
	}
	buf_printf(&state, "%.*s-%" PRIu64 "-%" PRIu64 ".%09ld", STR(run_model_generation(m)),
		(uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	if (http_unchanged(q, buf_str(&state)))
		return;
	buf_printf(&name, "%.*s", STR(http_param(q, "id")));
	if (at.node.len)
		buf_printf(&name, "-%.*s", STR(at.node));
	buf_printf(&name, ".%s.txt", at.name);
	http_reply_file(q,
		&(struct http_content){ .type = "text/plain; charset=utf-8",
			.name = buf_str(&name),
			.untrusted = true },
		take_fd(&fd), (uint64_t)st.st_size);
}

void page_log_raw(struct http_request *q)
{
	rest_output(q);
}

/* -- lines and hits ------------------------------------------------------------------------------
 */

struct json_lines {
	struct buf *b;
	struct ansi_style style;
	bool more;
};

static void json_line(void *data, const struct log_line *line)
{
	struct json_lines *j = data;

	buf_printf(j->b, "%s[%" PRIu64 ",", j->more ? "," : "", line->offset);
	ansi_json(j->b, &j->style, line->text);
	buf_addc(j->b, ']');
	j->more = true;
}

void rest_lines(struct http_request *q)
{
	struct log_at at;
	struct run_model *m;
	struct log_slice s = { .kind = SLICE_FROM };
	struct log_found found = { 0 };
	uint64_t limit = SLICE_LINES;
	struct mask *mask;
	struct str text;
	AUTO_BUF lines = BUF_INIT;
	AUTO_BUF b = BUF_INIT;
	struct json_lines j = { .b = &lines };

	if (!ask_log(q, &at) || !ask_number(q, "at", &s.at) || !ask_number(q, "limit", &limit) ||
		!(m = ask_run(q)))
		return;
	if (!site_mask(m, &mask)) {
		ask_refuse_unmasked(q);
		return;
	}
	s.stream = at.stream;
	s.node = at.node;
	s.attempt = at.attempt;
	s.lines = MIN((size_t)limit, (size_t)SLICE_LINES);
	s.mask = mask;
	if (http_query(q, "back", &text))
		s.kind = http_query(q, "at", &text) ? SLICE_BACK : SLICE_TAIL;
	int e = run_log_lines(run_model_run(m), &s, json_line, &j, &found);
	mask_free(mask);
	if (e < 0 && e != -ENOENT) {
		http_refuse(q, 404, "no such output", NULL, "this output cannot be read");
		return;
	}
	AUTO_BUF state = BUF_INIT;
	uint64_t number;
	if (!aside_number(q, m, &at, found.offset, &number))
		return;
	buf_printf(&state, "lines-%" PRIu64 "-%" PRIu64, found.size, number);
	if (ask_run_unchanged(q, m, buf_str(&state)))
		return;
	buf_printf(&b,
		"{\"from\":%" PRIu64 ",\"to\":%" PRIu64 ",\"size\":%" PRIu64
		",\"live\":%s,\"first_line\":",
		found.offset, found.next, found.size, run_model_live(m) ? "true" : "false");
	if (number && e == 0)
		buf_printf(&b, "%" PRIu64, number);
	else
		buf_adds(&b, "null");
	buf_adds(&b, ",\"lines\":[");
	buf_add(&b, buf_str(&lines));
	buf_adds(&b, "]}\n");
	http_reply_json(q, 200, &b);
}

/* Of each hit a block is read for its number: of so many that the loop does not notice. */
enum { NUMBERED = 100 };

static void add_number(struct buf *b, struct finding *f, size_t hit, int fd)
{
	uint64_t number = fd < 0 || hit >= NUMBERED ? 0
						    : aside_number_known(site_of(f->q)->aside, fd,
							      f->hits.at[hit].offset);

	if (number)
		buf_printf(b, "%" PRIu64, number);
	else
		buf_adds(b, "null");
}

static void found_api(struct finding *f)
{
	AUTO_BUF b = BUF_INIT;
	struct log_at at;
	struct run_model *m = ask_log(f->q, &at) ? ask_run(f->q) : NULL;

	if (!m)
		return;
	AUTO_CLOSE int fd = run_log_open(run_model_run(m), at.node, at.attempt, at.stream);
	buf_adds(&b, "{\"hits\":[");
	vec_each (hit, &f->hits) {
		buf_printf(&b, "%s{\"offset\":%" PRIu64 ",\"line\":", hit == f->hits.at ? "" : ",",
			hit->offset);
		add_number(&b, f, (size_t)(hit - f->hits.at), fd);
		buf_adds(&b, ",\"before\":");
		json_write_str(&b, hit->before);
		buf_adds(&b, ",\"match\":");
		json_write_str(&b, hit->match);
		buf_adds(&b, ",\"after\":");
		json_write_str(&b, hit->after);
		buf_addc(&b, '}');
	}
	buf_printf(&b, "],\"scanned\":%" PRIu64 ",\"next\":", f->scanned);
	if (f->next)
		buf_printf(&b, "%" PRIu64 "}\n", f->next);
	else
		buf_adds(&b, "null}\n");
	http_reply_json(f->q, 200, &b);
}

void rest_find(struct http_request *q)
{
	struct log_at at;
	struct run_model *m;
	uint64_t from = 0, limit = 100;
	struct str text = S("");

	if (!ask_log(q, &at) || !ask_number(q, "from", &from) || !ask_number(q, "limit", &limit))
		return;
	if (!http_query(q, "text", &text)) {
		http_refuse(q, 400, NULL, NULL, "text is missing: what is looked for");
		return;
	}
	m = ask_run(q);
	if (m && finding_start(q, m, &at, text, from,
			 MIN(MAX((size_t)limit, (size_t)1), (size_t)1000), found_api, NULL) < 0)
		http_refuse(q, 404, "no such output", NULL, "there is no such output");
}
