/* The form that starts a recipe: fields from its schema, the plan, Start. */
#include <string.h>

#include "app/plans.h"
#include "app/trust.h"
#include "data/big.h"
#include "data/json-out.h"
#include "hosts/serve/site/act.h"
#include "hosts/serve/site/drafts.h"
#include "hosts/serve/site/page-runs.h"
#include "hosts/serve/site/recipe-form.h"

/* -- the form ------------------------------------------------------------------------------------
 */

enum { LONG_TEXT = 80 }; /* bytes that fit into one line */

struct form {
	struct page *p;
	json_t *schema;
	const json_t *given;  /* what was typed; NULL: nothing yet */
	struct report *wrong; /* NULL: nothing is */
};

/* Which argument an issue is about. */
static bool is_about(const struct issue *i, const char *name)
{
	return str_eq(i->field, str_of(name));
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
	if (json_is_string(value) && !json_is_big(value))
		buf_add(b, json_str(value));
	else if (value && !json_is_null(value))
		json_write_typed(b, value, 0);
}

/* `id` is the name of the argument as it may stand in a page: that of a step recipe may be any
 * text.
 */
static void put_select(struct buf *b, const char *id, const char *more, const json_t *choices,
	struct str now, bool required)
{
	const json_t *choice;
	size_t i;

	buf_printf(b, "<select id=\"v-%s\" name=\"v.%s\"%s>", id, id, more);
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

/* A field whose value does not fit says so to those who do not see the message below it. */
static const char *attributes_of(struct form *f, const char *name, const char *id)
{
	for (size_t i = 0; f->wrong && i < f->wrong->issues.len; i++)
		if (is_about(&f->wrong->issues.at[i], name))
			return arena_printf(http_arena(f->p->q),
				" aria-invalid=\"true\" aria-describedby=\"e-%s\"", id)
				.p;
	return "";
}

static void put_input(struct form *f, const char *name, const char *id, const json_t *property)
{
	struct buf *b = &f->p->b;
	struct str type = json_text_of(property, "type");
	const json_t *typed = json_object_get(f->given, name),
		     *fallback = json_object_get(property, "default");
	AUTO_BUF now = BUF_INIT;
	bool required = is_required(f->schema, name);
	const char *more = attributes_of(f, name, id);

	if (json_truth_of(property, "writeOnly")) {
		buf_printf(b,
			"<input id=\"v-%s\" name=\"s.%s\" type=\"password\" "
			"autocomplete=\"off\"%s%s>",
			id, id, required ? " required" : "", more);
		return;
	}
	default_text(typed ? typed : fallback, &now);
	if (json_is_array(json_object_get(property, "enum"))) {
		put_select(b, id, more, json_object_get(property, "enum"), buf_str(&now), required);
	} else if (str_eq(type, S("boolean"))) {
		bool on = str_eq(buf_str(&now), S("true"));

		buf_printf(b,
			"<input type=\"hidden\" name=\"v.%s\" value=\"false\"><input id=\"v-%s\" "
			"type=\"checkbox\" name=\"v.%s\" value=\"true\"%s%s>",
			id, id, id, on ? " checked" : "", more);
	} else if (str_eq(type, S("array")) || str_eq(type, S("object")) || now.len > LONG_TEXT ||
		   str_contains(buf_str(&now), S("\n"))) {
		/* A browser leaves out the line's end behind the tag. */
		buf_printf(b, "<textarea id=\"v-%s\" name=\"v.%s\" rows=\"4\"%s%s>\n", id, id,
			required ? " required" : "", more);
		html_text(b, buf_str(&now));
		buf_adds(b, "</textarea>");
		if (str_eq(type, S("array")))
			buf_adds(b, "<span class=\"hint\">one value a line, or JSON</span>");
		else if (str_eq(type, S("object")))
			buf_adds(b, "<span class=\"hint\">JSON</span>");
	} else {
		bool number = str_eq(type, S("integer")) || str_eq(type, S("number"));

		buf_printf(b,
			"<input id=\"v-%s\" name=\"v.%s\" type=\"text\"%s%s%s autocomplete=\"off\" "
			"value=\"",
			id, id,
			number ? (str_eq(type, S("integer")) ? " inputmode=\"numeric\""
							     : " inputmode=\"decimal\"")
			       : "",
			required ? " required" : "", more);
		html_attr(b, buf_str(&now));
		buf_adds(b, "\">");
	}
}

static void put_field(struct form *f, const char *name, const json_t *property)
{
	struct buf *b = &f->p->b;
	struct str description = json_text_of(property, "description");

	AUTO_BUF safe = BUF_INIT;

	html_attr(&safe, str_of(name));
	const char *id = buf_cstr(&safe);
	buf_printf(b, "<div class=\"field\"><label for=\"v-%s\">%s%s</label>", id, id,
		is_required(f->schema, name) ? " <span class=\"req\">(required)</span>" : "");
	put_input(f, name, id, property);
	if (description.len) {
		buf_adds(b, "<p class=\"hint\" dir=\"auto\">");
		html_text(b, description);
		buf_adds(b, "</p>");
	}
	bool first = true; /* an id stands once */
	for (size_t i = 0; f->wrong && i < f->wrong->issues.len; i++)
		if (is_about(&f->wrong->issues.at[i], name)) {
			if (first)
				buf_printf(b, "<p class=\"wrong\" id=\"e-%s\">", id);
			else
				buf_adds(b, "<p class=\"wrong\">");
			first = false;
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
			buf_adds(b, "<a href=\"#v-");
			html_attr(b, str_of(name));
			buf_adds(b, "\">");
			html_text(b, str_of(name));
			buf_adds(b, "</a>: ");
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
	AUTO_BUF text = BUF_INIT;

	buf_adds(b, "<h2>Runs of it</h2>");
	if (!runs_table(p, &f, NULL))
		buf_adds(b, "<p class=\"quiet\">It was never run.</p>");
	buf_adds(b, "<details><summary>Source</summary><p><code>");
	html_text(b, recipe_ref_path(ref));
	buf_adds(b, "</code> · <a href=\"/recipes/");
	html_url(b, recipe_ref_id(ref));
	buf_adds(b, "/graph.svg\" download>Picture</a></p><pre class=\"log\" tabindex=\"0\" "
		    "dir=\"ltr\">");
	recipe_ref_shown_text(ref, &text);
	html_text(b, buf_str(&text));
	buf_adds(b, "</pre></details>");
}

static void recipe_page(struct http_request *q, struct recipe_ref *ref, const json_t *given,
	struct report *wrong, unsigned status)
{
	struct page p;
	AUTO_JSON *schema = recipes_input_schema(ref);
	struct form f = { .p = &p, .schema = schema, .given = given, .wrong = wrong };
	AUTO_BUF description = BUF_INIT;
	AUTO_BUF outline = BUF_INIT;

	page_begin(&p, q, &(struct page_head){ .title = recipe_ref_id(ref), .nav = NAV_RECIPES });
	buf_adds(&p.b, "<p class=\"crumbs\"><a href=\"/recipes\">Recipes</a></p><h1>");
	html_text(&p.b, recipe_ref_id(ref));
	buf_adds(&p.b, "</h1>");
	recipe_ref_description(ref, &description);
	if (description.len)
		page_prose(&p, buf_str(&description));
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

/* Browsers end the lines of what was typed with two characters. */
static struct str lines_of(struct arena *a, struct str typed)
{
	AUTO_BUF text = BUF_INIT;

	for (size_t i = 0; i < typed.len; i++)
		if (typed.p[i] != '\r' || i + 1 == typed.len || typed.p[i + 1] != '\n')
			buf_addc(&text, typed.p[i]);
	return arena_str(a, buf_str(&text));
}

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

		if (line.len)
			json_array_append_new(read, json_from_str(line));
		at = end + 1;
	}
	return read;
}

/* What is not JSON stays a text, and is refused as one. */
static json_t *object_of(struct str text)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct source source = { S("value"), text };
	json_t *read = json_read(&source, &ignored);

	return read ? read : json_from_str(text);
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
		struct str name = all.at[i].name, text = lines_of(http_arena(q), all.at[i].value);
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
		if (str_eq(type, S("array")))
			value = list_of(text);
		else if (str_eq(type, S("object")))
			value = object_of(text);
		else
			value = json_from_str(text);
		json_object_setn_new_nocheck(secret ? secrets : values, name.p, name.len, value);
	}
}

json_t *values_joined(const json_t *values, json_t *secrets)
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
	struct recipe_ref *ref = ask_recipe(q);
	AUTO_BUF url = BUF_INIT;
	struct str as = S("");

	if (!ref)
		return;
	AUTO_JSON *schema = recipes_input_schema(ref);
	json_t *values = json_object(), *secrets = json_object();
	read_form(q, schema, values, secrets);
	(void)http_form_field(q, "as", &as);
	AUTO_JSON *all = values_joined(values, secrets);
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
	AUTO_JSON *all = values_joined(d->values, d->secrets);
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
	struct recipe_ref *ref = ask_recipe(q);
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
	struct recipe_ref *ref = ask_recipe(q);
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
	AUTO_JSON *all = values_joined(d->values, d->secrets);
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
