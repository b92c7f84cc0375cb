#include "hosts/serve/site/act.h"

#include <inttypes.h>
#include <string.h>

#include "app/gates.h"
#include "app/messages.h"
#include "app/plans.h"
#include "app/trust.h"
#include "base/run-status.h"

/* Who acts: kept with answers. */
static struct str act_who(struct http_request *q)
{
	const struct http_principal *p = http_principal(q);

	if (p->via == HTTP_VIA_TOKEN)
		return arena_printf(http_arena(q), "token:%.*s", STR(p->name));
	return p->name;
}

static struct request request_of(struct http_request *q)
{
	struct request r = REQUEST_INIT;

	(void)q;
	r.record = true;
	r.detach = DETACH_ALWAYS;
	r.owner = "";
	r.how = "serve";
	return r;
}

/* -- what is asked for must still be so ----------------------------------------------------------
 */

bool act_digest_fits(struct http_request *q, const json_t *plan)
{
	const char *given = ask_text(q, "digest");
	struct str now = json_text_of(plan, "digest");

	if (now.len)
		http_audit_note(q, "digest", now);
	return !given || str_eq(str_of(given), now);
}

bool act_is_current(struct http_request *q, struct run_model *m, const json_t *plan)
{
	const char *generation = ask_text(q, "generation");

	if (!ask_kinds(q))
		return false;
	http_audit_note(q, "run", http_param(q, "id"));
	http_audit_note(q, "generation", run_model_generation(m));
	if (generation && !str_eq(str_of(generation), run_model_generation(m))) {
		http_refuse(q, 409, "another generation", "look at the run again",
			"the run '%.*s' was started again meanwhile", STR(http_param(q, "id")));
		return false;
	}
	if (!plan || act_digest_fits(q, plan))
		return true;
	AUTO_BUF b = BUF_INIT;
	AUTO_JSON *doc = json_pack("{s:b, s:s, s:s, s:s, s:s, s:O}", "ok", 0, "status", "refused",
		"error", "the plan has changed since it was shown", "reason", "plan changed",
		"hint", "look at the plan again", "plan", (json_t *)plan);
	json_write(&b, doc, 0);
	buf_addc(&b, '\n');
	http_refuse_document(q, 409, &b);
	return false;
}

/* -- again ---------------------------------------------------------------------------------------
 */

static const char *word_of(struct http_request *q, bool body, const char *name)
{
	struct str text;

	if (body)
		return ask_text(q, name);
	return http_query(q, name, &text) ? arena_cstr(http_arena(q), text) : NULL;
}

bool again_read(struct http_request *q, bool body, struct again *ret)
{
	const char *what = word_of(q, body, "do"), *only = word_of(q, body, "only");
	const char *all = word_of(q, body, "all"), *doubt = word_of(q, body, "in_doubt");

	*ret = (struct again){ .from = word_of(q, body, "from"), .as = word_of(q, body, "as") };
	ret->resume = what && strcmp(what, "resume") == 0;
	if (what && !ret->resume && strcmp(what, "again") != 0) {
		http_refuse(q, 400, NULL, "resume or again", "do is '%s'", what);
		return false;
	}
	if (doubt && strcmp(doubt, "rerun") != 0 && strcmp(doubt, "stop") != 0) {
		http_refuse(q, 400, NULL, "rerun or stop", "in_doubt is '%s'", doubt);
		return false;
	}
	ret->stop_in_doubt = doubt && strcmp(doubt, "stop") == 0;
	if (body && json_is_true(http_member(q, "only"))) {
		ret->only = true;
	} else if (only) {
		ret->only = true;
		ret->from = only;
	}
	ret->all = !ret->from && ((all && strcmp(all, "1") == 0) ||
					 (body && json_is_true(http_member(q, "all"))));
	if (ret->from && strcmp(ret->from, "root") == 0) {
		ret->from = NULL;
		ret->only = false;
		ret->all = true;
	}
	if (!body)
		return true;
	json_t *values = http_member(q, "values"), *secrets = http_member(q, "secrets");
	ret->values = json_is_object(values) ? values : NULL;
	ret->secrets = json_is_object(secrets) ? secrets : NULL;
	return true;
}

/* Both, and the names of the second. */
static json_t *values_of(const struct again *what, json_t **ret_names)
{
	json_t *values = what->values ? json_copy(what->values) : json_object(), *value;
	const char *name;

	*ret_names = NULL;
	json_object_foreach(what->secrets, name, value)
	{
		json_object_set(values, name, value);
		*ret_names = *ret_names ? *ret_names : json_array();
		json_array_append_new(*ret_names, json_string(name));
	}
	return values;
}

static const char *run_word(struct arena *a, struct str run)
{
	return arena_cstr(a, arena_printf(a, "run:%.*s", STR(run)));
}

json_t *again_plan(struct dashboard *d, struct str run, const struct again *what, struct report *r)
{
	struct arena a = ARENA_INIT;
	json_t *names;
	AUTO_JSON *values = values_of(what, &names);
	const struct rerun_request q = { .request = REQUEST_INIT,
		.values = values,
		.from = what->from,
		.only = what->only,
		.all = what->all };
	json_t *plan = run_plan_document(d->app, run_word(&a, run), &q, what->resume, r);

	json_decref(names);
	arena_done(&a);
	return plan;
}

json_t *again_do(struct http_request *q, struct str run, const struct again *what,
	struct str *ret_run, struct report *r)
{
	struct arena a = ARENA_INIT;
	struct request request = request_of(q);
	json_t *names;
	AUTO_JSON *values = values_of(what, &names);
	struct app *app = site_of(q)->app;
	struct run_handle *h;
	json_t *doc = NULL;
	bool over = false;

	request.as = what->as;
	request.secrets = names;
	if (what->resume)
		h = runs_resume(app, run_word(&a, run),
			&(struct resume_request){ .request = request,
				.values = values,
				.stop_in_doubt = what->stop_in_doubt },
			&over, r);
	else
		h = runs_rerun(app, run_word(&a, run),
			&(struct rerun_request){ .request = request,
				.values = values,
				.from = what->from,
				.only = what->only,
				.all = what->all },
			r);
	if (h) {
		*ret_run = arena_str(http_arena(q), run_id(h));
		doc = over ? run_result_document(h, r) : run_started_document(h);
		run_close(h);
	}
	json_decref(names);
	arena_done(&a);
	return doc;
}

/* -- answers -------------------------------------------------------------------------------------
 */

void act_refuse_answer(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;

	if (gate_refused(site_of(q)->app, ask_run_word(q), &r))
		report_refuse(&r, http_param(q, "id"), "nothing to approve",
			"the run has just begun to wait for an approval");
	ask_refuse(q, &r);
}

bool act_answer_plan(struct http_request *q, struct run_model *m, json_t **ret)
{
	AUTO_REPORT r = REPORT_INIT;
	const struct again what = { .resume = true };
	bool waits = status_rests(run_status_word(run_model_run(m)), STATUS_AT_GATE);

	*ret = waits ? again_plan(site_of(q), http_param(q, "id"), &what, &r) : NULL;
	if (*ret)
		return act_is_current(q, m, *ret);
	if (!ask_text(q, "digest"))
		return true;
	if (waits)
		ask_refuse(q, &r);
	else
		act_refuse_answer(q);
	return false;
}

json_t *act_answer(struct http_request *q, struct str run, bool approve, const char *stage,
	struct str text, struct str digest, const struct again *resume, struct report *r)
{
	struct app *app = site_of(q)->app;
	struct arena a = ARENA_INIT;
	const char *name = run_word(&a, run);
	bool asked = gate_is_asked(app, name);
	struct gate_decided decided;
	json_t *doc = NULL;

	if (gate_decide(app,
		    &(struct gate_decision){ .run = name,
			    .stage = stage,
			    .approve = approve,
			    .text = text,
			    .by = act_who(q),
			    .digest = digest },
		    &decided, r)) {
		doc = json_pack("{s:b, s:s, s:o, s:o}", "ok", 1, "status",
			approve ? "approved" : "denied", "run", json_from_str(run), "stage",
			json_from_str(decided.stage));
		if (approve && resume && !asked) {
			struct str started = S("");
			AUTO_REPORT issues = REPORT_INIT;
			json_t *begun = decided.under_way
						? NULL
						: again_do(q, run, resume, &started, &issues);

			/* The answer is kept; another process may have continued it. */
			json_object_set_new(doc, "resumed", json_boolean(begun != NULL));
			json_decref(begun);
		}
	}
	arena_done(&a);
	return doc;
}

/* -- ending --------------------------------------------------------------------------------------
 */

json_t *act_stop(struct run_model *m, bool kill, bool graceful, int grace_ms, struct report *r)
{
	struct run_handle *h = run_model_run(m);

	if (!run_order(h, kill ? RUN_KILL : graceful ? RUN_FINISH : RUN_CANCEL, grace_ms, r))
		return NULL;
	return json_pack("{s:b, s:o, s:o}", "ok", 1, "status", json_from_str(run_status_word(h)),
		"run", json_from_str(run_id(h)));
}

json_t *act_archive(struct run_model *m, struct report *r)
{
	struct run_handle *h = run_model_run(m);
	struct str path;

	if (!run_archive(h, &path, r))
		return NULL;
	return json_pack("{s:b, s:o, s:o, s:o}", "ok", 1, "status",
		json_from_str(run_status_word(h)), "run", json_from_str(run_id(h)), "path",
		json_from_str(path));
}

json_t *act_message(struct http_request *q, struct str run, struct report *r)
{
	struct arena a = ARENA_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	json_t *body = http_member(q, "body"), *envelope = http_member(q, "envelope"), *doc = NULL;
	AUTO_JSON *read = NULL;
	struct message_answer answer = { 0 };

	/* A form has text: JSON when it is some. */
	if (!http_json(q) && json_is_string(body)) {
		struct source source = { S("body"), json_str(body) };

		read = json_read(&source, &ignored);
		body = read ? read : body;
	}
	const struct message_request m = { .run = run_word(&a, run),
		.type = str_of(ask_text(q, "type")),
		.body = body,
		.envelope = json_is_object(envelope) ? envelope : NULL };
	if (messages_host_order(m.type)) {
		report_error(r, (struct where){ 0 },
			"'%.*s' is an order: its own request does that", STR(m.type));
	} else if (messages_send(site_of(q)->app, &m, &answer, r)) {
		doc = json_pack("{s:b, s:b, s:b, s:s?, s:s}", "ok", 1, "sent", answer.sent,
			"queued", answer.queued, "transport", answer.transport, "id",
			buf_cstr(&answer.id));
		if (answer.waits_for)
			json_object_set_new(doc, "waits_for", json_string(answer.waits_for));
	}
	message_answer_done(&answer);
	arena_done(&a);
	return doc;
}

/* -- starting ------------------------------------------------------------------------------------
 */

struct wanted {
	struct str id;
	struct recipe_ref *ref;
	bool found, invalid, disabled;
};

static bool see_recipe(void *data, const struct recipe_info *info)
{
	struct wanted *w = data;

	if (!str_eq(info->id, w->id))
		return true;
	w->found = true;
	w->invalid = info->state == RECIPE_INVALID;
	w->disabled = info->state == RECIPE_DISABLED;
	if (info->ref)
		w->ref = recipe_ref_share(info->ref);
	return false;
}

struct recipe_ref *act_recipe(struct dashboard *d, struct str id, struct report *r)
{
	struct wanted w = { .id = id };
	AUTO_REPORT ignored = REPORT_INIT;

	(void)recipes_each(d->app, NULL, see_recipe, &w, &ignored);
	if (!w.found || !w.ref) {
		report_refuse(r, S(""), "no such recipe",
			w.found ? "the recipe '%.*s' cannot be read" : "there is no recipe '%.*s'",
			STR(id));
		(void)report_action(r, ACTION_LIST_RECIPES, S(""));
		return NULL;
	}
	return w.ref;
}

json_t *act_start(struct dashboard *d, struct recipe_ref *ref, json_t *secrets, const char *as,
	struct str *ret_run, struct report *r)
{
	struct request q = request_of(NULL);
	json_t *names = NULL, *value, *doc = NULL;
	const char *name;

	if (!recipe_ref_check_trust(ref, r))
		return NULL;
	json_object_foreach(secrets, name, value)
	{
		names = names ? names : json_array();
		json_array_append_new(names, json_string(name));
	}
	q.as = as;
	q.fresh = true;
	q.secrets = names;
	struct run_handle *h = runs_start(d->app, ref, &q, r);
	if (h) {
		doc = run_started_document(h);
		*ret_run = json_text_of(doc, "run");
		run_close(h);
	}
	json_decref(names);
	return doc;
}

/* -- for people ----------------------------------------------------------------------------------
 */

static bool has_open_word(const json_t *argv)
{
	const json_t *word;
	size_t i;

	json_array_foreach(argv, i, word)
	{
		if (str_contains(json_str(word), S("{{")))
			return true;
	}
	return false;
}

static void put_leaf(struct page *p, const json_t *leaf)
{
	struct buf *b = &p->b;
	struct str label = json_text_of(leaf, "label"), path = json_text_of(leaf, "path");
	const json_t *argv = json_object_get(leaf, "argv");

	buf_adds(b, "<li><span class=\"path\">");
	html_text(b, path);
	if (label.len) {
		buf_adds(b, " · ");
		html_text(b, label);
	}
	buf_adds(b, "</span> ");
	if (json_is_array(argv)) {
		page_argv(p, argv);
	} else {
		buf_adds(b, "<span class=\"undecided\">not decided yet: <code>");
		html_text(b, json_text_of(leaf, "text"));
		buf_adds(b, "</code></span>");
	}
	if (has_open_word(argv))
		buf_adds(b, " <span class=\"undecided\">with values that are not known yet</span>");
	if (json_text_of(leaf, "cwd").len) {
		buf_adds(b, " <span class=\"quiet\">in <code>");
		html_text(b, json_text_of(leaf, "cwd"));
		buf_adds(b, "</code></span>");
	}
	buf_adds(b, "</li>");
}

void put_plan(struct page *p, const json_t *plan)
{
	const json_t *run = json_object_get(plan, "will_run"),
		     *reused = json_object_get(plan, "reused");
	const json_t *undecided = json_object_get(plan, "undecided"), *x;
	struct str until = json_text_of(plan, "until"), digest = json_text_of(plan, "digest");
	struct buf *b = &p->b;
	size_t i;

	buf_printf(b,
		"<section class=\"plan\" aria-labelledby=\"plan\"><h2 id=\"plan\">Will run "
		"(%zu)</h2>",
		json_array_size(run));
	if (!json_array_size(run))
		buf_adds(b,
			"<p class=\"quiet\">Nothing runs before the next question or the end.</p>");
	buf_adds(b, "<ol class=\"leaves\">");
	json_array_foreach(run, i, x) put_leaf(p, x);
	buf_adds(b, "</ol>");
	if (until.len) {
		buf_adds(b, "<p>Then it asks again at <b>");
		html_text(b, until);
		buf_adds(b, "</b>: what is behind that is not part of this.</p>");
	}
	if (json_array_size(undecided)) {
		buf_printf(b, "<details><summary>%zu not decided yet</summary><ul>",
			json_array_size(undecided));
		json_array_foreach(undecided, i, x)
		{
			buf_adds(b, "<li><span class=\"path\">");
			html_text(b, json_text_of(x, "path"));
			buf_adds(b, "</span> <code>");
			html_text(b, json_text_of(x, "text"));
			buf_adds(b, "</code></li>");
		}
		buf_adds(b, "</ul></details>");
	}
	if (json_array_size(reused)) {
		buf_printf(b, "<details><summary>%zu not executed again</summary><ul>",
			json_array_size(reused));
		json_array_foreach(reused, i, x)
		{
			buf_adds(b, "<li><span class=\"path\">");
			html_text(b, json_text_of(x, "path"));
			buf_adds(b, "</span> ");
			html_text(b, json_text_of(x, "label"));
			buf_adds(b, " <span class=\"quiet\">");
			html_text(b, json_text_of(x, "why"));
			buf_adds(b, "</span></li>");
		}
		buf_adds(b, "</ul></details>");
	}
	buf_adds(b, "<details class=\"digest\"><summary>Digest <code>");
	html_text(b, str_sub(digest, 0, MIN(digest.len, (size_t)12)));
	buf_adds(b, "</code></summary><p><code>");
	html_text(b, digest);
	buf_adds(b, "</code> is the sum of exactly this plan; if anything of it changes before you "
		    "decide, "
		    "nothing runs and the new plan is shown.</p></details></section>");
}
