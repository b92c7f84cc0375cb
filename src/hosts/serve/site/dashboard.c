#include <stdlib.h>

#include "base/mem.h"
#include "hosts/serve/site/aside.h"

#define FILTER "status recipe q since until detached before limit part refresh"
#define LOG "path stream attempt"

#define PAGE(path, fn, summary, query)                                            \
	{                                                                         \
		"GET", path, HTTP_PAGE, HTTP_READ, HTTP_READS, fn, summary, query \
	}
#define GET(path, fn, summary, query)                                                      \
	{                                                                                  \
		"GET", "/api/v1" path, HTTP_API, HTTP_READ, HTTP_READS, fn, summary, query \
	}
#define ACT(path, kind, scope, effect, fn, action, summary, body)                     \
	{                                                                             \
		"POST", path, kind, scope, effect, fn, summary, NULL, body, 0, action \
	}

static const struct http_route routes[] = {
	PAGE("/", page_overview, "what waits, runs and failed", "refresh"),
	PAGE("/runs", page_runs, "the list of runs", FILTER),
	PAGE("/runs/{id}", page_run, "one run", "view open from to fold groups part refresh state"),
	PAGE("/runs/{id}/nodes/{path}", page_run_node, "one node of a run", "from refresh"),
	PAGE("/runs/{id}/log", page_log, "a window into what was printed",
		LOG " at back tail find find_from wrap refresh"),
	{ "GET", "/runs/{id}/log/raw", HTTP_PAGE, HTTP_RUN, HTTP_READS, page_log_raw,
		"the bytes of it, not masked", LOG },
	PAGE("/runs/{id}/messages", page_messages, "messages to and from a run", "refresh"),
	PAGE("/runs/{id}/artifacts", page_artifacts, "files that a run has declared", NULL),
	{ "GET", "/runs/{id}/artifacts/{number}", HTTP_PAGE, HTTP_RUN, HTTP_READS, page_artifact,
		"one of them, by its number", "show" },
	PAGE("/runs/{id}/values", page_values, "the values of a run", NULL),
	PAGE("/runs/{id}/report.html", page_report, "as `roux report`", NULL),
	PAGE("/runs/{id}/graph.svg", page_graph, "as `roux graph`", NULL),
	PAGE("/runs/{id}/gate", page_gate, "the question that a run waits with", NULL),
	PAGE("/runs/{id}/again", page_again, "what would run again", "do from only all"),
	PAGE("/runs/{id}/stop", page_stop, "what would be ended", NULL),
	PAGE("/runs/{id}/message", page_message, "a form for a message", NULL),
	PAGE("/runs/{id}/archive", page_archive, "what archiving does", NULL),
	PAGE("/recipes", page_recipes, "the recipes", NULL),
	PAGE("/recipes/{id}", page_recipe, "one recipe, and the form that starts it", "draft"),
	PAGE("/recipes/{id}/graph.svg", page_recipe_graph, "the graph of a recipe", NULL),
	PAGE("/doctor", page_doctor, "what needs attention", NULL),
	PAGE("/settings", page_settings, "the settings and where they come from", NULL),
	PAGE("/audit", page_audit, "who did what", NULL),
	PAGE("/help", page_help, "keys and states", NULL),
	PAGE("/metrics", page_metrics, "numbers for Prometheus", NULL),
	{ "GET", "/assets/{name}", HTTP_ASSET, HTTP_OPEN, HTTP_READS, page_asset,
		"script, style and icon of the pages" },
	{ "GET", "/favicon.ico", HTTP_ASSET, HTTP_OPEN, HTTP_READS, page_favicon,
		"the icon, for pages that name none" },
	{ "POST", "/recipes/{id}/plan", HTTP_PAGE, HTTP_RUN, HTTP_READS, post_recipe_plan,
		"check the form and show the plan", .body = "as csrf" },
	ACT("/recipes/{id}/start", HTTP_PAGE, HTTP_RUN, HTTP_STARTS, post_start, "start",
		"start what the plan shows", "draft digest csrf idempotency_key"),
	ACT("/runs/{id}/gate", HTTP_PAGE, HTTP_ANSWER, HTTP_STOPS, post_gate, "answer",
		"answer the question", "answer stage comment resume digest generation csrf"),
	ACT("/runs/{id}/again", HTTP_PAGE, HTTP_RUN, HTTP_STARTS, post_again, "again",
		"continue or repeat a run", "do from only all as in_doubt digest generation csrf"),
	ACT("/runs/{id}/stop", HTTP_PAGE, HTTP_RUN, HTTP_STOPS, post_stop, "stop", "end a run",
		"how grace_ms generation csrf"),
	ACT("/runs/{id}/message", HTTP_PAGE, HTTP_RUN, HTTP_CHANGES, post_message, "message",
		"send a message", "type body generation csrf"),
	ACT("/runs/{id}/archive", HTTP_PAGE, HTTP_RUN, HTTP_CHANGES, post_archive, "archive",
		"move a run out of the list", "generation csrf"),

	GET("/runs", rest_runs, "runs, newest first", FILTER),
	GET("/runs/{id}", rest_run, "as `roux status`, with seq", NULL),
	GET("/runs/{id}/result", rest_result, "the result document", NULL),
	GET("/runs/{id}/nodes", rest_nodes, "the nodes below one", "under state after limit"),
	GET("/runs/{id}/nodes/{path}", rest_node, "one node", NULL),
	GET("/runs/{id}/events", rest_events_of, "lines of events.jsonl", "after limit"),
	{ "GET", "/api/v1/runs/{id}/output", HTTP_API, HTTP_RUN, HTTP_READS, rest_output,
		"the bytes that were printed, not masked", LOG },
	GET("/runs/{id}/lines", rest_lines, "a window of lines", LOG " at back limit"),
	GET("/runs/{id}/find", rest_find, "where a text is", LOG " text from limit"),
	GET("/runs/{id}/messages", rest_messages, "as `roux messages`", NULL),
	GET("/runs/{id}/artifacts", rest_artifacts, "the manifest", NULL),
	{ "GET", "/api/v1/runs/{id}/artifacts/{number}", HTTP_API, HTTP_RUN, HTTP_READS,
		rest_artifact, "the bytes of one", "show" },
	GET("/runs/{id}/plan", rest_plan, "what would run, with its digest", "do from only all"),
	GET("/recipes", rest_recipes, "as `roux list`", NULL),
	GET("/recipes/{id}", rest_recipe, "as `roux show`", NULL),
	GET("/recipes/{id}/schema", rest_schema, "as `roux tool schema`", NULL),
	GET("/doctor", rest_doctor, "as `roux doctor`", NULL),
	GET("/settings", rest_settings, "the settings and where they come from", NULL),
	GET("/audit", rest_audit, "who did what, newest first", "limit"),
	GET("/events", rest_stream, "a stream of changes", "topic last"),
	{ "POST", "/api/v1/recipes/{id}/plan", HTTP_API, HTTP_READ, HTTP_READS, rest_recipe_plan,
		"what a start would run, with its digest", .body = "values secrets cwd" },
	ACT("/api/v1/runs", HTTP_API, HTTP_RUN, HTTP_STARTS, rest_start, "start", "start a recipe",
		"recipe values secrets as cwd digest"),
	ACT("/api/v1/runs/{id}/cancel", HTTP_API, HTTP_RUN, HTTP_STOPS, rest_cancel, "cancel",
		"end a run", "graceful grace_ms generation"),
	ACT("/api/v1/runs/{id}/kill", HTTP_API, HTTP_RUN, HTTP_STOPS, rest_kill, "kill",
		"end a run at once", "generation"),
	ACT("/api/v1/runs/{id}/resume", HTTP_API, HTTP_RUN, HTTP_STARTS, rest_resume, "resume",
		"continue a run", "in_doubt generation digest"),
	ACT("/api/v1/runs/{id}/rerun", HTTP_API, HTTP_RUN, HTTP_STARTS, rest_rerun, "rerun",
		"repeat a run or a part of it",
		"from only all values secrets as generation digest"),
	ACT("/api/v1/runs/{id}/approve", HTTP_API, HTTP_ANSWER, HTTP_STARTS, rest_approve,
		"approve", "let a run pass its gate",
		"stage comment resume in_doubt generation digest"),
	ACT("/api/v1/runs/{id}/deny", HTTP_API, HTTP_ANSWER, HTTP_STOPS, rest_deny, "deny",
		"end a run at its gate", "stage reason generation"),
	ACT("/api/v1/runs/{id}/message", HTTP_API, HTTP_RUN, HTTP_CHANGES, rest_message, "message",
		"send a message", "type body envelope generation"),
	ACT("/api/v1/runs/{id}/archive", HTTP_API, HTTP_RUN, HTTP_CHANGES, rest_archive, "archive",
		"move an ended run out of the list", "generation"),
};

struct http_routes dashboard_table(void)
{
	return (struct http_routes){ .at = routes, .count = ARRAY_SIZE(routes) };
}

struct dashboard *dashboard_new(const struct dashboard_options *o)
{
	struct dashboard *d = mem_new(struct dashboard);

	d->app = o->app;
	d->options = *o;
	d->models = run_models_new(o->app);
	d->aside = aside_new(d);
	d->feeds = feeds_new(d);
	d->drafts = drafts_new();
	d->routes = (struct http_routes){ routes, ARRAY_SIZE(routes), d };
	return d;
}

void dashboard_free(struct dashboard *d)
{
	if (!d)
		return;
	aside_free(d->aside);
	feeds_free(d->feeds);
	drafts_free(d->drafts);
	run_models_free(d->models);
	free(d);
}

const struct http_routes *dashboard_routes(const struct dashboard *d)
{
	return &d->routes;
}
