#include "app/runs.h"
#include "base/clock.h"
#include "hosts/serve/pages.h"
#include "hosts/serve/serve.h"
#include "render/web/html.h"

enum { SHOWN = 50 };

static bool see(void *data, const struct run_entry *e)
{
	struct buf *b = data;

	buf_adds(b, "<tr><td>");
	html_text(b, e->status);
	buf_adds(b, "</td><td>");
	html_text(b, e->id);
	buf_adds(b, "</td><td>");
	html_text(b, e->recipe);
	buf_adds(b, "</td><td>");
	html_time(b, e->started);
	buf_adds(b, "</td><td>");
	if (e->ended)
		clock_duration(b, e->ms);
	buf_adds(b, "</td></tr>\n");
	return true;
}

static void again(void *data)
{
	buf_reset(data);
}

void page_home(struct http_request *q)
{
	struct serve *s = http_data(q);
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF rows = BUF_INIT;
	AUTO_BUF b = BUF_INIT;

	runs_each(s->app, &(struct run_filter){ .limit = SHOWN }, see, again, &rows, &r);
	buf_adds(&b, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		     "<meta name=\"color-scheme\" content=\"light dark\">\n"
		     "<meta name=\"roux-csrf\" content=\"");
	html_attr(&b, http_csrf(q));
	buf_adds(&b, "\">\n<title>Runs · roux</title>\n</head>\n<body>\n<main>\n<h1>Runs</h1>\n");
	if (!rows.len) {
		buf_adds(&b, "<p>No run yet. <code>roux run RECIPE</code> starts one.</p>\n");
	} else {
		buf_adds(&b, "<table>\n<tr><th>State</th><th>Run</th><th>Recipe</th>"
			     "<th>Started</th><th>Took</th></tr>\n");
		buf_add(&b, buf_str(&rows));
		buf_adds(&b, "</table>\n");
	}
	buf_adds(&b, "</main>\n</body>\n</html>\n");
	http_reply_page(q, 200, &b);
}
