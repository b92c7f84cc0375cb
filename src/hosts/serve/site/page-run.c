/* The page of a run: what it asks, what failed, how far it is, and what it printed. */
#include <inttypes.h>

#include "app/logs.h"
#include "base/clock.h"
#include "base/run-status.h"
#include "hosts/serve/site/site.h"
#include "render/web/run-timeline.h"

enum { FAILURES_SHOWN = 20, FAILURE_LINES = 40, OUTPUT_LINES = 40, TOPICS_MAX = 7 };

enum view { VIEW_TREE, VIEW_TIMELINE, VIEW_TABLE };
static const char *const view_names[] = { "tree", "timeline", "table" };

struct run_page {
	struct page p;
	struct run_model *m;
	struct str id;
	json_t *status; /* owned */
	enum shown_state state;
	enum view view;
	struct mask *mask;
	bool mask_known;
};

/* -- the header ----------------------------------------------------------------------------------
 */

static void put_button(struct run_page *r, const char *rest, const char *words, const char *class)
{
	buf_printf(&r->p.b, "<a class=\"button %s\" href=\"", class);
	run_url(&r->p.b, r->id, rest);
	buf_printf(&r->p.b, "\">%s</a> ", words);
}

static void put_buttons(struct run_page *r)
{
	bool run = page_may(r->p.q, HTTP_RUN), answer = page_may(r->p.q, HTTP_ANSWER);
	struct str word = run_status_word(ask_handle(r->m));

	buf_adds(&r->p.b, "<p class=\"buttons\">");
	if (answer && status_rests(word, STATUS_AT_GATE))
		put_button(r, "/gate", "Answer", "primary");
	if (run && run_model_live(r->m)) {
		put_button(r, "/stop", "Stop…", "");
		put_button(r, "/message", "Message…", "");
		buf_adds(&r->p.b, "<button type=\"button\" id=\"notify\" hidden>Tell me when it "
				  "ends</button> ");
	}
	if (run && (status_rests(word, STATUS_BROKEN) || status_rests(word, STATUS_CUT_SHORT)))
		put_button(r, "/again?do=resume", "Continue…", "primary");
	if (run && !run_model_live(r->m)) {
		put_button(r, "/again", "Again…", "");
		put_button(r, "/archive", "Archive…", "");
	}
	buf_adds(&r->p.b, "</p>");
}

static void put_fact(struct buf *b, const char *name)
{
	buf_printf(b, "<div><dt>%s</dt><dd>", name);
}

static void put_facts(struct run_page *r)
{
	struct buf *b = &r->p.b;
	struct str recipe = json_text_of(r->status, "recipe"),
		   of = json_text_of(r->status, "rerun_of");

	buf_adds(b, "<dl class=\"facts\">");
	if (recipe.len) {
		put_fact(b, "Recipe");
		buf_adds(b, "<a href=\"/recipes/");
		html_url(b, recipe);
		buf_adds(b, "\">");
		html_text(b, recipe);
		buf_adds(b, "</a></dd></div>");
	}
	put_fact(b, "Started");
	html_time(b, clock_read_rfc3339(json_text_of(r->status, "started")));
	buf_adds(b, "</dd></div>");
	put_fact(b, "Took");
	buf_printf(b, "<span id=\"took\" data-ms=\"%" PRIu64 "\">",
		(uint64_t)json_number_of(r->status, "ms"));
	page_duration(b, (uint64_t)json_number_of(r->status, "ms"));
	buf_adds(b, "</span></dd></div>");
	put_fact(b, "Directory");
	buf_adds(b, "<code>");
	html_text(b, json_text_of(r->status, "cwd"));
	buf_adds(b, "</code></dd></div>");
	if (json_text_of(r->status, "owner").len) {
		put_fact(b, "Owner");
		html_text(b, json_text_of(r->status, "owner"));
		buf_adds(b, "</dd></div>");
	}
	if (of.len) {
		put_fact(b, "Repeats");
		page_run_link(&r->p, of);
		buf_adds(b, "</dd></div>");
	}
	buf_adds(b, "</dl>");
}

static void put_header(struct run_page *r)
{
	struct buf *b = &r->p.b;

	buf_printf(b, "<div class=\"title\"><h1>");
	html_text(b, r->id);
	buf_printf(b, "</h1><span id=\"state\"><span class=\"st\" data-s=\"%s\">",
		shown_state_word(r->state));
	status_phrase(b, run_status_word(ask_handle(r->m)),
		(uint64_t)json_number_of(r->status, "failed"),
		(uint64_t)json_number_of(r->status, "tolerated"));
	buf_adds(b, "</span></span></div>");
	put_facts(r);
	put_buttons(r);
}

/* -- what needs attention ------------------------------------------------------------------------
 */

static void put_gate(struct run_page *r)
{
	const json_t *gate = json_object_get(r->status, "pending_approval");
	const json_t *answer = json_object_get(r->status, "answered");
	struct buf *b = &r->p.b;

	if (json_is_object(gate)) {
		buf_adds(b, "<section class=\"box gate\" aria-labelledby=\"gate\"><h2 "
			    "id=\"gate\">Waits for an "
			    "answer at ");
		html_text(b, json_text_of(gate, "stage"));
		buf_adds(b, "</h2>");
		page_prose(&r->p, str_trim(json_text_of(gate, "prompt")));
		buf_adds(b, "<p><a class=\"button primary\" href=\"");
		run_url(b, r->id, "/gate");
		buf_adds(b, "\">See what will run, and answer</a></p></section>");
	} else if (json_is_object(answer)) {
		buf_adds(b, "<section class=\"box\"><p>The question at <b>");
		html_text(b, json_text_of(answer, "stage"));
		buf_adds(b, "</b> was <b>");
		html_text(b, json_text_of(answer, "decision"));
		buf_adds(b, "</b>");
		if (json_text_of(answer, "by").len) {
			buf_adds(b, " by ");
			html_text(b, json_text_of(answer, "by"));
		}
		buf_adds(b, ".</p>");
		if (json_text_of(answer, "message").len)
			page_prose(&r->p, json_text_of(answer, "message"));
		buf_adds(b, "</section>");
	}
}

static void put_exited(struct run_page *r)
{
	if (r->state == STATE_EXITED)
		buf_adds(&r->p.b,
			"<section class=\"box bad\"><p>The process that looked after this run "
			"vanished: it was killed, or the machine went down. Nothing of what "
			"had ended is lost; <b>Continue</b> does the rest.</p></section>");
	const struct report *issues = run_model_issues(r->m);
	if (!issues->issues.len)
		return;
	buf_adds(&r->p.b,
		"<section class=\"box bad\" aria-label=\"Damage\"><p>Not everything of this run "
		"could be read:</p><ul>");
	vec_each (i, &issues->issues) {
		buf_adds(&r->p.b, "<li>");
		html_text(&r->p.b, i->file.len ? i->file : S(""));
		buf_adds(&r->p.b, i->file.len ? ": " : "");
		html_text(&r->p.b, i->message);
		buf_adds(&r->p.b, "</li>");
	}
	buf_adds(&r->p.b, "</ul></section>");
}

/* -- failures ------------------------------------------------------------------------------------
 */

struct tail {
	struct buf text;
};

static void add_tail(void *data, const struct log_line *line)
{
	struct tail *t = data;

	buf_add(&t->text, line->text);
	if (line->ended)
		buf_addc(&t->text, '\n');
}

/* The end of what a command printed, masked. */
static size_t put_tail(struct run_page *r, struct str node, unsigned stream, size_t lines)
{
	struct tail t = { 0 };
	struct log_found found = { 0 };
	struct buf *b = &r->p.b;

	if (!r->mask_known) {
		buf_adds(b, "<p class=\"quiet\">Not shown: the secrets of this run are not all "
			    "known here, "
			    "so that they could not be masked.</p>");
		return 1;
	}
	(void)run_log_lines(ask_handle(r->m),
		&(struct log_slice){ .stream = stream,
			.node = node,
			.kind = SLICE_TAIL,
			.lines = lines,
			.mask = r->mask },
		add_tail, &t, &found);
	size_t len = t.text.len;
	if (len) {
		buf_adds(b, "<pre class=\"log\" tabindex=\"0\" dir=\"ltr\">");
		page_output(b, buf_str(&t.text));
		buf_adds(b, "</pre>");
	}
	buf_done(&t.text);
	return len;
}

static void put_log_link(struct run_page *r, struct str path, const char *stream, const char *words)
{
	struct buf *b = &r->p.b;

	buf_adds(b, "<a href=\"");
	run_url(b, r->id, "/log?");
	if (path.len) {
		buf_adds(b, "path=");
		html_url(b, path);
		buf_adds(b, "&amp;");
	}
	buf_printf(b, "stream=%s\">%s</a>", stream, words);
}

static void put_how(struct buf *b, const json_t *f)
{
	json_int_t signal = json_number_of(f, "signal"), code = json_number_of(f, "code");

	if (json_truth_of(f, "timeout"))
		buf_adds(b, "time limit");
	else if (signal)
		buf_printf(b, "signal %" JSON_INTEGER_FORMAT, signal);
	else
		buf_printf(b, "exit %" JSON_INTEGER_FORMAT, code);
	if (json_number_of(f, "attempt") > 1)
		buf_printf(b, ", attempt %" JSON_INTEGER_FORMAT, json_number_of(f, "attempt"));
}

static void put_failure(struct run_page *r, const json_t *f)
{
	struct buf *b = &r->p.b;
	struct str path = json_text_of(f, "path"), label = json_text_of(f, "label");
	const struct past_node *node = run_model_find(r->m, path);
	struct node_view v = { 0 };
	bool tolerated = json_truth_of(f, "tolerated");

	if (node)
		run_model_view(r->m, node, &v);
	buf_printf(b, "<li class=\"failure%s\" data-s=\"%s\"><h3><a href=\"",
		tolerated ? " tolerated" : "", tolerated ? "tolerated" : "failed");
	tree_node_url(b, r->id, path);
	buf_adds(b, "\">");
	html_text(b, label.len ? label : path);
	buf_adds(b, "</a> <span class=\"how\">");
	put_how(b, f);
	buf_adds(b, "</span></h3><p><code class=\"cmd\">");
	html_cut(b, v.text.len ? v.text : json_text_of(f, "command"), 300);
	buf_adds(b, "</code></p>");
	if (!put_tail(r, path, LOG_STDERR, FAILURE_LINES)) {
		struct str kept = json_text_of(f, "stderr");

		if (kept.len && r->mask_known) {
			buf_adds(b, "<pre class=\"log\" tabindex=\"0\" dir=\"ltr\">");
			page_output(b, kept);
			buf_adds(b, "</pre>");
		} else if (!put_tail(r, path, LOG_STDOUT, FAILURE_LINES)) {
			buf_adds(b, "<p class=\"quiet\">It printed nothing.</p>");
		}
	}
	buf_adds(b, "<p class=\"links\">");
	put_log_link(r, path, "err", "Log at its end");
	if (page_may(r->p.q, HTTP_RUN) && !run_model_live(r->m)) {
		buf_adds(b, " · <a href=\"");
		run_url(b, r->id, "/again?from=");
		html_url(b, path);
		buf_adds(b, "\">Again from here</a>");
	}
	buf_adds(b, "</p></li>");
}

/* The one that ended the run comes first, those that were tolerated last. */
static void put_failure_list(struct run_page *r, bool tolerated)
{
	const json_t *list = json_object_get(r->status, "failures"), *f;
	struct str first = json_text_of(r->status, "failed_node");
	size_t i, shown = 0;

	for (int round = tolerated ? 1 : 0; round < 2; round++)
		json_array_foreach(list, i, f)
		{
			bool is_first = first.len && str_eq(json_text_of(f, "path"), first);

			if (json_truth_of(f, "tolerated") != tolerated ||
				(!tolerated && is_first == (round == 1)) || shown >= FAILURES_SHOWN)
				continue;
			put_failure(r, f);
			shown++;
		}
}

static void put_all_failures(struct run_page *r)
{
	const json_t *list = json_object_get(r->status, "failures"), *f;
	struct buf *b = &r->p.b;
	size_t i, bad = 0, tolerated = 0;

	json_array_foreach(list, i, f)
	{
		tolerated += json_truth_of(f, "tolerated");
		bad += !json_truth_of(f, "tolerated");
	}
	buf_adds(b, "<p id=\"failure-news\" class=\"banner\" hidden></p>");
	if (bad) {
		buf_adds(b, "<section aria-labelledby=\"failures\">");
		page_heading(&r->p, "failures", "Failures");
		buf_adds(b, "<ol class=\"failures\">");
		put_failure_list(r, false);
		buf_adds(b, "</ol>");
		if (bad > FAILURES_SHOWN) {
			buf_printf(b,
				"<p><a href=\"?view=table&amp;state=failed\">All %zu "
				"failures</a></p>",
				bad);
		}
		buf_adds(b, "</section>");
	}
	if (tolerated) {
		buf_printf(b,
			"<details class=\"tolerated\"><summary>%zu tolerated "
			"failure%s</summary><ol "
			"class=\"failures\">",
			tolerated, tolerated == 1 ? "" : "s");
		put_failure_list(r, true);
		buf_adds(b, "</ol></details>");
	}
}

/* -- nodes ---------------------------------------------------------------------------------------
 */

static void put_progress(struct run_page *r)
{
	struct node_view top;

	if (!run_model_root(r->m))
		return;
	run_model_view(r->m, run_model_root(r->m), &top);
	if (!top.counts)
		return;
	struct progress n = progress_of(top.counts);
	uint64_t all = MAX(n.all, (uint64_t)1), bad = n.bad * 1000 / all;
	/* What has failed stands first, so that a bar that is full does not look like success. The
	 * words beside it say the same. */
	buf_printf(&r->p.b,
		"<p class=\"progress\"><svg id=\"bar\" class=\"bar\" viewBox=\"0 0 1000 10\" "
		"preserveAspectRatio=\"none\" aria-hidden=\"true\"><rect class=\"f\" "
		"width=\"%" PRIu64 "\" height=\"10\"/><rect class=\"d\" x=\"%" PRIu64
		"\" width=\"%" PRIu64 "\" height=\"10\"/></svg> <span id=\"counts\">",
		bad, bad, n.over * 1000 / all - bad);
	tree_counts(&r->p.b, top.counts);
	buf_adds(&r->p.b, "</span></p>");
}

static void put_tabs(struct run_page *r)
{
	buf_adds(&r->p.b, "<nav class=\"tabs\" aria-label=\"View\">");
	for (size_t i = 0; i < ARRAY_SIZE(view_names); i++)
		buf_printf(&r->p.b, "<a href=\"?view=%s\"%s>%c%s</a>", view_names[i],
			i == r->view ? " aria-current=\"page\"" : "", view_names[i][0] - 32,
			view_names[i] + 1);
	buf_adds(&r->p.b, "<a href=\"");
	run_url(&r->p.b, r->id, "/log");
	buf_adds(&r->p.b, "\">Log</a><a href=\"");
	run_url(&r->p.b, r->id, "/graph.svg");
	buf_adds(&r->p.b, "\" download>Picture</a><a href=\"");
	run_url(&r->p.b, r->id, "/report.html");
	buf_adds(&r->p.b, "\" download>Report</a></nav>");
}

struct spans {
	VEC(struct node_span) at;
	VEC(struct timeline_pause) pauses;
};

static void collect_spans(struct run_model *m, const struct past_node *n, struct spans *s)
{
	struct node_view v;

	run_model_view(m, n, &v);
	for (size_t i = 0; i < v.span_count; i++)
		vec_push(&s->at, v.spans[i]);
	if (!v.span_count && !v.group && v.timed)
		vec_push(&s->pauses,
			(struct timeline_pause){ v.first_ms,
				v.state == STATE_PAUSED ? run_model_now_ms(m) : v.first_ms + v.ms,
				str_eq(str_of(v.kind), S("gate")) ? "waiting for approval"
								  : "waiting" });
	for (size_t i = 0; i < past_node_children(n); i++)
		collect_spans(m, past_node_child(n, i), s);
}

static bool is_off(struct http_request *q, const char *name)
{
	struct str text;

	return http_query(q, name, &text) && str_eq(text, S("0"));
}

static void put_timeline(struct run_page *r, const struct selection *s, struct tree_links links)
{
	struct spans spans = { 0 };
	struct timeline t = { .rows = s->items.at,
		.row_count = s->items.len,
		.total_ms = run_model_now_ms(r->m),
		.live = run_model_live(r->m),
		.real = is_off(r->p.q, "fold"),
		.no_groups = is_off(r->p.q, "groups"),
		.links = links };

	if (!ask_number(r->p.q, "from", &t.from_ms) || !ask_number(r->p.q, "to", &t.to_ms))
		return; /* checked before the page was begun */
	if (run_model_root(r->m))
		collect_spans(r->m, run_model_root(r->m), &spans);
	t.spans = spans.at.at;
	t.span_count = spans.at.len;
	t.pauses = spans.pauses.at;
	t.pause_count = spans.pauses.len;
	timeline_html(&r->p.b, &t);
	vec_done(&spans.at);
	vec_done(&spans.pauses);
}

static void put_nodes(struct run_page *r)
{
	struct selection s = { 0 };
	AUTO_BUF query = BUF_INIT;
	struct buf *b = &r->p.b;

	(void)http_query(r->p.q, "open", &s.open);
	if (r->view != VIEW_TREE)
		buf_printf(&query, "view=%s&", view_names[r->view]);
	struct tree_links links = { .run = r->id, .query = buf_str(&query), .open = s.open };
	select_nodes(r->m, &s);
	buf_printf(b, "<div id=\"nodes\" data-view=\"%s\">", view_names[r->view]);
	if (!s.items.len)
		buf_adds(b, "<p class=\"quiet\">Nothing is known of its nodes yet.</p>");
	else if (r->view == VIEW_TIMELINE)
		put_timeline(r, &s, links);
	else if (r->view == VIEW_TABLE)
		tree_table(b, s.items.at, s.items.len, &links);
	else
		tree_html(b, s.items.at, s.items.len, &links);
	buf_adds(b, "</div>");
	select_done(&s);
}

/* -- the rest ------------------------------------------------------------------------------------
 */

static void put_outputs(struct run_page *r)
{
	struct buf *b = &r->p.b;

	buf_adds(b, "<section aria-labelledby=\"output\">");
	page_heading(&r->p, "output", "Output");
	if (!put_tail(r, S(""), LOG_STDOUT, OUTPUT_LINES))
		buf_adds(b, "<p class=\"quiet\">Nothing has been printed to standard output.</p>");
	buf_adds(b, "<p class=\"links\">");
	put_log_link(r, S(""), "run-out", "Whole output");
	buf_adds(b, " · ");
	put_log_link(r, S(""), "run-err", "Standard error of its commands");
	buf_adds(b, " · <a href=\"");
	run_url(b, r->id, "/artifacts");
	buf_adds(b, "\">Artifacts</a> · <a href=\"");
	run_url(b, r->id, "/messages");
	buf_adds(b, "\">Messages</a> · <a href=\"");
	run_url(b, r->id, "/values");
	buf_adds(b, "\">Values</a></p></section>");
}

static bool read_view(struct http_request *q, enum view *ret)
{
	struct str word = S("tree");
	uint64_t number;

	(void)http_query(q, "view", &word);
	for (size_t i = 0; i < ARRAY_SIZE(view_names); i++)
		if (str_eq(word, str_of(view_names[i]))) {
			*ret = (enum view)i;
			return ask_number(q, "from", &number) && ask_number(q, "to", &number);
		}
	http_refuse(q, 400, NULL, "tree, timeline or table", "there is no view '%.*s'", STR(word));
	return false;
}

static void put_sections(struct run_page *r)
{
	put_header(r);
	put_gate(r);
	put_exited(r);
	put_all_failures(r);
	buf_adds(&r->p.b, "<section aria-labelledby=\"steps\">");
	page_heading(&r->p, "steps", "Nodes");
	put_progress(r);
	put_tabs(r);
	put_nodes(r);
	buf_adds(&r->p.b, "</section>");
	put_outputs(r);
}

/* The fragment that a script puts in place of the old one. */
static void reply_part(struct run_page *r)
{
	r->p = (struct page){ .q = r->p.q, .site = r->p.site };
	put_nodes(r);
	http_reply_page(r->p.q, 200, &r->p.b);
	buf_done(&r->p.b);
}

/* A topic for each group that is open: PATH or PATH:FROM with commas between them. */
static size_t add_open(struct run_page *r, struct str *topics, size_t count)
{
	struct arena *a = http_arena(r->p.q);
	struct str open = S("");

	(void)http_query(r->p.q, "open", &open);
	for (size_t at = 0; at < open.len && count < TOPICS_MAX;) {
		size_t end = str_find(open, ',', at);
		struct str one = str_sub(open, at, end - at);
		bool from = str_find(one, ':', 0) < one.len;

		topics[count++] = arena_printf(
			a, "nodes:%.*s:%.*s%s", STR(r->id), STR(one), from ? "" : ":0");
		at = end + 1;
	}
	return count;
}

static void reply_page(struct run_page *r)
{
	AUTO_BUF run = BUF_INIT;
	AUTO_BUF nodes = BUF_INIT;
	AUTO_BUF id = BUF_INIT;

	buf_printf(&run, "run:%.*s", STR(r->id));
	buf_printf(&nodes, "nodes:%.*s:root:0", STR(r->id));
	buf_printf(&id, "%.*s.%" PRIu64 ".0", STR(run_model_generation(r->m)), run_model_seq(r->m));
	struct str topics[TOPICS_MAX] = { buf_str(&run), buf_str(&nodes) };
	size_t topic_count = add_open(r, topics, 2);
	page_begin(&r->p, r->p.q,
		&(struct page_head){ .title = r->id,
			.nav = NAV_RUNS,
			.topics = topics,
			.topic_count = topic_count,
			.state = r->state,
			.stated = true,
			.live_id = buf_str(&id) });
	put_sections(r);
	page_end(&r->p, 200);
}

void page_run(struct http_request *q)
{
	struct run_page r = { .p = { .q = q, .site = site_of(q) } };

	if (!read_view(q, &r.view))
		return;
	r.m = ask_run(q);
	if (!r.m || ask_run_unchanged(q, r.m, S("page")))
		return;
	r.id = http_param(q, "id");
	r.status = run_status_document(ask_handle(r.m));
	r.state = shown_state_of(run_status_word(ask_handle(r.m)));
	if (r.state == STATE_DONE && json_number_of(r.status, "failed"))
		r.state = STATE_PARTIAL;
	r.mask_known = site_mask(r.m, &r.mask);
	if (page_part(q, "tree"))
		reply_part(&r);
	else
		reply_page(&r);
	mask_free(r.mask);
	json_decref(r.status);
}
