/* The list of runs, with filters and pages. */
#include "hosts/serve/site/page-runs.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/run-status.h"

struct table {
	struct page *p;
	size_t rows, limit, from;
	uint64_t last;
	bool more;
};

static void put_cell_time(struct buf *b, uint64_t ms)
{
	buf_adds(b, "<td>");
	html_time(b, ms);
}

static bool add_row(void *data, const struct run_entry *e)
{
	struct table *t = data;
	struct buf *b = &t->p->b;
	enum shown_state state = shown_state_of(e->status);

	if (t->rows == t->limit) {
		t->more = true;
		return false;
	}
	if (!t->rows++)
		buf_adds(b, "<div class=\"scroll\" role=\"region\" aria-label=\"Runs\" "
			    "tabindex=\"0\"><table class=\"runs\"><thead><tr><th>State<th>Run"
			    "<th>Recipe<th>Started (UTC)<th>Took<th>Owner<th>Failures</tr></thead>"
			    "<tbody>");
	if (state == STATE_DONE && e->failed)
		state = STATE_PARTIAL;
	buf_adds(b, "<tr data-run=\"");
	html_attr(b, e->id);
	buf_printf(
		b, "\" data-s=\"%s\"><td class=\"st\"><span class=\"w\">", shown_state_word(state));
	html_text(b, e->status);
	buf_adds(b, "</span><td>");
	page_run_link(t->p, e->id);
	buf_adds(b, "<td>");
	if (e->recipe.len) {
		buf_adds(b, "<a href=\"/recipes/");
		html_url(b, e->recipe);
		buf_adds(b, "\">");
		html_text(b, e->recipe);
		buf_adds(b, "</a>");
	}
	put_cell_time(b, e->started);
	buf_adds(b, "<td class=\"t\">");
	page_duration(b, e->ms);
	buf_adds(b, "<td>");
	html_text(b, e->owner);
	buf_adds(b, "<td class=\"f\">");
	if (e->failed)
		buf_printf(b, "%" PRIu64 " failed", e->failed);
	else if (e->tolerated)
		buf_printf(b, "%" PRIu64 " tolerated", e->tolerated);
	buf_adds(b, "</tr>");
	t->last = e->cursor;
	return true;
}

static void begin_again(void *data)
{
	struct table *t = data;

	buf_truncate(&t->p->b, t->from);
	t->rows = 0;
	t->more = false;
}

size_t runs_table(struct page *p, struct run_filter *f, uint64_t *ret_next)
{
	AUTO_REPORT r = REPORT_INIT;
	struct table t = { .p = p, .limit = f->limit, .from = p->b.len };

	/* One more says whether there is another page. */
	f->limit = f->limit + 1;
	runs_each(p->site->app, f, add_row, begin_again, &t, &r);
	if (t.rows)
		buf_adds(&p->b, "</tbody></table></div>");
	if (ret_next)
		*ret_next = t.more ? t.last : 0;
	if (t.rows && !f->failures && !runs_version(p->site->app))
		buf_adds(&p->b,
			"<p class=\"banner\">The ledger cannot be read: these are the run "
			"directories. <code>roux doctor --rebuild</code> makes it anew.</p>");
	report_word(&r, site_words);
	vec_each (i, &r.issues) {
		buf_adds(&p->b, "<p class=\"banner\">");
		html_text(&p->b, i->message);
		buf_adds(&p->b, ". ");
		html_text(&p->b, i->hint.len ? i->hint : S("The doctor says what to do"));
		buf_adds(&p->b, ".</p>");
	}
	return t.rows;
}

/* -- the filter ----------------------------------------------------------------------------------
 */

static void put_field(struct page *p, const char *name, const char *label, const char *type)
{
	struct str value = S("");

	(void)http_query(p->q, name, &value);
	buf_printf(&p->b, "<label>%s <input name=\"%s\" type=\"%s\" value=\"", label, name, type);
	html_attr(&p->b, value);
	buf_adds(&p->b, "\"></label>");
}

static void put_filter(struct page *p, const struct run_filter *f)
{
	struct buf *b = &p->b;

	buf_adds(b, "<form class=\"filter\" action=\"/runs\"><fieldset><legend>State</legend>");
	for (enum roux_status s = ROUX_RUNNING; s <= ROUX_EXITED; s++)
		buf_printf(b,
			"<label class=\"chip\"><input type=\"checkbox\" name=\"status\" "
			"value=\"%s\"%s> "
			"%s</label>",
			status_name(s),
			f->status.len && status_listed(f->status, status_str(s)) ? " checked" : "",
			status_name(s));
	buf_adds(b, "</fieldset><div class=\"fields\">");
	put_field(p, "q", "Name or recipe has", "search");
	put_field(p, "recipe", "Recipe is", "text");
	put_field(p, "since", "Since", "text");
	put_field(p, "until", "Until", "text");
	buf_adds(b, "<label>Started <select name=\"detached\"><option value=\"\">anyhow<option "
		    "value=\"1\"");
	buf_adds(b, f->detached > 0 ? " selected>detached" : ">detached");
	buf_adds(b, f->detached < 0 ? "<option value=\"0\" selected>attached"
				    : "<option value=\"0\">attached");
	buf_adds(b, "</select></label><button>Filter</button> <a "
		    "href=\"/runs\">Clear</a></div></form>");
}

/* This page's query without `before`, and with another one. */
static void add_query(struct http_request *q, uint64_t before, struct buf *b)
{
	struct http_fields all = http_query_all(q);

	for (size_t i = 0; i < all.count; i++) {
		if (str_eq(all.at[i].name, S("before")) || !all.at[i].value.len ||
			str_eq(all.at[i].name, S("part")))
			continue;
		html_url(b, all.at[i].name);
		buf_addc(b, '=');
		html_url(b, all.at[i].value);
		buf_addc(b, '&');
	}
	if (before)
		buf_printf(b, "before=%" PRIu64, before);
	else if (b->len)
		b->len--;
}

static void put_nothing(struct page *p, const struct run_filter *f)
{
	bool any = f->status.len || f->recipe.len || f->any.len || f->since_ms || f->until_ms ||
		   f->detached;

	if (f->before)
		buf_adds(&p->b, "<p class=\"quiet\">There are no earlier runs.</p>");
	else if (!any)
		buf_adds(&p->b,
			"<p class=\"quiet\">No runs yet: <code>roux run RECIPE</code> makes one, "
			"or <a href=\"/recipes\">start a recipe</a> here.</p>");
	else
		buf_printf(&p->b,
			"<p class=\"quiet\">No run fits. %s <a href=\"/runs\">Show all "
			"runs</a>.</p>",
			f->any.len      ? "Drop the text to search in all names."
			: f->status.len ? "Drop the state to see runs of any state."
			: f->recipe.len ? "Drop the recipe to see runs of all recipes."
					: "Drop the times to see all.");
}

void page_runs(struct http_request *q)
{
	struct run_filter f;
	struct page p;
	uint64_t next;
	AUTO_BUF query = BUF_INIT;
	AUTO_BUF topic = BUF_INIT;

	if (!ask_filter(q, &f) || !ask_list(q))
		return;
	add_query(q, 0, &query);
	buf_printf(&topic, "runs:%s", buf_cstr(&query));
	const struct str topics[] = { query.len ? buf_str(&topic) : S("runs") };
	page_begin(&p, q,
		&(struct page_head){ .title = S("Runs"),
			.nav = NAV_RUNS,
			.topics = topics,
			.topic_count = f.before ? 0 : 1 });
	buf_adds(&p.b, "<h1>Runs</h1>");
	put_filter(&p, &f);
	buf_adds(&p.b, "<p id=\"news\" hidden><a href=\"\"></a></p>");
	struct run_filter asked = f;
	if (!runs_table(&p, &asked, &next))
		put_nothing(&p, &f);
	buf_adds(&p.b, "<p class=\"pages\">");
	if (f.before) {
		buf_adds(&p.b, "<a href=\"/runs?");
		html_attr(&p.b, buf_str(&query));
		buf_adds(&p.b, "\">← newest</a> ");
	}
	if (next) {
		buf_reset(&query);
		add_query(q, next, &query);
		buf_adds(&p.b, "<a rel=\"next\" href=\"/runs?");
		html_attr(&p.b, buf_str(&query));
		buf_adds(&p.b, "\">earlier →</a>");
	}
	buf_adds(&p.b, "</p>");
	page_end(&p, 200);
}
