/* Recipes: the list, one of them, the form that starts it. */
#include <inttypes.h>
#include <string.h>

#include "app/pictures.h"
#include "app/plans.h"
#include "app/trust.h"
#include "base/clock.h"
#include "data/json-out.h"
#include "hosts/serve/site/act.h"
#include "hosts/serve/site/recipe-form.h"

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

	const struct str topics[] = { S("runs") };
	page_begin(&p, q,
		&(struct page_head){ .title = S("Recipes"),
			.nav = NAV_RECIPES,
			.topics = topics,
			.topic_count = 1 });
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

void rest_recipes(struct http_request *q)
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

struct recipe_ref *ask_recipe(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct recipe_ref *ref = act_recipe(site_of(q), http_param(q, "id"), &r);

	if (!ref)
		ask_refuse(q, &r);
	return ref;
}

void rest_recipe(struct http_request *q)
{
	struct recipe_ref *ref = ask_recipe(q);
	AUTO_BUF b = BUF_INIT;
	struct json_out o = { .b = &b };

	if (!ref)
		return;
	recipes_describe(ref, &o);
	buf_addc(&b, '\n');
	recipe_ref_free(ref);
	http_reply_json(q, 200, &b);
}

void rest_schema(struct http_request *q)
{
	struct recipe_ref *ref = ask_recipe(q);

	if (!ref)
		return;
	json_t *schema = recipes_input_schema(ref);
	recipe_ref_free(ref);
	http_reply_value(q, 200, schema);
}

void page_recipe_graph(struct http_request *q)
{
	struct recipe_ref *ref = ask_recipe(q);
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

/* -- starting, for scripts -----------------------------------------------------------------------
 */

/* Values that do not fit are told with the name of their field. */
static void refuse_fields(struct http_request *q, struct recipe_ref *ref, struct report *r)
{
	(void)ref;
	ask_refuse_values(q, r);
}

static struct recipe_ref *rest_ref(struct http_request *q, struct str id, struct report *r)
{
	json_t *values = http_member(q, "values"), *secrets = http_member(q, "secrets");
	struct recipe_ref *ref = act_recipe(site_of(q), id, r);

	if (!ref)
		return NULL;
	AUTO_JSON *all = values_joined(
		json_is_object(values) ? values : NULL, json_is_object(secrets) ? secrets : NULL);
	struct recipe_ref *with = recipe_ref_with(ref, all, r);
	recipe_ref_free(ref);
	return with;
}

void rest_recipe_plan(struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;

	if (!ask_only(q, "values secrets cwd as csrf"))
		return;
	struct recipe_ref *ref = rest_ref(q, http_param(q, "id"), &r);
	json_t *plan = ref ? recipe_plan_document(ref, NULL, &r) : NULL;
	if (plan)
		http_reply_value(q, 200, plan);
	else
		refuse_fields(q, ref, &r);
	recipe_ref_free(ref);
}

void rest_start(struct http_request *q)
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
	struct recipe_ref *ref = rest_ref(q, str_of(recipe), &r);
	if (!ref) {
		refuse_fields(q, NULL, &r);
		return;
	}
	if (ask_text(q, "digest")) {
		AUTO_JSON *plan = recipe_plan_document(ref, NULL, &r);

		if (!plan || !act_digest_fits(q, plan)) {
			if (plan)
				http_refuse(q, 409, "plan changed", "ask for the plan again",
					"the plan has changed since it was shown");
			else
				refuse_fields(q, ref, &r);
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
