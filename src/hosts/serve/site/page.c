/* What every page has: head, navigation, forms. */
#include <inttypes.h>

#include "base/clock.h"
#include "hosts/serve/site/site.h"
#include "render/web/ansi.h"

static const struct {
	enum nav nav;
	const char *url, *name;
} places[] = {
	{ NAV_OVERVIEW, "/", "Overview" },
	{ NAV_RUNS, "/runs", "Runs" },
	{ NAV_RECIPES, "/recipes", "Recipes" },
	{ NAV_DOCTOR, "/doctor", "Doctor" },
	{ NAV_HELP, "/help", "Help" },
};

static void put_head(struct page *p, const struct page_head *h)
{
	struct buf *b = &p->b;

	buf_adds(b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
	if (h->stated)
		buf_printf(b, "%s ", shown_state_sign(h->state));
	html_text(b, h->title);
	buf_printf(b,
		" · roux</title><meta name=\"viewport\" content=\"width=device-width,"
		"initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">"
		"<link rel=\"icon\" href=\"%s\"><link rel=\"stylesheet\" href=\"%s\">"
		"<script src=\"%s\" defer></script>",
		asset_url("icon.svg").p, asset_url("roux.css").p, asset_url("roux.js").p);
	buf_adds(b, "<meta name=\"roux-csrf\" content=\"");
	html_attr(b, http_csrf(p->q));
	buf_adds(b, "\">");
}

/* This page, and whether it fetches itself again. */
static void put_reload(struct page *p, bool every, const char *words)
{
	struct http_fields all = http_query_all(p->q);
	struct str target = http_target(p->q);
	AUTO_BUF url = BUF_INIT;
	char mark = '?';

	buf_add(&url, str_sub(target, 0, str_find(target, '?', 0)));
	for (size_t i = 0; i < all.count; i++) {
		if (str_eq(all.at[i].name, S("refresh")))
			continue;
		buf_addc(&url, mark);
		html_url(&url, all.at[i].name);
		buf_addc(&url, '=');
		html_url(&url, all.at[i].value);
		mark = '&';
	}
	if (every)
		buf_printf(&url, "%crefresh=10", mark);
	buf_adds(&p->b, "<a href=\"");
	html_attr(&p->b, buf_str(&url));
	buf_printf(&p->b, "\">%s</a>", words);
}

/* Without a script a page that would be live offers to be fetched again: never by itself, unless
 * its reader asks for that. */
static void put_live(struct page *p, const struct page_head *h)
{
	struct str seconds;

	buf_adds(&p->b, "<span id=\"live\" class=\"live\">");
	if (h->topic_count) {
		buf_adds(&p->b, "<noscript>");
		put_reload(p, false, "Reload");
		buf_adds(&p->b, " ");
		if (!http_query(p->q, "refresh", &seconds))
			put_reload(p, true, "Reload every 10 s");
		buf_adds(&p->b, "</noscript>");
	}
	buf_adds(&p->b, "</span>");
}

static void put_nav(struct page *p, const struct page_head *h)
{
	struct buf *b = &p->b;

	buf_adds(b,
		"<a class=\"skip\" href=\"#main\">Skip to content</a><header><a class=\"brand\" "
		"href=\"/\">roux</a><nav aria-label=\"Main\">");
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		buf_printf(b, "<a href=\"%s\"%s>%s</a>", places[i].url,
			places[i].nav == h->nav ? " aria-current=\"page\"" : "", places[i].name);
	buf_adds(b,
		"</nav><form class=\"find\" action=\"/runs\" role=\"search\"><label class=\"vh\" "
		"for=\"q\">Search runs</label><input id=\"q\" name=\"q\" type=\"search\" "
		"placeholder=\"Search runs\" autocomplete=\"off\"></form>");
	put_live(p, h);
	buf_adds(b, "</header>");
}

static void put_banners(struct page *p)
{
	struct http *door = http_door(p->q);

	if (p->site->options.banner.len) {
		buf_adds(&p->b, "<p class=\"banner\">");
		html_text(&p->b, p->site->options.banner);
		buf_adds(&p->b, "</p>");
	}
	if (http_read_only(door) && !p->site->options.banner.len)
		buf_adds(&p->b,
			"<p class=\"banner\">Read-only: nothing can be started, answered or "
			"ended here.</p>");
	if (http_exposed(door))
		buf_adds(&p->b, "<p class=\"banner\">This page comes over plain HTTP from another "
				"machine: others on the network can read it.</p>");
}

void page_begin(struct page *p, struct http_request *q, const struct page_head *h)
{
	struct str refresh;
	uint64_t seconds = 0;

	*p = (struct page){ .q = q, .site = site_of(q) };
	put_head(p, h);
	if (http_query(q, "refresh", &refresh) && str_to_uint(refresh, &seconds) && seconds >= 2 &&
		seconds <= 3600)
		buf_printf(&p->b, "<meta http-equiv=\"refresh\" content=\"%" PRIu64 "\">", seconds);
	buf_adds(&p->b, "</head><body");
	if (h->topic_count) {
		buf_adds(&p->b, " data-topics=\"");
		for (size_t i = 0; i < h->topic_count; i++) {
			buf_adds(&p->b, i ? " " : "");
			html_url(&p->b, h->topics[i]);
		}
		buf_printf(&p->b, "\" data-server=\"%s\"", asset_url("roux.js").p);
	}
	if (h->live_id.len) {
		buf_adds(&p->b, " data-id=\"");
		html_attr(&p->b, h->live_id);
		buf_addc(&p->b, '"');
	}
	buf_addc(&p->b, '>');
	put_nav(p, h);
	put_banners(p);
	buf_adds(&p->b, "<main id=\"main\" tabindex=\"-1\">");
}

void page_end(struct page *p, unsigned status)
{
	buf_adds(&p->b, "</main><footer>");
	if (p->site) {
		buf_adds(&p->b,
			"<a href=\"/settings\">Settings</a> · <a href=\"/audit\">Audit</a> · "
			"<a href=\"/help\">Keys and states</a> · roux " ROUX_VERSION);
		if (http_principal(p->q)->via == HTTP_VIA_BROWSER) {
			page_form(p, S("/logout"), "inline");
			buf_adds(&p->b, "<button class=\"link\">Log out</button></form>");
		}
	}
	buf_adds(&p->b,
		"</footer><div id=\"say\" class=\"vh\" role=\"status\"></div></body></html>\n");
	http_reply_page(p->q, status, &p->b);
	buf_done(&p->b);
}

void page_heading(struct page *p, const char *id, const char *text)
{
	buf_printf(&p->b, "<h2 id=\"%s\">%s</h2>", id, text);
}

/* -- forms ---------------------------------------------------------------------------------------
 */

void page_hidden(struct page *p, const char *name, struct str value)
{
	buf_printf(&p->b, "<input type=\"hidden\" name=\"%s\" value=\"", name);
	html_attr(&p->b, value);
	buf_adds(&p->b, "\">");
}

void page_form(struct page *p, struct str action, const char *class)
{
	buf_adds(&p->b, "<form method=\"post\" action=\"");
	html_attr(&p->b, action);
	buf_printf(&p->b, "\" class=\"%s\">", class);
	page_hidden(p, "csrf", http_csrf(p->q));
	page_hidden(p, "idempotency_key", http_idempotency_key(p->q));
}

bool page_may(const struct http_request *q, enum http_scope scope)
{
	return (http_principal(q)->scopes & scope) && !http_read_only(http_door(q));
}

/* -- pieces --------------------------------------------------------------------------------------
 */

void run_url(struct buf *b, struct str run, const char *rest)
{
	buf_adds(b, "/runs/");
	html_url(b, run);
	buf_adds(b, rest);
}

void page_run_link(struct page *p, struct str run)
{
	buf_adds(&p->b, "<a href=\"");
	run_url(&p->b, run, "");
	buf_adds(&p->b, "\">");
	html_text(&p->b, run);
	buf_adds(&p->b, "</a>");
}

void page_duration(struct buf *b, uint64_t ms)
{
	clock_duration(b, ms);
}

void page_prose(struct page *p, struct str text)
{
	buf_adds(&p->b, "<div class=\"prose\" dir=\"auto\">");
	html_text(&p->b, text);
	buf_adds(&p->b, "</div>");
}

void page_argv(struct page *p, const json_t *argv)
{
	const json_t *word;
	size_t i;

	buf_adds(&p->b, "<span class=\"argv\" dir=\"ltr\">");
	json_array_foreach(argv, i, word)
	{
		buf_adds(&p->b, i ? " <code>" : "<code>");
		html_text(&p->b, json_str(word));
		buf_adds(&p->b, "</code>");
	}
	buf_adds(&p->b, "</span>");
}

void page_output(struct buf *b, struct str text)
{
	struct ansi_style style = { 0 };

	for (size_t at = 0; at < text.len;) {
		size_t end = str_find(text, '\n', at);

		ansi_html(b, &style, str_sub(text, at, end - at));
		if (end < text.len)
			buf_addc(b, '\n');
		at = end + 1;
	}
}

bool page_part(const struct http_request *q, const char *name)
{
	struct str part;

	return http_query(q, "part", &part) && str_eq(part, str_of(name));
}

/* -- refusals ------------------------------------------------------------------------------------
 */

void dashboard_refusal(struct http_request *q, const struct http_refusal *refusal, struct buf *html)
{
	struct page p;
	const json_t *issue;
	size_t i;

	p = (struct page){ .q = q };
	buf_swap(&p.b, html);
	const struct page_head head = { .title = S("Refused"), .nav = NAV_NONE };
	put_head(&p, &head);
	buf_adds(&p.b, "</head><body>");
	put_nav(&p, &head);
	buf_printf(&p.b,
		"<main id=\"main\" tabindex=\"-1\"><h1>%s</h1><div class=\"box bad\" "
		"role=\"alert\"><p>",
		refusal->status == 404   ? "Not found"
		: refusal->status == 409 ? "Not now"
		: refusal->status >= 500 ? "Not possible now"
					 : "Refused");
	html_text(&p.b, refusal->error);
	buf_adds(&p.b, "</p>");
	json_array_foreach(json_object_get(refusal->document, "errors"), i, issue)
	{
		struct str message = json_text_of(issue, "message");

		if (str_eq(message, refusal->error))
			continue;
		buf_adds(&p.b, "<p>");
		html_text(&p.b, message);
		buf_adds(&p.b, "</p>");
	}
	if (refusal->hint.len) {
		buf_adds(&p.b, "<p class=\"hint\">");
		html_text(&p.b, refusal->hint);
		buf_adds(&p.b, "</p>");
	}
	buf_adds(&p.b, "</div><p><a href=\"/\">Overview</a> · <a href=\"/runs\">Runs</a></p></main>"
		       "</body></html>\n");
	buf_swap(&p.b, html);
}
