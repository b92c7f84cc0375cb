/* Recipes: the list, one of them, the form that starts it. */
#include <inttypes.h>
#include <string.h>

#include "app/pictures.h"
#include "app/plans.h"
#include "app/trust.h"
#include "base/clock.h"
#include "data/json-out.h"
#include "hosts/serve/site/act.h"
#include "hosts/serve/site/drafts.h"
#include "hosts/serve/site/page-runs.h"

/* -- the list ------------------------------------------------------------------------------------
 */

struct recipe_list {
	struct page *p;
	size_t count;
	const char *layer;
};

static bool add_recipe(void *data, const struct recipe_info *info)
{
	struct recipe_list *l = data;
	struct buf *b = &l->p->b;

	if (strcmp(info->layer, l->layer) != 0)
		return true;
	if (!l->count++)
		buf_printf(b,
			"<h2>%s</h2><div class=\"scroll\" role=\"region\" aria-label=\"Recipes\" "
			"tabindex=\"0\">"
			"<table "
			"class=\"recipes\"><thead><tr><th>Recipe<th>Description<th>State<th>Last "
			"run</tr></thead><tbody>",
			strcmp(l->layer, "user") == 0      ? "Yours"
			: strcmp(l->layer, "project") == 0 ? "Of the project"
							   : "Packaged");
	buf_adds(b, "<tr><td><a href=\"/recipes/");
	html_url(b, info->id);
	buf_adds(b, "\">");
	html_text(b, info->id);
	buf_adds(b, "</a><td dir=\"auto\">");
	html_cut(b, info->description.len ? info->description : info->error, 160);
	buf_printf(b, "<td>%s", recipe_state_name(info->state));
	if (info->trust == TRUST_NONE || info->trust == TRUST_CHANGED)
		buf_adds(b, ", not trusted");
	buf_adds(b, "<td>");
	if (json_object_get(info->usage, "last_called"))
		html_time(b, clock_read_rfc3339(json_text_of(info->usage, "last_called")));
	buf_adds(b, "</tr>");
	return true;
}

void page_recipes(struct http_request *q)
{
	static const char *const layers[] = { "project", "user", "packaged" };
	AUTO_REPORT r = REPORT_INIT;
	struct page p;
	size_t all = 0;

	page_begin(&p, q, &(struct page_head){ .title = S("Recipes"), .nav = NAV_RECIPES });
	buf_adds(&p.b, "<h1>Recipes</h1>");
	for (size_t i = 0; i < ARRAY_SIZE(layers); i++) {
		struct recipe_list l = { .p = &p, .layer = layers[i] };

		(void)recipes_each(p.site->app, NULL, add_recipe, &l, &r);
		if (l.count)
			buf_adds(&p.b, "</tbody></table></div>");
		all += l.count;
	}
	if (!all)
		buf_adds(&p.b, "<p class=\"quiet\">There are no recipes: <code>roux tool add NAME "
			       "'COMMAND'</code> makes one.</p>");
	page_end(&p, 200);
}

static bool json_recipe(void *data, const struct recipe_info *info)
{
	json_array_append_new(data, recipe_info_json(info));
	return true;
}

void api_recipes(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	json_t *all = json_array();

	if (!recipes_each(site_of(q)->app, NULL, json_recipe, all, &r)) {
		json_decref(all);
		ask_refuse(q, &r);
		return;
	}
	http_reply_value(q, 200, json_pack("{s:o}", "recipes", all));
}

/* -- one of them ---------------------------------------------------------------------------------
 */

static struct recipe_ref *open_recipe(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct recipe_ref *ref = act_recipe(site_of(q), http_param(q, "id"), &r);

	if (!ref)
		ask_refuse(q, &r);
	return ref;
}

void api_recipe(struct http_request *q)
{
	struct recipe_ref *ref = open_recipe(q);
	AUTO_BUF b = BUF_INIT;
	struct json_out o = { .b = &b };

	if (!ref)
		return;
	recipes_describe(ref, &o);
	buf_addc(&b, '\n');
	recipe_ref_free(ref);
	http_reply_json(q, 200, &b);
}

void api_schema(struct http_request *q)
{
	struct recipe_ref *ref = open_recipe(q);

	if (!ref)
		return;
	json_t *schema = recipes_input_schema(ref);
	recipe_ref_free(ref);
	http_reply_value(q, 200, schema);
}

void page_recipe_graph(struct http_request *q)
{
	struct recipe_ref *ref = open_recipe(q);
	AUTO_BUF b = BUF_INIT;
	AUTO_BUF name = BUF_INIT;

	if (!ref)
		return;
	recipe_picture(ref, 0, recipe_ref_id(ref), &b);
	buf_printf(&name, "%.*s.svg", STR(recipe_ref_id(ref)));
	recipe_ref_free(ref);
	http_reply_bytes(q,
		&(struct http_content){
			.type = "image/svg+xml", .name = buf_str(&name), .untrusted = true },
		&b);
}

/* -- the form ------------------------------------------------------------------------------------
 */

struct form {
	struct page *p;
	json_t *schema;
	const json_t *given;  /* what was typed; NULL: nothing yet */
	struct report *wrong; /* NULL: nothing is */
};

/* Which argument an issue is about. */
static bool is_about(const struct issue *i, const char *name)
{
	AUTO_BUF quoted = BUF_INIT;
	size_t len = strlen(name);

	buf_printf(&quoted, "'%s'", name);
	if (str_contains(i->message, buf_str(&quoted)))
		return true;
	return str_starts(i->message, str_of(name)) && i->message.len > len &&
	       strchr(" :=", i->message.p[len]) != NULL;
}

static bool is_required(const json_t *schema, const char *name)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(schema, "required"), i, one)
	{
		if (str_eq(json_str(one), str_of(name)))
			return true;
	}
	return false;
}

static void default_text(const json_t *value, struct buf *b)
{
	if (json_is_string(value))
		buf_add(b, json_str(value));
	else if (value && !json_is_null(value))
		json_write(b, value, 0);
}

static void put_select(
	struct buf *b, const char *name, const json_t *choices, struct str now, bool required)
{
	const json_t *choice;
	size_t i;

	buf_printf(b, "<select id=\"v-%s\" name=\"v.%s\">", name, name);
	if (!required)
		buf_adds(b, "<option value=\"\">");
	json_array_foreach(choices, i, choice)
	{
		AUTO_BUF text = BUF_INIT;

		default_text(choice, &text);
		buf_adds(b, "<option value=\"");
		html_attr(b, buf_str(&text));
		buf_adds(b, str_eq(now, buf_str(&text)) ? "\" selected>" : "\">");
		html_text(b, buf_str(&text));
	}
	buf_adds(b, "</select>");
}

static void put_input(struct form *f, const char *name, const json_t *property)
{
	struct buf *b = &f->p->b;
	struct str type = json_text_of(property, "type");
	const json_t *typed = json_object_get(f->given, name),
		     *fallback = json_object_get(property, "default");
	AUTO_BUF now = BUF_INIT;
	bool required = is_required(f->schema, name);

	if (json_truth_of(property, "writeOnly")) {
		buf_printf(b,
			"<input id=\"v-%s\" name=\"s.%s\" type=\"password\" "
			"autocomplete=\"off\"%s>",
			name, name, required ? " required" : "");
		return;
	}
	default_text(typed ? typed : fallback, &now);
	if (json_is_array(json_object_get(property, "enum"))) {
		put_select(b, name, json_object_get(property, "enum"), buf_str(&now), required);
	} else if (str_eq(type, S("boolean"))) {
		bool on = str_eq(buf_str(&now), S("true"));

		buf_printf(b,
			"<input type=\"hidden\" name=\"v.%s\" value=\"false\"><input id=\"v-%s\" "
			"type=\"checkbox\" name=\"v.%s\" value=\"true\"%s>",
			name, name, name, on ? " checked" : "");
	} else if (str_eq(type, S("array")) || str_eq(type, S("object")) || now.len > 80) {
		buf_printf(b, "<textarea id=\"v-%s\" name=\"v.%s\" rows=\"4\"%s>", name, name,
			required ? " required" : "");
		html_text(b, buf_str(&now));
		buf_adds(b, "</textarea>");
		if (str_eq(type, S("array")))
			buf_adds(b, "<span class=\"hint\">one value a line, or JSON</span>");
	} else {
		bool number = str_eq(type, S("integer")) || str_eq(type, S("number"));

		buf_printf(b,
			"<input id=\"v-%s\" name=\"v.%s\" type=\"text\"%s%s autocomplete=\"off\" "
			"value=\"",
			name, name,
			number ? (str_eq(type, S("integer")) ? " inputmode=\"numeric\""
							     : " inputmode=\"decimal\"")
			       : "",
			required ? " required" : "");
		html_attr(b, buf_str(&now));
		buf_adds(b, "\">");
	}
}

static void put_field(struct form *f, const char *name, const json_t *property)
{
	struct buf *b = &f->p->b;
	struct str description = json_text_of(property, "description");

	buf_printf(b, "<div class=\"field\"><label for=\"v-%s\">%s%s</label>", name, name,
		is_required(f->schema, name) ? " <span class=\"req\">(required)</span>" : "");
	put_input(f, name, property);
	if (description.len) {
		buf_adds(b, "<p class=\"hint\" dir=\"auto\">");
		html_text(b, description);
		buf_adds(b, "</p>");
	}
	for (size_t i = 0; f->wrong && i < f->wrong->issues.len; i++)
		if (is_about(&f->wrong->issues.at[i], name)) {
			buf_printf(b, "<p class=\"wrong\" id=\"e-%s\">", name);
			html_text(b, f->wrong->issues.at[i].message);
			if (f->wrong->issues.at[i].hint.len) {
				buf_adds(b, " — ");
				html_text(b, f->wrong->issues.at[i].hint);
			}
			buf_adds(b, "</p>");
		}
	buf_adds(b, "</div>");
}

static void put_summary(struct form *f)
{
	struct buf *b = &f->p->b;

	if (!f->wrong || !f->wrong->errors)
		return;
	buf_adds(b, "<div class=\"box bad\" role=\"alert\" tabindex=\"-1\" id=\"wrong\" "
		    "autofocus><p>These values do not fit:</p><ul>");
	vec_each (i, &f->wrong->issues) {
		const char *name;
		json_t *property, *all = json_object_get(f->schema, "properties");

		if (!issue_is_error(i))
			continue;
		buf_adds(b, "<li>");
		json_object_foreach(all, name, property)
		{
			if (!is_about(i, name))
				continue;
			buf_printf(b, "<a href=\"#v-%s\">%s</a>: ", name, name);
			break;
		}
		html_text(b, i->message);
		buf_adds(b, "</li>");
	}
	buf_adds(b, "</ul></div>");
}

static void put_form(struct form *f, struct recipe_ref *ref)
{
	json_t *properties = json_object_get(f->schema, "properties"), *property;
	struct buf *b = &f->p->b;
	AUTO_BUF action = BUF_INIT;
	const char *name;
	struct str as = S("");

	page_heading(f->p, "start", "Start");
	if (!page_may(f->p->q, HTTP_RUN)) {
		buf_adds(b, "<p class=\"quiet\">Nothing can be started here.</p>");
		return;
	}
	if (recipe_ref_disabled(ref)) {
		buf_adds(b, "<p class=\"quiet\">The recipe is disabled: remove "
			    "<code>disabled</code> from its file to start it.</p>");
		return;
	}
	if (!recipe_ref_trusted(ref)) {
		buf_adds(b, "<p class=\"quiet\">A recipe of a project is started from here when "
			    "you trust it: <code>roux trust ");
		html_text(b, recipe_ref_id(ref));
		buf_adds(b, "</code>.</p>");
		return;
	}
	put_summary(f);
	buf_adds(&action, "/recipes/");
	html_url(&action, recipe_ref_id(ref));
	buf_adds(&action, "/plan");
	page_form(f->p, buf_str(&action), "act");
	json_object_foreach(properties, name, property)
	{
		if (strcmp(name, "async") != 0 && recipes_is_name(str_of(name)))
			put_field(f, name, property);
	}
	if (!json_object_size(properties))
		buf_adds(b, "<p class=\"quiet\">It takes no values.</p>");
	(void)http_form_field(f->p->q, "as", &as);
	buf_adds(b,
		"<div class=\"field\"><label for=\"as\">Name of the run</label><input id=\"as\" "
		"name=\"as\" autocomplete=\"off\" placeholder=\"made by itself\" value=\"");
	html_attr(b, as);
	buf_adds(b, "\"></div><p class=\"quiet\">It works in <code>");
	html_text(b, app_cwd(f->p->site->app));
	buf_adds(b, "</code>.</p><p class=\"buttons\"><button class=\"go\">Show what will "
		    "run</button></p></form>");
}

static void put_recipe(struct page *p, struct recipe_ref *ref)
{
	struct buf *b = &p->b;
	struct run_filter f = { .recipe = recipe_ref_id(ref), .limit = 10 };

	buf_adds(b, "<h2>Runs of it</h2>");
	if (!runs_table(p, &f, NULL))
		buf_adds(b, "<p class=\"quiet\">It was never run.</p>");
	buf_adds(b, "<details><summary>Source</summary><p><code>");
	html_text(b, recipe_ref_path(ref));
	buf_adds(b, "</code> · <a href=\"/recipes/");
	html_url(b, recipe_ref_id(ref));
	buf_adds(b, "/graph.svg\" download>Picture</a></p><pre class=\"log\" tabindex=\"0\" "
		    "dir=\"ltr\">");
	html_text(b, recipe_ref_text(ref));
	buf_adds(b, "</pre></details>");
}

static void recipe_page(struct http_request *q, struct recipe_ref *ref, const json_t *given,
	struct report *wrong, unsigned status)
{
	struct page p;
	AUTO_JSON *schema = recipes_input_schema(ref);
	struct form f = { .p = &p, .schema = schema, .given = given, .wrong = wrong };
	AUTO_BUF outline = BUF_INIT;

	page_begin(&p, q, &(struct page_head){ .title = recipe_ref_id(ref), .nav = NAV_RECIPES });
	buf_adds(&p.b, "<p class=\"crumbs\"><a href=\"/recipes\">Recipes</a></p><h1>");
	html_text(&p.b, recipe_ref_id(ref));
	buf_adds(&p.b, "</h1>");
	if (recipe_ref_description(ref).len)
		page_prose(&p, recipe_ref_description(ref));
	put_form(&f, ref);
	recipe_outline(ref, &outline);
	buf_adds(&p.b,
		"<h2>What it does</h2><pre class=\"log outline\" tabindex=\"0\" dir=\"ltr\">");
	html_text(&p.b, buf_str(&outline));
	buf_adds(&p.b, "</pre>");
	put_recipe(&p, ref);
	page_end(&p, status);
}

/* -- values --------------------------------------------------------------------------------------
 */

/* A list is JSON, or one value a line. */
static json_t *list_of(struct str text)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct source source = { S("value"), text };
	json_t *read = str_starts(str_trim(text), S("[")) ? json_read(&source, &ignored) : NULL;

	if (read)
		return read;
	read = json_array();
	for (size_t at = 0; at < text.len;) {
		size_t end = str_find(text, '\n', at);
		struct str line = str_sub(text, at, end - at);

		if (str_ends(line, S("\r")))
			line.len--;
		if (line.len)
			json_array_append_new(read, json_from_str(line));
		at = end + 1;
	}
	return read;
}

/* A field that was left as it was is not sent: the recipe has its own default. */
static bool is_default(const json_t *property, struct str text)
{
	AUTO_BUF now = BUF_INIT;

	default_text(json_object_get(property, "default"), &now);
	return str_eq(buf_str(&now), text);
}

static void read_form(struct http_request *q, const json_t *schema, json_t *values, json_t *secrets)
{
	struct http_fields all = http_form(q);
	const json_t *properties = json_object_get(schema, "properties");

	for (size_t i = 0; i < all.count; i++) {
		struct str name = all.at[i].name, text = all.at[i].value;
		bool secret = str_starts(name, S("s."));

		if (!secret && !str_starts(name, S("v.")))
			continue;
		name = str_from(name, 2);
		const json_t *property = json_object_getn(properties, name.p, name.len);
		if (!property || (!text.len && secret))
			continue;
		json_t *value = NULL;
		struct str type = json_text_of(property, "type");
		if (!text.len || (is_default(property, text) && !str_eq(type, S("boolean")))) {
			json_object_deln(values, name.p, name.len);
			continue;
		}
		if (str_eq(type, S("array")) || str_eq(type, S("object")))
			value = list_of(text);
		else
			value = json_from_str(text);
		json_object_setn_new_nocheck(secret ? secrets : values, name.p, name.len, value);
	}
}

static json_t *joined(const json_t *values, json_t *secrets)
{
	json_t *all = values ? json_copy((json_t *)values) : json_object();

	if (secrets)
		json_object_update(all, secrets);
	return all;
}

static struct str session_of(struct http_request *q)
{
	const struct http_principal *p = http_principal(q);

	return p->session.len ? p->session : p->name;
}

void post_recipe_plan(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct recipe_ref *ref = open_recipe(q);
	AUTO_BUF url = BUF_INIT;
	struct str as = S("");

	if (!ref)
		return;
	AUTO_JSON *schema = recipes_input_schema(ref);
	json_t *values = json_object(), *secrets = json_object();
	read_form(q, schema, values, secrets);
	(void)http_form_field(q, "as", &as);
	AUTO_JSON *all = joined(values, secrets);
	struct recipe_ref *with = recipe_ref_with(ref, all, &r);
	AUTO_JSON *plan = with ? recipe_plan_document(with, NULL, &r) : NULL;
	if (!plan) {
		report_word(&r, site_words);
		recipe_page(q, ref, values, &r, 422);
		json_decref(values);
		json_decref(secrets);
	} else {
		struct draft *d = drafts_add(site_of(q)->drafts, session_of(q), recipe_ref_id(ref),
			values, secrets, str_trim(as));

		buf_adds(&url, "/recipes/");
		html_url(&url, recipe_ref_id(ref));
		buf_printf(&url, "?draft=%s", d->id);
		http_redirect(q, 303, buf_str(&url));
	}
	recipe_ref_free(with);
	recipe_ref_free(ref);
}

static void draft_page(struct http_request *q, struct recipe_ref *ref, struct draft *d,
	bool changed, unsigned status)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *all = joined(d->values, d->secrets);
	struct recipe_ref *with = recipe_ref_with(ref, all, &r);
	AUTO_JSON *plan = with ? recipe_plan_document(with, NULL, &r) : NULL;
	struct page p;
	AUTO_BUF action = BUF_INIT;

	recipe_ref_free(with);
	if (!plan) {
		ask_refuse_values(q, &r);
		return;
	}
	page_begin(&p, q, &(struct page_head){ .title = recipe_ref_id(ref), .nav = NAV_RECIPES });
	buf_adds(
		&p.b, "<p class=\"crumbs\"><a href=\"/recipes\">Recipes</a> › <a href=\"/recipes/");
	html_url(&p.b, recipe_ref_id(ref));
	buf_adds(&p.b, "\">");
	html_text(&p.b, recipe_ref_id(ref));
	buf_adds(&p.b, "</a></p><h1>Start ");
	html_text(&p.b, recipe_ref_id(ref));
	buf_adds(&p.b, "</h1>");
	if (changed)
		buf_adds(&p.b,
			"<div class=\"box bad\" role=\"alert\"><p>What would run has changed since "
			"you looked. Nothing was started; this is the plan now.</p></div>");
	put_plan(&p, plan);
	if (page_may(q, HTTP_RUN)) {
		buf_adds(&action, "/recipes/");
		html_url(&action, recipe_ref_id(ref));
		buf_adds(&action, "/start");
		page_form(&p, buf_str(&action), "act");
		page_hidden(&p, "draft", str_of(d->id));
		page_hidden(&p, "digest", json_text_of(plan, "digest"));
		buf_adds(&p.b, "<p class=\"buttons\"><button class=\"go\">Start</button> <a "
			       "href=\"/recipes/");
		html_url(&p.b, recipe_ref_id(ref));
		buf_adds(&p.b, "\">Change the values</a></p></form>");
	}
	page_end(&p, status);
}

void page_recipe(struct http_request *q)
{
	struct recipe_ref *ref = open_recipe(q);
	struct str id;

	if (!ref)
		return;
	if (http_query(q, "draft", &id)) {
		struct draft *d = drafts_find(site_of(q)->drafts, session_of(q), id);

		if (d && str_eq(buf_str(&d->recipe), recipe_ref_id(ref)))
			draft_page(q, ref, d, false, 200);
		else
			http_refuse(q, 404, "no such draft", "fill the form in again",
				"these values are not kept any more: they are for ten minutes");
	} else {
		recipe_page(q, ref, NULL, NULL, 200);
	}
	recipe_ref_free(ref);
}

/* -- starting ------------------------------------------------------------------------------------
 */

void post_start(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct recipe_ref *ref = open_recipe(q);
	struct str id = S(""), run;
	AUTO_BUF url = BUF_INIT;

	if (!ref)
		return;
	http_audit_note(q, "recipe", recipe_ref_id(ref));
	(void)http_form_field(q, "draft", &id);
	struct draft *d = drafts_find(site_of(q)->drafts, session_of(q), id);
	if (!d) {
		recipe_ref_free(ref);
		http_refuse(q, 404, "no such draft", "fill the form in again",
			"these values are not kept any more: they are for ten minutes");
		return;
	}
	AUTO_JSON *all = joined(d->values, d->secrets);
	struct recipe_ref *with = recipe_ref_with(ref, all, &r);
	AUTO_JSON *plan = with ? recipe_plan_document(with, NULL, &r) : NULL;
	if (!plan)
		ask_refuse_values(q, &r);
	else if (!ask_text(q, "digest") || !act_digest_fits(q, plan))
		draft_page(q, ref, d, true, 409);
	else {
		AUTO_JSON *doc = act_start(site_of(q), with, d->secrets,
			d->as.len ? buf_cstr(&d->as) : NULL, &run, &r);

		if (doc) {
			http_audit_note(q, "run", run);
			run_url(&url, run, "");
			http_redirect(q, 303, buf_str(&url));
		} else {
			ask_refuse_values(q, &r);
		}
	}
	recipe_ref_free(with);
	recipe_ref_free(ref);
}

/* Values that do not fit are told with the name of their field. */
static void refuse_fields(struct http_request *q, struct recipe_ref *ref, struct report *r)
{
	(void)ref;
	ask_refuse_values(q, r);
}

static struct recipe_ref *api_ref(struct http_request *q, struct str id, struct report *r)
{
	json_t *values = http_member(q, "values"), *secrets = http_member(q, "secrets");
	struct recipe_ref *ref = act_recipe(site_of(q), id, r);

	if (!ref)
		return NULL;
	AUTO_JSON *all = joined(
		json_is_object(values) ? values : NULL, json_is_object(secrets) ? secrets : NULL);
	struct recipe_ref *with = recipe_ref_with(ref, all, r);
	recipe_ref_free(ref);
	return with;
}

void api_recipe_plan(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;

	if (!ask_only(q, "values secrets cwd as csrf"))
		return;
	struct recipe_ref *ref = api_ref(q, http_param(q, "id"), &r);
	json_t *plan = ref ? recipe_plan_document(ref, NULL, &r) : NULL;
	if (plan)
		http_reply_value(q, 200, plan);
	else
		refuse_fields(q, ref, &r);
	recipe_ref_free(ref);
}

void api_start(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	const char *recipe, *cwd;
	struct str run;
	AUTO_BUF location = BUF_INIT;

	if (!ask_only(q, "recipe values secrets as cwd digest generation csrf"))
		return;
	recipe = ask_text(q, "recipe");
	cwd = ask_text(q, "cwd");
	if (!recipe || (cwd && !str_eq(str_of(cwd), app_cwd(site_of(q)->app)))) {
		http_refuse(q, 400, NULL, NULL,
			recipe ? "cwd is not a directory that runs are started in"
			       : "recipe is missing: the id of one");
		return;
	}
	http_audit_note(q, "recipe", str_of(recipe));
	struct recipe_ref *ref = api_ref(q, str_of(recipe), &r);
	if (!ref) {
		refuse_fields(q, NULL, &r);
		return;
	}
	if (ask_text(q, "digest")) {
		AUTO_JSON *plan = recipe_plan_document(ref, NULL, &r);

		if (plan && !act_digest_fits(q, plan)) {
			http_refuse(q, 409, "plan changed", "ask for the plan again",
				"what would run is not what was shown any more");
			recipe_ref_free(ref);
			return;
		}
	}
	json_t *secrets = http_member(q, "secrets");
	json_t *doc = act_start(site_of(q), ref, json_is_object(secrets) ? secrets : NULL,
		ask_text(q, "as"), &run, &r);
	if (doc) {
		http_audit_note(q, "run", run);
		buf_adds(&location, "/api/v1");
		run_url(&location, run, "");
		http_add_header(q, "Location", buf_str(&location));
		http_reply_value(q, 201, doc);
	} else {
		refuse_fields(q, ref, &r);
	}
	recipe_ref_free(ref);
}
