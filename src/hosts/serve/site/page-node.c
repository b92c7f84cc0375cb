/* One node of a run. */
#include <inttypes.h>

#include "app/logs.h"
#include "base/clock.h"
#include "base/human.h"
#include "hosts/serve/site/site.h"

enum { NODE_LINES = 60 };

struct output {
	struct buf text;
};

static void add_line(void *data, const struct log_line *line)
{
	struct output *o = data;

	buf_add(&o->text, line->text);
	if (line->ended)
		buf_addc(&o->text, '\n');
}

static void put_stream(struct page *p, struct run_model *m, struct str path, unsigned stream)
{
	struct output o = { 0 };
	struct log_found found = { 0 };
	struct mask *mask;
	bool known = site_mask(m, &mask);
	struct buf *b = &p->b;

	if (known)
		(void)run_log_lines(run_model_run(m),
			&(struct log_slice){ .stream = stream,
				.node = path,
				.kind = SLICE_TAIL,
				.lines = NODE_LINES,
				.mask = mask },
			add_line, &o, &found);
	buf_printf(b, "<h2>%s</h2>", stream == LOG_STDERR ? "Standard error" : "Standard output");
	if (o.text.len) {
		buf_adds(b, "<pre class=\"log\" tabindex=\"0\" dir=\"ltr\">");
		page_output(b, buf_str(&o.text));
		buf_adds(b, "</pre>");
	} else {
		buf_adds(b,
			known ? "<p class=\"quiet\">Nothing was printed.</p>"
			      : "<p class=\"quiet\">Not shown: a secret of this run is not known "
				"here.</p>");
	}
	buf_adds(b, "<p class=\"links\"><a href=\"");
	run_url(b, http_param(p->q, "id"), "/log?path=");
	html_url(b, path);
	buf_printf(b, "&amp;stream=%s\">Whole log (", stream == LOG_STDERR ? "err" : "out");
	human_bytes(b, found.size);
	buf_adds(b, ")</a></p>");
	buf_done(&o.text);
	mask_free(mask);
}

struct used {
	VEC(struct node_usage) at; /* of each attempt, from the first */
};

static void note_usage(void *data, uint64_t attempt, const struct node_usage *used)
{
	struct used *u = data;

	while (u->at.len < attempt && u->at.len < 1000)
		vec_push(&u->at, (struct node_usage){ 0 });
	if (attempt && attempt <= u->at.len)
		u->at.at[attempt - 1] = *used;
}

static void put_usage(struct buf *b, const struct used *u, uint64_t attempt)
{
	buf_adds(b, "<td>");
	if (attempt > u->at.len || !u->at.at[attempt - 1].memory_kib)
		return;
	page_duration(b, u->at.at[attempt - 1].user_us / 1000);
	buf_adds(b, " + ");
	page_duration(b, u->at.at[attempt - 1].system_us / 1000);
	buf_adds(b, ", ");
	human_bytes(b, u->at.at[attempt - 1].memory_kib * 1024);
}

static void put_attempts(struct page *p, struct run_model *m, const struct node_view *v)
{
	struct buf *b = &p->b;
	uint64_t first = v->attempts - v->span_count;
	struct used used = { 0 };

	buf_adds(b,
		"<h2>Attempts</h2><div class=\"scroll\" role=\"region\" aria-label=\"Attempts\" "
		"tabindex=\"0\"><table><thead><tr><th>No.<th>State<th>Began<th>Took<th>End"
		"<th>Used (processor in programs + in the kernel, memory)</tr></thead><tbody>");
	run_model_usage(m, v->path, note_usage, &used);
	for (size_t i = 0; i < v->span_count; i++) {
		const struct node_span *s = &v->spans[i];

		buf_printf(b, "<tr><td>%" PRIu64 "<td>", first + i + 1);
		state_html(b, s->state);
		buf_adds(b, "<td>");
		html_time(b, run_model_began_ms(m) + s->start_ms);
		buf_adds(b, "<td class=\"t\">");
		page_duration(b, s->ms);
		buf_adds(b, "<td>");
		if (s->signal)
			buf_printf(b, "signal %d", s->signal);
		else if (s->state != STATE_RUNNING)
			buf_printf(b, "exit %d", s->code);
		put_usage(b, &used, first + i + 1);
		buf_adds(b, "</tr>");
	}
	vec_done(&used.at);
	buf_adds(b, "</tbody></table></div>");
}

static void put_children(struct page *p, struct run_model *m, const struct past_node *n)
{
	struct selection s = { 0 };
	AUTO_BUF open = BUF_INIT;
	struct str more = S("");
	uint64_t from = 0;
	size_t count = past_node_children(n);
	struct buf *b = &p->b;

	if (!ask_number(p->q, "from", &from))
		return;
	(void)more;
	for (size_t i = MIN((size_t)from, count); i < MIN(count, (size_t)from + TREE_PAGE); i++) {
		struct tree_item item = { .depth = 0 };

		run_model_view(m, past_node_child(n, i), &item.view);
		vec_push(&s.items, item);
	}
	const struct tree_links links = { .run = http_param(p->q, "id"), .print = true };
	buf_adds(b, "<h2>In it</h2><div id=\"nodes\" data-view=\"tree\">");
	tree_html(b, s.items.at, s.items.len, &links);
	buf_adds(b, "</div><p class=\"pages\">");
	if (from)
		buf_printf(b, "<a href=\"?from=%" PRIu64 "\">← earlier</a> ",
			from - MIN(from, (uint64_t)TREE_PAGE));
	if (from + TREE_PAGE < count)
		buf_printf(b, "<a rel=\"next\" href=\"?from=%" PRIu64 "\">more →</a> ",
			from + TREE_PAGE);
	human_number(b, count);
	buf_adds(b, " in all</p>");
	select_done(&s);
}

static void put_head(
	struct page *p, struct run_model *m, const struct past_node *n, const struct node_view *v)
{
	struct buf *b = &p->b;
	const struct past_node *up = past_node_up(n);
	struct node_view above;

	buf_adds(b, "<p class=\"crumbs\">");
	page_run_link(p, http_param(p->q, "id"));
	if (up) {
		run_model_view(m, up, &above);
		buf_adds(b, " › <a href=\"");
		tree_node_url(b, http_param(p->q, "id"), above.path);
		buf_adds(b, "\">");
		html_text(b, above.label.len ? above.label : above.path);
		buf_adds(b, "</a>");
	}
	buf_adds(b, "</p><div class=\"title\"><h1>");
	html_text(b, v->label.len ? v->label : v->path);
	buf_adds(b, "</h1>");
	state_html(b, v->state);
	buf_adds(b, "</div><dl class=\"facts\"><div><dt>Path</dt><dd><code>");
	html_text(b, v->path);
	buf_printf(b,
		"</code></dd></div><div><dt>Kind</dt><dd>%s</dd></div><div><dt>Began</dt><dd>",
		v->kind);
	html_time(b, v->real_ms);
	buf_adds(b, "</dd></div><div><dt>Took</dt><dd>");
	if (v->timed)
		page_duration(b, v->ms);
	buf_adds(b, "</dd></div>");
	if (v->coded && !v->group)
		buf_printf(b, "<div><dt>End</dt><dd>%s %d</dd></div>",
			v->signal ? "signal" : "exit", v->signal ? v->signal : v->code);
	buf_adds(b, "</dl>");
}

void page_run_node(struct http_request *q)
{
	struct run_model *m = ask_run(q);
	struct str path = http_param(q, "path");
	const struct past_node *n = m ? run_model_find(m, path) : NULL;
	AUTO_BUF topic = BUF_INIT;
	AUTO_BUF run = BUF_INIT;
	struct node_view v;
	struct page p;

	if (!m)
		return;
	if (!n) {
		http_refuse(q, 404, "no such node", "the page of the run lists its nodes",
			"the run has no node '%.*s'", STR(path));
		return;
	}
	if (ask_run_unchanged(q, m, S("node")))
		return;
	uint64_t from = 0;
	if (!ask_number(q, "from", &from))
		return;
	run_model_view(m, n, &v);
	buf_printf(&run, "run:%.*s", STR(http_param(q, "id")));
	buf_printf(&topic, "nodes:%.*s:%.*s:%" PRIu64, STR(http_param(q, "id")), STR(path), from);
	const struct str topics[] = { buf_str(&run), buf_str(&topic) };
	page_begin(&p, q,
		&(struct page_head){ .title = v.label.len ? v.label : v.path,
			.nav = NAV_RUNS,
			.state = v.state,
			.stated = true,
			.topics = topics,
			.topic_count = 2 });
	put_head(&p, m, n, &v);
	if (v.group) {
		put_children(&p, m, n);
	} else {
		AUTO_JSON *argv = run_model_argv(m, v.path);
		AUTO_JSON *status = run_status_document(run_model_run(m));

		buf_adds(&p.b, "<h2>Command</h2><p>");
		if (argv)
			page_argv(&p, argv);
		else {
			buf_adds(&p.b, "<code class=\"cmd\">");
			html_text(&p.b, v.text);
			buf_adds(&p.b, "</code>");
		}
		buf_adds(&p.b, "</p><p>in <code>");
		html_text(&p.b, json_text_of(status, "cwd"));
		buf_adds(&p.b, "</code></p>");
		if (v.span_count)
			put_attempts(&p, m, &v);
		put_stream(&p, m, v.path, LOG_STDERR);
		put_stream(&p, m, v.path, LOG_STDOUT);
	}
	if (page_may(q, HTTP_RUN) && !run_model_live(m)) {
		buf_adds(&p.b, "<p class=\"buttons\"><a class=\"button\" href=\"");
		run_url(&p.b, http_param(q, "id"), "/again?from=");
		html_url(&p.b, v.path);
		buf_adds(&p.b, "\">Again from here…</a> <a class=\"button\" href=\"");
		run_url(&p.b, http_param(q, "id"), "/again?only=");
		html_url(&p.b, v.path);
		buf_adds(&p.b, "\">Only this again…</a></p>");
	}
	page_end(&p, 200);
}
