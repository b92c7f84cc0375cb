#pragma once

#include "app/app.h"
#include "http/http.h"

/* The pages and the API of the dashboard: runs, logs, approvals and recipes. It executes nothing:
 * what it starts, resumes, answers or ends goes through app/, and every run that it starts is a
 * detached one. */
struct dashboard;

struct dashboard_options {
	struct app *app;
	const char *const *roots; /* working directories that runs can be started in besides the
				     app's; borrowed */
	size_t root_count;
	struct str audit;  /* the path of audit.jsonl; empty: it is kept in memory. Borrowed */
	struct str banner; /* what every page has to say; empty: nothing. Borrowed */
};

struct dashboard *dashboard_new(const struct dashboard_options *o);
void dashboard_free(struct dashboard *d);
/* The routes, without what their handlers need: for the manual page. */
struct http_routes dashboard_table(void);
/* For http_add_routes(); lives as long as the dashboard. */
const struct http_routes *dashboard_routes(const struct dashboard *d);
/* For http_options.refusal_page. */
void dashboard_refusal(
	struct http_request *q, const struct http_refusal *refusal, struct buf *html);
