/* Doctor, settings, audit, help, metrics. */
#include <inttypes.h>

#include "app/doctor.h"
#include "app/settings.h"
#include "base/audit-file.h"
#include "base/clock.h"
#include "base/run-status.h"
#include "hosts/serve/site/aside.h"

enum { AUDIT_SHOWN = 200 };

static void begin(struct page *p, struct http_request *q, const char *title, enum nav nav)
{
	page_begin(p, q, &(struct page_head){ .title = str_of(title), .nav = nav });
	buf_printf(&p->b, "<h1>%s</h1>", title);
}

/* -- doctor --------------------------------------------------------------------------------------
 */

/* It looks at every run. */
static void make_doctor(struct app *a, struct aside_document *d)
{
	d->value = doctor_document(a, site_words);
}

static void reply_doctor(struct http_request *q, struct aside_document *d)
{
	http_reply_value(q, 200, json_incref(d->value));
}

void rest_doctor(struct http_request *q)
{
	aside_document(q, &(struct aside_document){ .run = S("") }, make_doctor, reply_doctor);
}

static void show_doctor(struct http_request *q, struct aside_document *d)
{
	const json_t *doc = d->value, *finding;
	struct page p;
	size_t i;

	begin(&p, q, "Doctor", NAV_DOCTOR);
	if (json_is_true(json_object_get(doc, "ok")))
		buf_adds(&p.b, "<p class=\"box good\">Nothing needs attention.</p>");
	json_array_foreach(json_object_get(doc, "findings"), i, finding)
	{
		buf_adds(&p.b, "<section class=\"box\"><p><b>");
		html_text(&p.b, json_text_of(finding, "severity"));
		buf_adds(&p.b, "</b> ");
		html_text(&p.b, json_text_of(finding, "id"));
		buf_addc(&p.b, ' ');
		html_text(&p.b, json_text_of(finding, "message"));
		buf_adds(&p.b, "</p><p class=\"quiet\"><code>");
		html_text(&p.b, json_text_of(finding, "path"));
		buf_adds(&p.b, "</code></p><p class=\"hint\">");
		html_text(&p.b, json_text_of(finding, "action"));
		buf_adds(&p.b, "</p></section>");
	}
	buf_adds(&p.b, "<h2>Checked</h2><ul>");
	json_array_foreach(json_object_get(doc, "checked"), i, finding)
	{
		buf_adds(&p.b, "<li>");
		html_text(&p.b, json_str(finding));
		buf_adds(&p.b, "</li>");
	}
	buf_adds(&p.b, "</ul>");
	page_end(&p, 200);
}

void page_doctor(struct http_request *q)
{
	aside_document(q, &(struct aside_document){ .run = S("") }, make_doctor, show_doctor);
}

/* -- settings ------------------------------------------------------------------------------------
 */

static void add(json_t *list, const char *name, json_t *value, bool given)
{
	json_array_append_new(list, json_pack("{s:s, s:o, s:s}", "name", name, "value", value,
					    "origin", given ? "file" : "default"));
}

static json_t *settings_document(struct dashboard *d, struct report *r)
{
	const struct settings *s = app_settings(d->app, r);
	json_t *list = json_array();

	if (!s) {
		json_decref(list);
		return NULL;
	}
	add(list, "jobs", json_integer(s->jobs), s->jobs_given);
	add(list, "max_parallel", json_integer(s->max_parallel), s->max_parallel_given);
	add(list, "grace_ms", json_integer((json_int_t)s->grace_ms), s->grace_given);
	add(list, "durable", json_boolean(s->durable), s->durable_given);
	add(list, "usage", json_string(s->usage == SETTINGS_USAGE_LEDGER ? "ledger" : "file"),
		s->usage_given);
	add(list, "approvals.mcp",
		json_string(s->approvals_mcp == SETTINGS_APPROVALS_DENY ? "deny" : "allow"),
		s->approvals_mcp_given);
	add(list, "retention.max_age_days",
		s->max_age_given ? json_integer((json_int_t)s->max_age_days) : json_null(),
		s->max_age_given);
	add(list, "retention.max_runs",
		s->max_runs_given ? json_integer((json_int_t)s->max_runs) : json_null(),
		s->max_runs_given);
	return json_pack("{s:o, s:b, s:o, s:o, s:o, s:o}", "path", json_from_str(s->path), "found",
		s->found, "state_root", json_from_str(app_state_root(d->app)), "agent_dir",
		json_from_str(app_agent_dir(d->app)), "cwd", json_from_str(app_cwd(d->app)),
		"settings", list);
}

void rest_settings(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	json_t *doc = settings_document(site_of(q), &r);

	if (doc)
		http_reply_value(q, 200, doc);
	else
		ask_refuse(q, &r);
}

void page_settings(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *doc = settings_document(site_of(q), &r);
	const json_t *one;
	struct page p;
	size_t i;

	if (!doc) {
		ask_refuse(q, &r);
		return;
	}
	begin(&p, q, "Settings", NAV_SETTINGS);
	buf_adds(&p.b, "<p>From <code>");
	html_text(&p.b, json_text_of(doc, "path"));
	buf_adds(&p.b, json_truth_of(doc, "found")
			       ? "</code>."
			       : "</code>, which is not there: all are defaults.");
	buf_adds(&p.b, " Options and variables of a command win over it. They are changed there, "
		       "not here.</p>"
		       "<div class=\"scroll\" role=\"region\" aria-label=\"Settings\" "
		       "tabindex=\"0\"><table><thead><tr><th>Setting<th>Value<th>From</tr></"
		       "thead><tbody>");
	json_array_foreach(json_object_get(doc, "settings"), i, one)
	{
		AUTO_BUF value = BUF_INIT;
		const json_t *v = json_object_get(one, "value");

		if (json_is_string(v))
			buf_add(&value, json_str(v));
		else if (json_is_null(v))
			buf_adds(&value, "none");
		else
			json_write(&value, v, 0);
		buf_adds(&p.b, "<tr><td>");
		html_text(&p.b, json_text_of(one, "name"));
		buf_adds(&p.b, "<td>");
		html_text(&p.b, buf_str(&value));
		buf_adds(&p.b, "<td>");
		html_text(&p.b, json_text_of(one, "origin"));
		buf_adds(&p.b, "</tr>");
	}
	buf_adds(&p.b,
		"</tbody></table></div><dl class=\"facts\"><div><dt>State root</dt><dd><code>");
	html_text(&p.b, json_text_of(doc, "state_root"));
	buf_adds(&p.b, "</code></dd></div><div><dt>Works in</dt><dd><code>");
	html_text(&p.b, json_text_of(doc, "cwd"));
	buf_adds(&p.b, "</code></dd></div></dl>");
	page_end(&p, 200);
}

/* -- audit ---------------------------------------------------------------------------------------
 */

struct reading {
	json_t *lines;
	size_t limit;
};

static bool keep_line(void *data, struct str line)
{
	struct reading *r = data;
	json_t *value = json_loadb(line.p, line.len, 0, NULL);

	if (json_is_object(value))
		json_array_append_new(r->lines, value);
	else
		json_decref(value);
	return json_array_size(r->lines) < r->limit;
}

static json_t *audit_lines(struct dashboard *d, size_t limit)
{
	struct reading r = { json_array(), limit };

	if (limit)
		audit_file_each(d->options.audit, keep_line, &r);
	return r.lines;
}

void rest_audit(struct http_request *q)
{
	uint64_t limit = AUDIT_SHOWN;

	if (!ask_number(q, "limit", &limit))
		return;
	http_reply_value(q, 200,
		json_pack("{s:o}", "audit",
			audit_lines(site_of(q), MIN((size_t)limit, (size_t)1000))));
}

void page_audit(struct http_request *q)
{
	static const char *const names[] = { "who", "via", "action", "run", "recipe", "outcome" };
	AUTO_JSON *all = audit_lines(site_of(q), AUDIT_SHOWN);
	const json_t *line;
	struct page p;
	size_t i;

	begin(&p, q, "Audit", NAV_AUDIT);
	buf_adds(&p.b, "<p>Who did what through this server, newest first.</p>");
	if (!json_array_size(all))
		buf_adds(&p.b, "<p class=\"quiet\">Nothing yet.</p>");
	else
		buf_adds(&p.b, "<div class=\"scroll\" role=\"region\" aria-label=\"Audit\" "
			       "tabindex=\"0\"><table><thead><tr><th>When<th>Who<th>Via<th>Did<th>"
			       "Run<th>Recipe<th>Outcome</tr></thead><tbody>");
	json_array_foreach(all, i, line)
	{
		buf_adds(&p.b, "<tr><td>");
		html_time(&p.b, clock_read_rfc3339(json_text_of(line, "ts")));
		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			buf_adds(&p.b, "<td>");
			html_text(&p.b, json_text_of(line, names[k]));
		}
		buf_adds(&p.b, "</tr>");
	}
	if (json_array_size(all))
		buf_adds(&p.b, "</tbody></table></div>");
	page_end(&p, 200);
}

/* -- help ----------------------------------------------------------------------------------------
 */

void page_help(struct http_request *q)
{
	static const char *const meant[SHOWN_STATES] = {
		[STATE_WAITING] = "its turn has not come",
		[STATE_RUNNING] = "it runs now",
		[STATE_DONE] = "it succeeded",
		[STATE_PARTIAL] = "the run came to its end, and something in it failed",
		[STATE_TOLERATED] = "it failed, and its author asked to continue",
		[STATE_FAILED] = "it failed",
		[STATE_SKIPPED] = "its condition did not hold",
		[STATE_RETRYING] = "it failed and is tried again",
		[STATE_PAUSED] = "it waits for a person's answer",
		[STATE_DENIED] = "a person said no",
		[STATE_CANCELLED] = "it was ended on request",
		[STATE_KILLED] = "it was ended at once, on request",
		[STATE_TIMEOUT] = "it ran out of time",
		[STATE_EXITED] =
			"the process that looked after the run vanished; it can be continued",
		[STATE_UNREACHED] = "the run ended before its turn came",
	};
	static const struct {
		const char *key, *does;
	} keys[] = {
		{ "/", "search" },
		{ "j", "next failure or hit" },
		{ "k", "previous failure or hit" },
		{ "f", "follow the log" },
		{ "w", "wrap the lines of a log" },
		{ "g r", "runs" },
		{ "g o", "overview" },
		{ "?", "this page" },
	};
	struct page p;

	begin(&p, q, "Keys and states", NAV_HELP);
	buf_adds(&p.b, "<h2>States</h2><dl class=\"legendlist\">");
	for (enum shown_state s = 0; s < SHOWN_STATES; s++) {
		buf_adds(&p.b, "<div><dt>");
		state_html(&p.b, s);
		buf_printf(&p.b, "</dt><dd>%s</dd></div>", meant[s]);
	}
	buf_adds(&p.b, "</dl><h2>Keys</h2><p><label><input type=\"checkbox\" id=\"keys\" checked> "
		       "Single keys work</label></p><dl class=\"legendlist\">");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		buf_printf(&p.b, "<div><dt><kbd>%s</kbd></dt><dd>%s</dd></div>", keys[i].key,
			keys[i].does);
	buf_adds(&p.b, "</dl><h2>From scripts</h2><p>Everything here is at <code>/api/v1</code> "
		       "too; <a href=\"/api/v1/openapi.json\">openapi.json</a> lists it. "
		       "<code>roux serve token add NAME --scope read</code> makes a token.</p>");
	page_end(&p, 200);
}

/* -- metrics -------------------------------------------------------------------------------------
 */

void page_metrics(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct runs_counted n;
	struct http_counts c = http_counts(http_door(q));
	AUTO_BUF b = BUF_INIT;

	if (runs_count(site_of(q)->app, &n, &r)) {
		buf_adds(&b, "# HELP roux_runs Runs by status.\n# TYPE roux_runs gauge\n");
		for (enum roux_status s = ROUX_RUNNING; s <= ROUX_EXITED; s++)
			buf_printf(&b, "roux_runs{status=\"%s\"} %" PRIu64 "\n", status_name(s),
				n.by_status[s]);
	}
	buf_printf(&b,
		"# HELP roux_http_connections Open connections.\n# TYPE roux_http_connections "
		"gauge\nroux_http_connections %zu\n"
		"# HELP roux_http_streams Open streams.\n# TYPE roux_http_streams "
		"gauge\nroux_http_streams %zu\n"
		"# HELP roux_http_requests_total Requests.\n# TYPE roux_http_requests_total "
		"counter\nroux_http_requests_total %" PRIu64 "\n",
		c.connections, c.streams, c.requests);
	http_add_header(q, "Cache-Control", S("no-store"));
	http_reply_bytes(q,
		&(struct http_content){ .type = "text/plain; version=0.0.4; charset=utf-8" }, &b);
}
