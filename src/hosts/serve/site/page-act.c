/* Pages that say what will happen, and what their buttons do. */
#include <inttypes.h>
#include <string.h>

#include "app/logs.h"
#include "base/clock.h"
#include "base/run-status.h"
#include "hosts/serve/site/act.h"

enum { COMMENT_MAX = 2000 }; /* characters */

/* Back to the run, so that a reload does not post again. */
static void back(struct http_request *q, struct str run)
{
	AUTO_BUF url = BUF_INIT;

	run_url(&url, run, "");
	http_redirect(q, 303, buf_str(&url));
}

static void begin(struct page *p, struct http_request *q, const char *title)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "%s %.*s", title, STR(http_param(q, "id")));
	page_begin(p, q, &(struct page_head){ .title = buf_str(&text), .nav = NAV_RUNS });
	buf_adds(&p->b, "<p class=\"crumbs\">");
	page_run_link(p, http_param(q, "id"));
	buf_printf(&p->b, "</p><h1>%s</h1>", title);
}

static void form(struct page *p, struct run_model *m, const char *rest, const json_t *plan)
{
	AUTO_BUF action = BUF_INIT;

	run_url(&action, http_param(p->q, "id"), rest);
	page_form(p, buf_str(&action), "act");
	page_hidden(p, "generation", run_model_generation(m));
	if (plan)
		page_hidden(p, "digest", json_text_of(plan, "digest"));
}

static void put_changed(struct page *p, bool changed)
{
	if (changed)
		buf_adds(&p->b,
			"<div class=\"box bad\" role=\"alert\"><p>What would run has changed since "
			"you looked. Nothing was done; this is the plan now.</p></div>");
}

/* -- gates ---------------------------------------------------------------------------------------
 */

static void put_question(struct page *p, const json_t *gate)
{
	struct buf *b = &p->b;
	json_int_t timeout = json_number_of(gate, "timeout");
	uint64_t since = clock_read_rfc3339(json_text_of(gate, "since"));
	bool approves = str_eq(json_text_of(gate, "default"), S("approve"));

	buf_adds(
		b, "<section class=\"box gate\" aria-labelledby=\"question\"><h2 id=\"question\">");
	html_text(b, json_text_of(gate, "stage"));
	buf_adds(b, "</h2>");
	page_prose(p, str_trim(json_text_of(gate, "prompt")));
	buf_adds(b, "<p class=\"quiet\">Asked ");
	html_time(b, since);
	if (timeout > 0) {
		buf_adds(b, ". Without an answer until ");
		html_time(b, since + (uint64_t)timeout * 1000);
		buf_printf(b, " it is %s.", approves ? "<b>approved</b>" : "<b>denied</b>");
	} else {
		buf_adds(b, ". It waits until it is answered.");
	}
	buf_adds(b, "</p></section>");
}

static void gate_page(struct http_request *q, struct run_model *m, const json_t *gate,
	const json_t *plan, bool changed, unsigned status)
{
	struct page p;

	begin(&p, q, "Answer");
	put_changed(&p, changed);
	put_question(&p, gate);
	put_plan(&p, plan);
	if (!page_may(q, HTTP_ANSWER)) {
		buf_adds(&p.b, "<p class=\"quiet\">You may look at this, and not answer it.</p>");
	} else {
		form(&p, m, "/gate", plan);
		page_hidden(&p, "stage", json_text_of(gate, "stage"));
		buf_adds(&p.b,
			"<p><label for=\"comment\">Comment, kept with the answer; later steps can "
			"read it</label>"
			"<textarea id=\"comment\" name=\"comment\" maxlength=\"2000\" "
			"rows=\"3\"></textarea></p>"
			"<p><label><input type=\"checkbox\" name=\"resume\" value=\"1\" checked> "
			"Continue at once "
			"when approved</label></p>"
			"<p class=\"buttons\"><button name=\"answer\" value=\"approve\" "
			"class=\"go\">Approve</button> "
			"<button name=\"answer\" value=\"deny\" class=\"stop\">Deny</button></p>"
			"<p class=\"quiet\">Closing this page does not answer the question. Deny "
			"is "
			"final: the run ends.</p></form>");
	}
	page_end(&p, status);
}

/* The question and what an approval would run. False: refused, or replied. */
static bool read_gate(
	struct http_request *q, struct run_model *m, json_t **ret_gate, json_t **ret_plan)
{
	AUTO_REPORT r = REPORT_INIT;
	const struct again what = { .resume = true };
	AUTO_JSON *status = run_status_document(run_model_run(m));
	json_t *gate = json_object_get(status, "pending_approval");

	if (!json_is_object(gate)) {
		act_refuse_answer(q);
		return false;
	}
	*ret_plan = again_plan(site_of(q), http_param(q, "id"), &what, &r);
	if (!*ret_plan) {
		ask_refuse(q, &r);
		return false;
	}
	*ret_gate = json_incref(gate);
	return true;
}

void page_gate(struct http_request *q)
{
	struct run_model *m = ask_run(q);
	AUTO_JSON *gate = NULL;
	AUTO_JSON *plan = NULL;

	if (m && read_gate(q, m, &gate, &plan))
		gate_page(q, m, gate, plan, false, 200);
}

static bool comment_fits(struct http_request *q, struct str comment)
{
	size_t characters = 0;

	for (size_t i = 0; i < comment.len; i++)
		characters += (comment.p[i] & 0xc0) != 0x80;
	if (characters <= COMMENT_MAX)
		return true;
	http_refuse(q, 400, NULL, NULL, "the comment has %zu characters, expected at most %d",
		characters, COMMENT_MAX);
	return false;
}

void post_gate(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_model *m = ask_run(q);
	AUTO_JSON *gate = NULL;
	AUTO_JSON *plan = NULL;
	const char *answer = ask_text(q, "answer"), *stage = ask_text(q, "stage");
	struct str comment = str_of(ask_text(q, "comment"));

	if (!m || !act_is_current(q, m, NULL))
		return;
	if (!answer || (strcmp(answer, "approve") != 0 && strcmp(answer, "deny") != 0)) {
		http_refuse(q, 400, NULL, NULL, "the answer is neither approve nor deny");
		return;
	}
	http_audit_note(q, "answer", str_of(answer));
	if (!comment_fits(q, comment))
		return;
	bool approve = strcmp(answer, "approve") == 0;
	if ((approve && !http_check_audit(q)) || !read_gate(q, m, &gate, &plan))
		return;
	if (approve && (!ask_text(q, "digest") || !act_digest_fits(q, plan))) {
		gate_page(q, m, gate, plan, true, 409);
		return;
	}
	const struct again resume = { .resume = true };
	AUTO_JSON *doc = act_answer(q, http_param(q, "id"), approve, stage, comment,
		approve ? json_text_of(plan, "digest") : S(""),
		ask_bool(q, "resume", false) ? &resume : NULL, &r);
	if (doc)
		back(q, http_param(q, "id"));
	else
		ask_refuse(q, &r);
}

static void rest_answer(struct http_request *q, bool approve)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_model *m;
	AUTO_JSON *plan = NULL;
	struct again resume;

	if (!ask_only(q, approve ? "stage comment resume in_doubt generation digest csrf"
				 : "stage reason generation csrf"))
		return;
	if (!again_read(q, true, &resume) || !(m = ask_run(q)) || !act_is_current(q, m, NULL))
		return;
	resume.resume = true;
	if (approve && !act_answer_plan(q, m, &plan))
		return;
	struct str comment = str_of(ask_text(q, approve ? "comment" : "reason"));
	if (!comment_fits(q, comment))
		return;
	json_t *doc = act_answer(q, http_param(q, "id"), approve, ask_text(q, "stage"), comment,
		json_text_of(plan, "digest"), ask_bool(q, "resume", true) ? &resume : NULL, &r);
	if (doc)
		http_reply_value(q, 200, doc);
	else
		ask_refuse(q, &r);
}

void rest_approve(struct http_request *q)
{
	rest_answer(q, true);
}

void rest_deny(struct http_request *q)
{
	rest_answer(q, false);
}

/* -- again ---------------------------------------------------------------------------------------
 */

static void put_difference(struct buf *b, struct str mark, struct str line)
{
	const char *tag = str_eq(mark, S("-")) ? "del" : str_eq(mark, S("+")) ? "ins" : NULL;

	if (tag)
		buf_printf(b, "<%s>", tag);
	html_text(b, mark);
	buf_addc(b, ' ');
	html_text(b, line);
	if (tag)
		buf_printf(b, "</%s>", tag);
	buf_addc(b, '\n');
}

/* The files of the recipe that are others now. */
static void put_sources(struct buf *b, const json_t *sources)
{
	const json_t *source, *line;
	size_t i, n;

	json_array_foreach(sources, i, source)
	{
		buf_adds(b, "<details class=\"box\" open><summary>What has changed in <code>");
		html_text(b, json_text_of(source, "path"));
		buf_adds(b, "</code></summary><pre class=\"diff\">");
		json_array_foreach(json_object_get(source, "lines"), n, line) put_difference(
			b, json_str(json_array_get(line, 0)), json_str(json_array_get(line, 1)));
		buf_adds(b, json_is_true(json_object_get(source, "cut")) ? "⋯\n</pre></details>"
									 : "</pre></details>");
	}
}

static void again_page(struct http_request *q, struct run_model *m, const struct again *what,
	const json_t *plan, bool changed, unsigned status)
{
	struct page p;
	struct buf *b = &p.b;

	begin(&p, q, what->resume ? "Continue" : "Again");
	put_changed(&p, changed);
	if (what->resume)
		buf_adds(b, "<p>The run continues under its own name: what has succeeded is not "
			    "executed "
			    "again.</p>");
	else
		buf_adds(b, "<p>A new run repeats this one with its values. <a href=\"?all=1\">The "
			    "whole</a> · "
			    "<a href=\"?\">What failed or was not reached</a></p>");
	if (json_is_true(json_object_get(json_object_get(plan, "changed"), "recipe"))) {
		AUTO_JSON *doc = run_status_document(run_model_run(m));
		struct str recipe = json_text_of(doc, "recipe");

		buf_adds(b,
			"<p class=\"box\">The recipe has changed since: this repeats the old one.");
		if (recipe.len) {
			buf_adds(b, " <a href=\"/recipes/");
			html_url(b, recipe);
			buf_adds(b, "\">Start the new one</a> instead.");
		}
		buf_adds(b, "</p>");
		put_sources(b, json_object_get(json_object_get(plan, "changed"), "sources"));
	}
	put_plan(&p, plan);
	if (page_may(q, HTTP_RUN)) {
		form(&p, m, "/again", plan);
		page_hidden(&p, "do", what->resume ? S("resume") : S("again"));
		if (what->from)
			page_hidden(&p, what->only ? "only" : "from", str_of(what->from));
		if (what->all)
			page_hidden(&p, "all", S("1"));
		if (what->resume)
			buf_adds(b, "<p><label>Commands that were running when it was cut short "
				    "<select name=\"in_doubt\">"
				    "<option value=\"rerun\">run again<option value=\"stop\">stop "
				    "there</select></label></p>");
		else
			buf_adds(b, "<p><label>Name of the new run <input name=\"as\" "
				    "autocomplete=\"off\" "
				    "placeholder=\"made by itself\"></label></p>");
		buf_printf(b, "<p class=\"buttons\"><button class=\"go\">%s</button></p></form>",
			what->resume ? "Continue" : "Start the new run");
	}
	page_end(&p, status);
}

/* Of a run that has come to its end nothing is left to do but the whole. */
static void choose_whole(struct run_model *m, struct again *what)
{
	struct str word = run_status_word(run_model_run(m));

	if (!what->resume && !what->from && status_rests(word, STATUS_COMPLETE))
		what->all = true;
}

void page_again(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct again what;
	struct run_model *m;

	if (!again_read(q, false, &what) || !(m = ask_run(q)))
		return;
	choose_whole(m, &what);
	AUTO_JSON *plan = again_plan(site_of(q), http_param(q, "id"), &what, &r);
	if (plan)
		again_page(q, m, &what, plan, false, 200);
	else
		ask_refuse(q, &r);
}

void post_again(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct again what;
	struct run_model *m;
	struct str run;

	if (!again_read(q, true, &what) || !(m = ask_run(q)) || !act_is_current(q, m, NULL))
		return;
	choose_whole(m, &what);
	http_audit_note(q, "do", what.resume ? S("resume") : S("again"));
	AUTO_JSON *plan = again_plan(site_of(q), http_param(q, "id"), &what, &r);
	if (!plan) {
		ask_refuse(q, &r);
		return;
	}
	if (!ask_text(q, "digest") || !act_digest_fits(q, plan)) {
		again_page(q, m, &what, plan, true, 409);
		return;
	}
	AUTO_JSON *doc = again_do(q, http_param(q, "id"), &what, &run, &r);
	if (doc)
		back(q, run);
	else
		ask_refuse(q, &r);
}

static void rest_again(struct http_request *q, bool resume)
{
	AUTO_REPORT r = REPORT_INIT;
	struct again what;
	struct run_model *m;
	AUTO_BUF location = BUF_INIT;
	struct str run;

	if (!ask_only(q, resume ? "in_doubt generation digest csrf"
				: "from only all values secrets as generation digest csrf"))
		return;
	if (!again_read(q, true, &what) || !(m = ask_run(q)) || !act_is_current(q, m, NULL))
		return;
	what.resume = resume;
	if (ask_text(q, "digest")) {
		AUTO_JSON *plan = again_plan(site_of(q), http_param(q, "id"), &what, &r);

		if (!plan) {
			ask_refuse_values(q, &r);
			return;
		}
		if (!act_is_current(q, m, plan))
			return;
	}
	json_t *doc = again_do(q, http_param(q, "id"), &what, &run, &r);
	if (!doc) {
		ask_refuse_values(q, &r);
		return;
	}
	if (!resume) {
		buf_adds(&location, "/api/v1");
		run_url(&location, run, "");
		http_add_header(q, "Location", buf_str(&location));
	}
	http_reply_value(q, resume ? 202 : 201, doc);
}

void rest_resume(struct http_request *q)
{
	rest_again(q, true);
}

void rest_rerun(struct http_request *q)
{
	rest_again(q, false);
}

void rest_plan(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct again what;
	struct run_model *m;

	if (!again_read(q, false, &what) || !(m = ask_run(q)))
		return;
	json_t *plan = again_plan(site_of(q), http_param(q, "id"), &what, &r);
	if (plan)
		http_reply_value(q, 200, plan);
	else
		ask_refuse(q, &r);
}

/* -- stopping ------------------------------------------------------------------------------------
 */

static void put_running(struct page *p, struct run_model *m, const struct past_node *n,
	const json_t *processes, size_t *count)
{
	struct node_view v;

	run_model_view(m, n, &v);
	for (size_t i = 0; i < past_node_children(n); i++)
		put_running(p, m, past_node_child(n, i), processes, count);
	if (v.group || v.state != STATE_RUNNING || ++*count > 50)
		return;
	buf_adds(&p->b, "<li><code>");
	html_cut(&p->b, v.text, 160);
	buf_adds(&p->b, "</code> since ");
	page_duration(&p->b, v.ms);
	const json_t *pid = json_object_getn(processes, v.path.p, v.path.len);
	if (pid)
		buf_printf(&p->b, ", process %" JSON_INTEGER_FORMAT, json_integer_value(pid));
	buf_adds(&p->b, "</li>");
}

void page_stop(struct http_request *q)
{
	struct run_model *m = ask_run(q);
	struct page p;
	size_t count = 0;

	if (!m)
		return;
	if (!run_model_live(m)) {
		http_refuse(q, 409, "not running", NULL,
			"the run '%.*s' is not running: it is %.*s", STR(http_param(q, "id")),
			STR(run_status_word(run_model_run(m))));
		return;
	}
	begin(&p, q, "Stop");
	buf_adds(&p.b, "<p>These commands run now, and everything that they started ends with "
		       "them:</p><ul class=\"leaves\">");
	AUTO_JSON *processes = run_model_processes(m);
	if (run_model_root(m))
		put_running(&p, m, run_model_root(m), processes, &count);
	buf_adds(&p.b, "</ul>");
	if (!count)
		buf_adds(&p.b, "<p class=\"quiet\">No command runs at this moment.</p>");
	if (page_may(q, HTTP_RUN)) {
		form(&p, m, "/stop", NULL);
		buf_adds(&p.b, "<p><label><input type=\"radio\" name=\"how\" value=\"cancel\" "
			       "checked> Cancel: they are asked to end, and "
			       "killed after the grace time</label></p>"
			       "<p><label><input type=\"radio\" name=\"how\" value=\"graceful\"> "
			       "Let them finish, and start no more</label></p>"
			       "<p><label><input type=\"radio\" name=\"how\" value=\"kill\"> Kill "
			       "at once, without asking</label></p>"
			       "<p><label>Grace time in milliseconds <input name=\"grace_ms\" "
			       "inputmode=\"numeric\" "
			       "placeholder=\"that of the run\"></label></p>"
			       "<p class=\"buttons\"><button class=\"stop\">Stop the "
			       "run</button></p></form>");
	}
	page_end(&p, 200);
}

static bool read_grace(struct http_request *q, int *ret)
{
	const json_t *value = http_member(q, "grace_ms");
	uint64_t ms = 0;

	*ret = -1;
	if (json_is_integer(value) && json_integer_value(value) >= 0 &&
		json_integer_value(value) <= 86400000)
		*ret = (int)json_integer_value(value);
	else if (json_is_string(value) && json_string_length(value)) {
		if (!str_to_uint(json_str(value), &ms) || ms > 86400000) {
			http_refuse(q, 400, NULL, NULL, "grace_ms is not a number of milliseconds");
			return false;
		}
		*ret = (int)ms;
	} else if (value && !json_is_null(value) && !json_is_string(value)) {
		http_refuse(q, 400, NULL, NULL, "grace_ms is not a number of milliseconds");
		return false;
	}
	return true;
}

void post_stop(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_model *m = ask_run(q);
	const char *how = ask_text(q, "how");
	int grace;

	if (!m || !act_is_current(q, m, NULL) || !read_grace(q, &grace))
		return;
	bool kill = how && strcmp(how, "kill") == 0, graceful = how && strcmp(how, "graceful") == 0;
	http_audit_note(q, "how", kill ? S("kill") : graceful ? S("graceful") : S("cancel"));
	AUTO_JSON *doc = act_stop(m, kill, graceful, grace, &r);
	if (doc)
		back(q, http_param(q, "id"));
	else
		ask_refuse(q, &r);
}

static void rest_stop(struct http_request *q, bool kill)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_model *m;
	int grace;

	if (!ask_only(q, kill ? "generation csrf" : "graceful grace_ms generation csrf"))
		return;
	m = ask_run(q);
	if (!m || !act_is_current(q, m, NULL) || !read_grace(q, &grace))
		return;
	json_t *doc = act_stop(m, kill, ask_bool(q, "graceful", false), grace, &r);
	if (doc)
		http_reply_value(q, 202, doc);
	else
		ask_refuse(q, &r);
}

void rest_cancel(struct http_request *q)
{
	rest_stop(q, false);
}

void rest_kill(struct http_request *q)
{
	rest_stop(q, true);
}

/* -- messages, archive ---------------------------------------------------------------------------
 */

void page_message(struct http_request *q)
{
	struct run_model *m = ask_run(q);
	struct page p;

	if (!m)
		return;
	begin(&p, q, "Message");
	AUTO_JSON *status = run_status_document(run_model_run(m));
	const json_t *mailbox = json_object_get(status, "mailbox");
	if (json_is_object(mailbox)) {
		AUTO_BUF text = BUF_INIT;

		json_write(&text, mailbox, 2);
		buf_adds(&p.b, "<details><summary>What the recipe declares</summary><pre "
			       "class=\"log\" tabindex=\"0\">");
		html_text(&p.b, buf_str(&text));
		buf_adds(&p.b, "</pre></details>");
	}
	if (page_may(q, HTTP_RUN) && run_model_live(m)) {
		form(&p, m, "/message", NULL);
		buf_adds(&p.b,
			"<p><label for=\"type\">Type</label> <input id=\"type\" name=\"type\" "
			"value=\"run.message\"></p>"
			"<p><label for=\"body\">Body: JSON, or a string</label><textarea "
			"id=\"body\" "
			"name=\"body\" rows=\"5\"></textarea></p>"
			"<p class=\"buttons\"><button class=\"go\">Send</button></p></form>");
	} else {
		buf_adds(&p.b,
			"<p class=\"quiet\">A message can be sent to a run that is running.</p>");
	}
	page_end(&p, 200);
}

void post_message(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_model *m = ask_run(q);

	if (!m || !act_is_current(q, m, NULL))
		return;
	AUTO_JSON *doc = act_message(q, http_param(q, "id"), &r);
	if (!doc) {
		ask_refuse(q, &r);
		return;
	}
	AUTO_BUF url = BUF_INIT;
	run_url(&url, http_param(q, "id"), "/messages");
	http_redirect(q, 303, buf_str(&url));
}

void rest_message(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_model *m;

	if (!ask_only(q, "type body envelope generation csrf"))
		return;
	m = ask_run(q);
	if (!m || !act_is_current(q, m, NULL))
		return;
	json_t *doc = act_message(q, http_param(q, "id"), &r);
	if (doc)
		http_reply_value(q, 200, doc);
	else
		ask_refuse(q, &r);
}

void page_archive(struct http_request *q)
{
	struct run_model *m = ask_run(q);
	struct page p;

	if (!m)
		return;
	begin(&p, q, "Archive");
	buf_adds(&p.b, "<p>Its directory, with all its generations, moves out of the list into "
		       "<code>archived/</code> of the state root; nothing is deleted, and the name "
		       "is free again.</p>");
	if (run_model_live(m)) {
		buf_adds(&p.b, "<p class=\"quiet\">The run is running: it can be archived when it "
			       "has ended.</p>");
	} else if (page_may(q, HTTP_RUN)) {
		form(&p, m, "/archive", NULL);
		buf_adds(&p.b,
			"<p class=\"buttons\"><button class=\"go\">Archive</button></p></form>");
	}
	page_end(&p, 200);
}

void post_archive(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_model *m = ask_run(q);

	if (!m || !act_is_current(q, m, NULL))
		return;
	AUTO_JSON *doc = act_archive(m, &r);
	if (doc)
		http_redirect(q, 303, S("/runs"));
	else
		ask_refuse(q, &r);
}

void rest_archive(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_model *m;

	if (!ask_only(q, "generation csrf"))
		return;
	m = ask_run(q);
	if (!m || !act_is_current(q, m, NULL))
		return;
	json_t *doc = act_archive(m, &r);
	if (doc)
		http_reply_value(q, 200, doc);
	else
		ask_refuse(q, &r);
}
