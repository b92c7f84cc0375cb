/* Recipes, runs, logs, events, artifacts and findings as resources (docs/mcp.md, "Resources and
 * prompts"). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/artifacts.h"
#include "app/doctor.h"
#include "app/logs.h"
#include "app/recipes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/utf8.h"
#include "data/base64.h"
#include "hosts/mcp/artifact.h"
#include "hosts/mcp/catalog.h"
#include "hosts/mcp/methods.h"
#include "hosts/mcp/raw.h"
#include "hosts/mcp/resource-uri.h"
#include "hosts/mcp/result.h"
#include "hosts/mcp/run-steps.h"
#include "hosts/mcp/text.h"
#include "hosts/mcp/uri.h"
#include "hosts/mcp/words.h"

enum {
	NEWEST = 100,
	LISTED_RUNS = 20,
	LOG_DEFAULT = 64 * 1024,
	LOG_MOST = 1 << 20,
	EVENTS_MOST = 4 << 20,
	ARTIFACT_MOST = 8 << 20,
	FINISHED_MS = 3600000,
};

/* -- lists ---------------------------------------------------------------------------------------
 */

static void add(json_t *all, const char *uri, const char *name, const char *type, struct str about)
{
	json_t *one = json_pack("{s:s, s:s, s:s}", "uri", uri, "name", name, "mimeType", type);

	if (about.len)
		json_object_set_new(one, "description", json_from_str(about));
	json_array_append_new(all, one);
}

static const char *type_of_format(const char *format)
{
	if (strcmp(format, "markdown") == 0)
		return "text/markdown";
	return strcmp(format, "yaml") == 0 ? "application/yaml" : "application/json";
}

static bool add_run(void *data, const struct run_entry *e)
{
	AUTO_BUF uri = BUF_INIT;
	AUTO_BUF name = BUF_INIT;
	AUTO_BUF about = BUF_INIT;

	run_uri(&uri, e->id, "");
	buf_add(&name, e->id);
	buf_printf(&about, "run of %.*s: %.*s", STR(e->recipe), STR(e->status));
	add(data, buf_cstr(&uri), buf_cstr(&name), "application/json", buf_str(&about));
	return true;
}

static void begin_again(void *data)
{
	json_array_clear(data);
}

void method_resources_list(struct exchange *x)
{
	struct catalog *c = x->session->server->catalog;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *runs = json_array();
	json_t *all = json_array();

	catalog_read(c);
	add(all, "roux://recipes", "recipes", "application/json", S("recipes and their state"));
	vec_each (at, &c->tools) {
		const struct tool *t = *at;
		AUTO_BUF uri = BUF_INIT;
		AUTO_BUF name = BUF_INIT;

		if (t->builtin)
			continue;
		buf_adds(&uri, "roux://recipes/");
		uri_escape(&uri, t->id);
		buf_add(&name, t->id);
		add(all, buf_cstr(&uri), buf_cstr(&name), type_of_format(recipe_ref_format(t->ref)),
			json_text_of(t->listed, "description"));
	}
	add(all, "roux://runs", "runs", "application/json", S("the newest runs"));
	runs_each(c->server->app, &(struct run_filter){ .limit = LISTED_RUNS }, add_run,
		begin_again, runs, &ignored);
	json_array_extend(all, runs);
	add(all, "roux://doctor", "doctor", "text/markdown", S("what needs attention"));
	raw_resources_list(c->server, "resources", all);
	answer_page(x, "resources", all, c->generation);
}

void method_resource_templates(struct exchange *x)
{
	static const char *const rows[][4] = {
		{ "roux://recipes/{id}", "recipe", "application/json",
			"the definition of a recipe" },
		{ "roux://runs/{id}", "run", "application/json",
			"state, steps, timings, approvals and artifacts of a run" },
		{ "roux://runs/{id}/log{?stream,step,offset,limit}", "log", "text/plain",
			"what a run printed: the last 64 KiB, or `limit` bytes from `offset` on" },
		{ "roux://runs/{id}/events{?after}", "events", "application/jsonl",
			"what happened in a run, one event a line" },
		{ "roux://runs/{id}/artifacts/{name}", "artifact", "application/octet-stream",
			"a file that a run made" },
	};
	json_t *all = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		json_array_append_new(all,
			json_pack("{s:s, s:s, s:s, s:s}", "uriTemplate", rows[i][0], "name",
				rows[i][1], "mimeType", rows[i][2], "description", rows[i][3]));
	raw_resources_list(x->session->server, "templates", all);
	answer_page(x, "resourceTemplates", all, 0);
}

/* -- reading -------------------------------------------------------------------------------------
 */

/* What is being read, and what came of it. */
struct reading {
	struct exchange *x;
	struct mcp *server;
	struct str uri;
	const struct resource_uri *u;
	struct run_handle *run;
	struct mask *mask;
	/* The result: */
	struct buf type, text;
	bool blob;
	json_t *meta; /* NULL: none */
	uint64_t ttl_ms;
	struct buf wrong; /* what is wrong with the address */
};

static void list_document(struct reading *g, json_t *document)
{
	buf_adds(&g->type, "application/json");
	json_write(&g->text, document, 2);
	json_decref(document);
}

static bool see_recipe(void *data, const struct recipe_info *info)
{
	json_t *all = data;

	json_array_append_new(
		all, json_pack("{s:o, s:s, s:s, s:b, s:b, s:o, s:o}", "id", json_from_str(info->id),
			     "layer", info->layer, "state", recipe_state_name(info->state), "tool",
			     info->tool, "async", info->async, "description",
			     json_from_str(info->description), "error",
			     info->error.len ? json_from_str(info->error) : json_null()));
	return true;
}

static bool read_recipes(struct reading *g)
{
	AUTO_REPORT ignored = REPORT_INIT;
	json_t *all = json_array();

	(void)recipes_each(g->server->app, NULL, see_recipe, all, &ignored);
	list_document(g, json_pack("{s:o}", "recipes", all));
	return true;
}

static bool read_recipe(struct reading *g)
{
	const struct tool *found = catalog_recipe(g->server->catalog, buf_str(&g->u->id));

	if (!found)
		return false;
	buf_adds(&g->type, type_of_format(recipe_ref_format(found->ref)));
	recipe_ref_shown_text(found->ref, &g->text);
	return true;
}

static bool see_run(void *data, const struct run_entry *e)
{
	AUTO_BUF when = BUF_INIT;

	clock_rfc3339(&when, e->started);
	json_array_append_new(
		data, json_pack("{s:o, s:o, s:o, s:s, s:I}", "run", json_from_str(e->id), "recipe",
			      json_from_str(e->recipe), "status", json_from_str(e->status),
			      "started", buf_cstr(&when), "ms", (json_int_t)e->ms));
	return true;
}

static bool read_runs(struct reading *g)
{
	AUTO_REPORT ignored = REPORT_INIT;
	json_t *all = json_array();

	runs_each(g->server->app, &(struct run_filter){ .limit = NEWEST }, see_run, begin_again,
		all, &ignored);
	list_document(g, json_pack("{s:o}", "runs", all));
	return true;
}

static bool read_run(struct reading *g)
{
	static const char *const kept[] = { "recipe", "started", "ended", "ms", "progress",
		"failures_total", "error", "rerun_of" };
	AUTO_JSON *status = run_status_document(g->run);
	json_t *d = run_facts(g->server, g->run);

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (json_object_get(status, kept[i]))
			json_object_set(d, kept[i], json_object_get(status, kept[i]));
	json_object_set_new(d, "steps", run_steps(g->run));
	json_t *shown = mask_json(g->mask, d);
	json_decref(d);
	list_document(g, shown);
	return true;
}

static bool read_number(struct reading *g, const struct buf *text, const char *name, uint64_t *ret)
{
	if (!text->len || str_to_uint(buf_str(text), ret))
		return true;
	buf_printf(&g->wrong, "%s has to be a number", name);
	return false;
}

static bool read_log(struct reading *g)
{
	struct str stream = buf_str(&g->u->stream);
	uint64_t offset = 0, limit = LOG_DEFAULT;
	struct log_found found;
	AUTO_BUF raw = BUF_INIT;

	if (!read_number(g, &g->u->offset, "offset", &offset) ||
		!read_number(g, &g->u->limit, "limit", &limit))
		return true;
	if (limit > LOG_MOST)
		buf_printf(&g->wrong, "limit is at most %d", LOG_MOST);
	else if (stream.len && !str_eq(stream, S("stdout")) && !str_eq(stream, S("stderr")))
		buf_adds(&g->wrong, "stream is stdout or stderr");
	if (g->wrong.len)
		return true;
	int e = run_log_window(g->run,
		&(struct log_window){
			.stream = str_eq(stream, S("stderr")) ? LOG_STDERR : LOG_STDOUT,
			.node = buf_str(&g->u->step),
			.offset = offset,
			.max = limit,
			.tail = !g->u->offset.len,
			.mask = g->mask },
		&raw, &found);
	if (e == -ENOENT)
		return false;
	if (e < 0) {
		buf_printf(&g->wrong, "cannot read the log: %s", strerror(-e));
		return true;
	}
	struct str part = text_window(buf_str(&raw), &found);
	buf_adds(&g->type, "text/plain");
	buf_add(&g->text, part);
	g->meta = json_pack("{s:{s:I, s:I, s:I, s:b, s:b}}", "dev.roux/log", "offset",
		(json_int_t)found.offset, "next", (json_int_t)found.next, "size",
		(json_int_t)found.size, "live", run_status(g->run) == ROUX_RUNNING, "repaired",
		!utf8_valid(part));
	return true;
}

static bool see_event(void *data, struct str line, uint64_t seq)
{
	struct reading *g = data;

	(void)seq;
	if (g->text.len + line.len > EVENTS_MOST)
		return false;
	buf_add(&g->text, line);
	buf_addc(&g->text, '\n');
	return true;
}

static bool read_events(struct reading *g)
{
	uint64_t after = 0;
	struct arena a = ARENA_INIT;

	if (!read_number(g, &g->u->after, "after", &after))
		return true;
	buf_adds(&g->type, "application/jsonl");
	int e = run_events_each(g->run, after + 1, see_event, g);
	if (e < 0) {
		buf_printf(&g->wrong, "cannot read the events: %s", strerror(-e));
		return true;
	}
	AUTO_BUF shown = BUF_INIT;
	buf_add(&shown, mask_text(g->mask, buf_str(&g->text), &a));
	buf_swap(&g->text, &shown);
	arena_done(&a);
	return true;
}

static bool read_artifact(struct reading *g)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_CLOSE int fd = artifact_open(g->run, buf_str(&g->u->name), &ignored);

	if (fd < 0)
		return false;
	int e = fd_read_all(fd, ARTIFACT_MOST, &g->text);
	if (e == -EFBIG) {
		buf_printf(&g->wrong, "the artifact is larger than %d MiB", ARTIFACT_MOST >> 20);
		return true;
	}
	mask_bytes(g->mask, &g->text);
	artifact_type_of(g->run, buf_str(&g->u->name), buf_str(&g->text), &g->type, &g->blob);
	return e == 0;
}

static bool read_doctor(struct reading *g)
{
	AUTO_JSON *doctor = doctor_document(g->server->app, mcp_words);
	json_t *finding;
	size_t i;

	catalog_read(g->server->catalog);
	buf_adds(&g->type, "text/markdown");
	buf_adds(&g->text, "# What needs attention\n\n");
	json_array_foreach(json_object_get(doctor, "findings"), i, finding)
	{
		struct str action = json_text_of(finding, "action");

		buf_printf(&g->text, "- **%.*s** %.*s: %.*s",
			STR(json_text_of(finding, "severity")), STR(json_text_of(finding, "id")),
			STR(json_text_of(finding, "message")));
		buf_printf(&g->text, "%s%.*s\n", action.len ? " — " : "", STR(action));
	}
	vec_each (p, &g->server->catalog->problems)
		buf_printf(&g->text, "- the recipe %.*s is not a tool: %.*s\n", STR(p->id),
			STR(p->text));
	buf_adds(&g->text,
		"\ncodex runs only tools with `effects: read` unless its configuration has "
		"`default_tools_approval_mode = \"approve\"`.\n");
	text_hide_places(&g->text, g->server->app);
	return true;
}

/* -- the method ----------------------------------------------------------------------------------
 */

static bool (*const readers[])(struct reading *g) = {
	[RESOURCE_RECIPES] = read_recipes,
	[RESOURCE_RECIPE] = read_recipe,
	[RESOURCE_RUNS] = read_runs,
	[RESOURCE_DOCTOR] = read_doctor,
	[RESOURCE_RUN] = read_run,
	[RESOURCE_LOG] = read_log,
	[RESOURCE_EVENTS] = read_events,
	[RESOURCE_ARTIFACT] = read_artifact,
};

static bool open_run(struct reading *g, struct report *r)
{
	AUTO_REPORT ignored = REPORT_INIT;

	g->run = mcp_open_run(g->server, buf_str(&g->u->id), &ignored);
	if (!g->run)
		return false;
	g->ttl_ms = run_status(g->run) == ROUX_RUNNING || run_status(g->run) == ROUX_PAUSED
			    ? 0
			    : FINISHED_MS;
	(void)run_mask(g->run, &g->mask, r);
	return true;
}

static void not_found(struct exchange *x, struct str uri)
{
	exchange_fail(x, x->era == ERA_MODERN ? RPC_PARAMS : RPC_NOT_FOUND,
		json_pack("{s:o}", "uri", json_from_str(uri)), "there is no resource '%.*s'",
		STR(uri));
}

static void answer_content(struct exchange *x, json_t *content, uint64_t ttl_ms)
{
	json_t *result = json_pack("{s:[o]}", "contents", content);

	if (x->era == ERA_MODERN) {
		json_object_set_new(result, "ttlMs", json_integer((json_int_t)ttl_ms));
		json_object_set_new(result, "cacheScope", json_string("private"));
	}
	exchange_answer(x, result);
}

static void answer(struct reading *g)
{
	json_t *content = json_pack("{s:o, s:o}", "uri", json_from_str(g->uri), "mimeType",
		json_from_str(buf_str(&g->type)));

	if (g->blob) {
		AUTO_BUF coded = BUF_INIT;

		base64_write(&coded, buf_str(&g->text));
		json_object_set_new(content, "blob", json_from_str(buf_str(&coded)));
	} else {
		json_object_set_new(content, "text", json_from_str(buf_str(&g->text)));
	}
	if (g->meta)
		json_object_set_new(content, "_meta", g->meta);
	answer_content(g->x, content, g->ttl_ms);
}

void method_resources_read(struct exchange *x)
{
	const json_t *uri = json_object_get(x->params, "uri");
	AUTO_REPORT issues = REPORT_INIT;
	struct resource_uri u = { 0 };
	struct reading g = { .x = x, .server = x->session->server, .u = &u, .uri = json_str(uri) };

	if (!json_is_string(uri) || !resource_uri_read(json_str(uri), &u)) {
		exchange_fail(
			x, RPC_PARAMS, NULL, "\"uri\" is not a well-formed address of a resource");
		resource_uri_done(&u);
		return;
	}
	json_t *fixed = u.kind == RESOURCE_NONE ? raw_resource_read(g.server, g.uri) : NULL;
	if (fixed) {
		answer_content(x, fixed, 0);
		resource_uri_done(&u);
		return;
	}
	bool found = u.kind != RESOURCE_NONE && (u.kind < RESOURCE_RUN || open_run(&g, &issues));
	if (found && !issues.errors)
		found = readers[u.kind](&g);
	if (issues.errors)
		exchange_fail_report(x, RPC_PARAMS, &issues);
	else if (!found)
		not_found(x, json_str(uri));
	else if (g.wrong.len)
		exchange_fail(x, RPC_PARAMS, NULL, "%s", buf_cstr(&g.wrong));
	else
		answer(&g);
	buf_done(&g.type);
	buf_done(&g.text);
	buf_done(&g.wrong);
	mask_free(g.mask);
	run_close(g.run);
	resource_uri_done(&u);
}
