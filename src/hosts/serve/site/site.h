#pragma once

#include "app/model.h"
#include "app/recipes.h"
#include "app/runs.h"
#include "data/mask.h"
#include "hosts/serve/site/dashboard.h"
#include "http/http.h"
#include "render/web/html.h"
#include "render/web/run-tree.h"

/* What the files of this module share. */

struct aside;
struct feeds;
struct drafts;

struct dashboard {
	struct app *app;
	struct dashboard_options options;
	struct run_models *models;
	struct aside *aside;
	struct feeds *feeds;
	struct drafts *drafts;
	struct http_routes routes;
	struct runs_counted counted; /* as the list was at `counted_at`; 0: not known */
	uint64_t counted_at;
};

static inline struct dashboard *site_of(const struct http_request *q)
{
	return http_data(q);
}

/* -- pages: page.c -------------------------------------------------------------------------------
 */

enum nav {
	NAV_NONE,
	NAV_OVERVIEW,
	NAV_RUNS,
	NAV_RECIPES,
	NAV_DOCTOR,
	NAV_SETTINGS,
	NAV_AUDIT,
	NAV_HELP
};

struct page {
	struct http_request *q;
	struct dashboard *site;
	struct buf b;
};

/* What the head says. */
struct page_head {
	struct str title;
	enum nav nav;
	const struct str *topics; /* of the stream that keeps the page up to date; NULL: none */
	size_t topic_count;
	enum shown_state state; /* of `title`, when `stated` */
	bool stated;
	struct str live_id; /* `G.SEQ.OFFSET` that the page shows; empty: none */
};

void page_begin(struct page *p, struct http_request *q, const struct page_head *head);
/* Replies with it. */
void page_end(struct page *p, unsigned status);
/* <h2> with an id. */
void page_heading(struct page *p, const char *id, const char *text);
/* The hidden fields that every form needs: csrf and the idempotency key. */
void page_form(struct page *p, struct str action, const char *class);
void page_hidden(struct page *p, const char *name, struct str value);
/* Whether the client may do that: scope, not read-only. */
bool page_may(const struct http_request *q, enum http_scope scope);
/* "/runs/ID" and what follows. */
void run_url(struct buf *b, struct str run, const char *rest);
void page_run_link(struct page *p, struct str run);
void page_duration(struct buf *b, uint64_t ms);
/* A text of a person in a box of its own. */
void page_prose(struct page *p, struct str text);
/* Words, each in a box of its own. */
void page_argv(struct page *p, const json_t *argv);
/* A text as colours and lines of a terminal, for <pre>. */
void page_output(struct buf *b, struct str text);
/* Whether ?part=NAME asks for a fragment alone. */
bool page_part(const struct http_request *q, const char *name);

/* -- requests: ask.c -----------------------------------------------------------------------------
 */

/* Refuses with what is in the report: 404, 409, 400, 422 or 503. */
void ask_refuse(struct http_request *q, struct report *r);
/* The same for values that do not fit: 422. */
void ask_refuse_values(struct http_request *q, struct report *r);
/* The run of {id}, up to date; NULL: refused, or the handler is called again when it has been read.
 */
struct run_model *ask_run(struct http_request *q);
/* Whether runs can be listed now. False: refused, because another process has the ledger locked. */
bool ask_list(struct http_request *q);
/* A number behind `?`; false: refused with 400. `*ret` stays when there is none. */
bool ask_number(struct http_request *q, const char *name, uint64_t *ret);
/* What the list is filtered by. False: refused. Texts are the request's. */
bool ask_filter(struct http_request *q, struct run_filter *ret);
/* The same of fields from elsewhere, without a reply: false when they do not fit. */
bool ask_filter_of(struct http_request *q, struct http_fields all, struct run_filter *ret);
/* The fields of a query, in the request's arena. */
struct http_fields ask_fields(struct http_request *q, struct str query);
/* "run:ID", of {id}; in the request's arena. */
const char *ask_run_word(struct http_request *q);
/* The ETag of what is about a run. True: replied. */
bool ask_run_unchanged(struct http_request *q, struct run_model *m, struct str more);
/* Members of a body: false, refused: one that is not known, or of the wrong kind. `names` has
 * spaces between them. */
bool ask_only(struct http_request *q, const char *names);
/* Only the latter: for pages. */
bool ask_kinds(struct http_request *q);
/* A string member as a C string in the request's arena; NULL: absent or empty. */
const char *ask_text(struct http_request *q, const char *name);
bool ask_bool(struct http_request *q, const char *name, bool fallback);
struct run_handle *ask_handle(struct run_model *m);
/* The secrets of the run: *ret may be NULL. False: some are not known here. */
bool site_mask(struct run_model *m, struct mask **ret);
/* The answer then, where all of it could have such a secret. */
void ask_refuse_unmasked(struct http_request *q);
/* Bit by bit from the query: PATH, stream and attempt of a log. */
struct log_at {
	struct str node; /* empty: the run's own */
	unsigned stream; /* enum log_stream */
	uint64_t attempt;
	const char *name; /* "out", "err", "run-out", "run-err" */
};
bool ask_log(struct http_request *q, struct log_at *ret);

/* Commands of a run: all, those that have ended, and those of them that failed in any way. */
struct progress {
	uint64_t all, over, bad;
};
struct progress progress_of(const uint64_t *counts); /* NULL: there are none */

/* -- the tree: select.c --------------------------------------------------------------------------
 */

/* What a page shows of the nodes. */
struct selection {
	VEC(struct tree_item) items;
	size_t limit;    /* 0: TREE_ITEMS */
	struct str open; /* paths with commas, each with :FROM or without */
	bool all;        /* commands too that are in large groups, up to the limit */
};
void select_nodes(struct run_model *m, struct selection *s);
void select_done(struct selection *s);

/* -- the routes: each replies --------------------------------------------------------------------
 */
typedef void route_fn(struct http_request *q);
route_fn page_overview, page_runs, page_run, page_run_node, page_log, page_log_raw, page_messages,
	page_artifacts, page_artifact, page_values, page_report, page_graph, page_recipes,
	page_recipe, page_recipe_graph, page_doctor, page_settings, page_audit, page_help,
	page_gate, page_again, page_stop, page_message, page_archive, page_metrics, page_asset,
	page_favicon;
route_fn post_recipe_plan, post_start, post_gate, post_again, post_stop, post_message, post_archive;
route_fn rest_runs, rest_run, rest_result, rest_nodes, rest_node, rest_events_of, rest_output,
	rest_lines, rest_find, rest_messages, rest_artifacts, rest_artifact, rest_plan,
	rest_recipe_plan, rest_start, rest_cancel, rest_kill, rest_resume, rest_rerun, rest_approve,
	rest_deny, rest_message, rest_archive, rest_recipes, rest_recipe, rest_schema, rest_doctor,
	rest_settings, rest_audit, rest_stream;

/* -- shared by pages and the API -----------------------------------------------------------------
 */

extern const action_words site_words;
/* assets.c */
struct str asset_url(const char *name);

struct feeds *feeds_new(struct dashboard *d);
void feeds_free(struct feeds *f);
struct drafts *drafts_new(void);
void drafts_free(struct drafts *d);
