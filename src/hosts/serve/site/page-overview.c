/* What waits for a person, what runs, what failed. */
#include <inttypes.h>

#include "app/gates.h"
#include "app/logs.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/run-status.h"
#include "hosts/serve/site/aside.h"
#include "hosts/serve/site/page-runs.h"
#include "render/web/ansi.h"

enum { LIVE_SHOWN = 12, ENDED_SHOWN = 10, FAILED_SHOWN = 10, DAY_MS = 86400000 };

static bool may_have(struct dashboard *d, enum roux_status s);

struct gate_list {
	struct page *p;
	size_t count;
};

static bool add_gate(void *data, const struct gate *g)
{
	struct gate_list *l = data;
	struct buf *b = &l->p->b;

	if (!l->count++)
		buf_adds(b, "<ul class=\"cards\">");
	buf_adds(b, "<li class=\"card\" data-s=\"paused\"><p>");
	state_html(b, STATE_PAUSED);
	buf_addc(b, ' ');
	page_run_link(l->p, g->run);
	buf_adds(b, " waits at <b>");
	html_text(b, g->stage);
	buf_adds(b, "</b> since ");
	html_time(b, g->since_ms);
	if (g->timeout_ms) {
		buf_adds(b, ", until ");
		html_time(b, g->since_ms + g->timeout_ms);
	}
	buf_adds(b, "</p>");
	page_prose(l->p, str_trim(g->prompt));
	buf_adds(b, "<p><a class=\"button\" href=\"");
	run_url(b, g->run, "/gate");
	buf_adds(b, "\">See what will run, and answer</a></p></li>");
	return l->count < 50;
}

static void put_gates(struct page *p)
{
	AUTO_REPORT r = REPORT_INIT;
	struct gate_list l = { .p = p };

	buf_adds(&p->b, "<section aria-labelledby=\"waits\">");
	page_heading(p, "waits", "Waits for you");
	if (may_have(p->site, ROUX_PAUSED))
		(void)gates_each(p->site->app, NULL, add_gate, &l, &r);
	buf_adds(&p->b, l.count ? "</ul>" : "<p class=\"quiet\">Nothing waits for an answer.</p>");
	buf_adds(&p->b, "</section>");
}

/* -- live ----------------------------------------------------------------------------------------
 */

static void find_current(struct run_model *m, const struct past_node *n, struct node_view *ret)
{
	for (size_t i = 0; i < past_node_children(n); i++)
		find_current(m, past_node_child(n, i), ret);
	if (past_node_children(n))
		return;
	struct node_view v;
	run_model_view(m, n, &v);
	if (v.state == STATE_RUNNING && (!ret->path.len || v.first_ms >= ret->first_ms))
		*ret = v;
}

static void last_line(void *data, const struct log_line *line)
{
	struct buf *b = data;

	buf_reset(b);
	ansi_plain(b, line->text);
}

static void nothing(void *data)
{
	(void)data;
}

/* The name of a run that is running; the caller ends the paragraph and the card. */
static void begin_card(struct page *p, struct str id)
{
	struct buf *b = &p->b;

	buf_adds(b, "<li class=\"card\" data-run=\"");
	html_attr(b, id);
	buf_adds(b, "\" data-s=\"running\"><p>");
	state_html(b, STATE_RUNNING);
	buf_addc(b, ' ');
	page_run_link(p, id);
}

static void put_live(struct page *p, struct str id)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_model *m;
	struct buf *b = &p->b;
	struct node_view now = { 0 }, top;
	struct mask *mask = NULL;
	AUTO_BUF line = BUF_INIT;
	struct log_found found;

	if (!aside_run_known(p->site->aside, id, nothing, NULL)) {
		begin_card(p, id); /* its events are being read */
		buf_adds(b, "</p></li>");
		return;
	}
	m = run_models_get(p->site->models, id, &r);
	if (!m || !run_model_root(m))
		return;
	find_current(m, run_model_root(m), &now);
	run_model_view(m, run_model_root(m), &top);
	begin_card(p, id);
	buf_adds(b, " <span class=\"t\">");
	page_duration(b, run_model_now_ms(m));
	buf_adds(b, "</span> <span class=\"c\">");
	tree_counts(b, top.counts);
	buf_adds(b, "</span></p>");
	if (now.path.len) {
		buf_adds(b, "<p class=\"now\"><code>");
		html_cut(b, now.text, 120);
		buf_adds(b, "</code></p>");
		if (site_mask(m, &mask))
			(void)run_log_lines(run_model_run(m),
				&(struct log_slice){ .stream = LOG_STDOUT,
					.node = now.path,
					.kind = SLICE_TAIL,
					.lines = 1,
					.mask = mask },
				last_line, &line, &found);
		mask_free(mask);
		if (line.len) {
			buf_adds(b, "<p class=\"last\">");
			html_cut(b, buf_str(&line), 160);
			buf_adds(b, "</p>");
		}
	}
	buf_adds(b, "</li>");
}

struct ids {
	struct arena arena;
	VEC(struct str) at;
};

static bool collect(void *data, const struct run_entry *e)
{
	struct ids *l = data;

	vec_push(&l->at, arena_str(&l->arena, e->id));
	return true;
}

static void collect_again(void *data)
{
	((struct ids *)data)->at.len = 0;
}

static void find_running(struct dashboard *d, struct ids *ids)
{
	AUTO_REPORT r = REPORT_INIT;
	const struct run_filter f = { .status = status_str(ROUX_RUNNING), .limit = LIVE_SHOWN };

	if (may_have(d, ROUX_RUNNING))
		runs_each(d->app, &f, collect, collect_again, ids, &r);
}

static void ids_done(struct ids *ids)
{
	vec_done(&ids->at);
	arena_done(&ids->arena);
}

/* All that is not known is read at once; the page waits for the first of them. */
static bool running_are_known(struct http_request *q)
{
	struct dashboard *d = site_of(q);
	struct ids ids = { 0 };
	struct str waits = S("");

	find_running(d, &ids);
	vec_each (id, &ids.at)
		if (!aside_run_known(d->aside, *id, nothing, NULL) && !waits.len)
			waits = *id;
	bool known = !waits.len || aside_run(q, waits);
	ids_done(&ids);
	return known;
}

static void put_running(struct page *p)
{
	struct ids ids = { 0 };

	buf_adds(&p->b, "<section aria-labelledby=\"running\">");
	page_heading(p, "running", "Running");
	find_running(p->site, &ids);
	if (ids.at.len)
		buf_adds(&p->b, "<ul class=\"cards\">");
	vec_each (id, &ids.at)
		put_live(p, *id);
	buf_adds(&p->b, ids.at.len ? "</ul>"
				   : "<p class=\"quiet\">Nothing runs. <a "
				     "href=\"/recipes\">Start a recipe</a>, or type "
				     "<code>roux run RECIPE --detach</code>.</p>");
	if (ids.at.len == LIVE_SHOWN)
		buf_adds(&p->b, "<p><a href=\"/runs?status=running\">All that run</a></p>");
	buf_adds(&p->b, "</section>");
	ids_done(&ids);
}

/* -- ended ---------------------------------------------------------------------------------------
 */

static void put_failed(struct page *p)
{
	struct run_filter f = {
		.failures = true, .since_ms = clock_real_ms() - DAY_MS, .limit = FAILED_SHOWN
	};

	buf_adds(&p->b, "<section aria-labelledby=\"failed\">");
	page_heading(p, "failed", "Failed in the last 24 hours");
	if (!runs_table(p, &f, NULL))
		buf_adds(&p->b, "<p class=\"quiet\">Nothing has failed since yesterday.</p>");
	buf_adds(&p->b, "</section>");
}

static void put_ended(struct page *p)
{
	struct run_filter f = { .limit = ENDED_SHOWN };

	buf_adds(&p->b, "<section aria-labelledby=\"recent\">");
	page_heading(p, "recent", "Latest runs");
	if (!runs_table(p, &f, NULL))
		buf_adds(&p->b,
			"<p class=\"quiet\">No runs yet. Try a packaged recipe: <a "
			"href=\"/recipes\">choose one</a> and start it, or type <code>roux list "
			"--all</code> and <code>roux run RECIPE</code>.</p>");
	buf_adds(&p->b, "<p><a href=\"/runs\">All runs</a></p></section>");
}

/* How many runs have each status, asked for again when the list has changed. False: not known. */
static bool count(struct dashboard *d)
{
	AUTO_REPORT r = REPORT_INIT;
	uint64_t version = runs_version(d->app);

	if (version && version == d->counted_at)
		return true;
	d->counted_at = runs_count(d->app, &d->counted, &r) ? version : 0;
	return d->counted_at != 0;
}

/* Whether there may be runs with that status: looking for them goes through the whole list. */
static bool may_have(struct dashboard *d, enum roux_status s)
{
	return !count(d) || d->counted.by_status[s] > 0;
}

static void put_counts(struct page *p)
{
	if (!count(p->site))
		return;
	const struct runs_counted n = p->site->counted;
	buf_adds(&p->b, "<p class=\"counts\" id=\"counts\">");
	for (enum roux_status s = ROUX_RUNNING; s <= ROUX_EXITED; s++) {
		if (!n.by_status[s])
			continue;
		buf_printf(&p->b,
			"<a href=\"/runs?status=%s\" data-count=\"%s\"><span class=\"st\" "
			"data-s=\"%s\">%s</span> <b>",
			status_name(s), status_name(s),
			shown_state_word(shown_state_of(status_str(s))), status_name(s));
		human_number(&p->b, n.by_status[s]);
		buf_adds(&p->b, "</b></a> ");
	}
	buf_adds(&p->b, "</p>");
}

void page_overview(struct http_request *q)
{
	const struct str topics[] = { S("runs") };
	struct page p;

	if (!ask_list(q) || !running_are_known(q))
		return;
	page_begin(&p, q,
		&(struct page_head){ .title = S("Overview"),
			.nav = NAV_OVERVIEW,
			.topics = topics,
			.topic_count = 1 });
	buf_adds(&p.b, "<h1>Overview</h1>");
	put_counts(&p);
	put_gates(&p);
	put_running(&p);
	put_failed(&p);
	put_ended(&p);
	page_end(&p, 200);
}
