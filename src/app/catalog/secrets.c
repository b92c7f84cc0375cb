#include "app/catalog/secrets.h"

#include "template/resolve.h"

/* -- as they are written down --------------------------------------------------------------------
 */

static void collect_files(struct mask *m, const json_t *names, const struct recipe *recipe)
{
	vec_each (f, &recipe->set->files) {
		mask_add_named(m, json_object_get((*f)->object, "values"), names);
		mask_add_named(m, json_object_get((*f)->object, "defaults"), names);
		mask_add_named(m, json_object_get((*f)->object, "context"), names);
		vec_each (import, &(*f)->imports) {
			mask_add_named(m, import->defaults, names);
			mask_add_named(m, import->values, names);
		}
	}
}

/* -- as nodes bind them --------------------------------------------------------------------------
 */

struct collecting {
	struct mask *mask;
	const json_t *names; /* as members */
};

static void collect_bound(
	const struct collecting *c, const struct presets *bound, const struct scope *s)
{
	for (size_t i = 0; bound && i < bound->count; i++) {
		struct str name = bound->at[i].name;
		AUTO_RESOLVER rs = { .scope = s };
		AUTO_VALUE value = { 0 };

		if (!json_object_getn(c->names, name.p, name.len))
			continue;
		mask_add(c->mask, bound->at[i].value);
		if (resolver_look_up(&rs, name, &value) && value.kind == VALUE_JSON)
			mask_add(c->mask, value.json);
		else if (value.kind == VALUE_TEXT)
			mask_add_text(c->mask, buf_str(&value.text));
	}
}

static void collect_nodes(const struct collecting *c, const struct node *n, const struct scope *up)
{
	struct scope room;
	const struct scope *s = plan_enter(n, up, &room);

	collect_bound(c, n->defaults, s);
	collect_bound(c, n->args, s);
	if (n->recover)
		collect_nodes(c, n->recover, s);
	for (size_t i = 0; i < n->child_count; i++)
		collect_nodes(c, n->children[i], s);
}

static json_t *members_of(const json_t *names)
{
	json_t *members = json_object(), *name;
	size_t i;

	json_array_foreach(names, i, name)
		json_object_set_new_nocheck(members, json_string_value(name), json_true());
	return members;
}

void secrets_collect(struct mask *m, const json_t *names, const json_t *values,
	const struct recipe *recipe, const struct plan *plan)
{
	if (!json_array_size(names))
		return;
	mask_add_named(m, values, names);
	if (recipe)
		collect_files(m, names, recipe);
	if (!plan)
		return;
	mask_add_named(m, plan->values, names);
	mask_add_named(m, plan->vars, names);
	if (plan->graph->steps)
		return;
	AUTO_JSON *members = members_of(names);
	collect_nodes(&(struct collecting){ m, members }, plan->graph->root, &plan->scope);
}

/* -- of a recipe ---------------------------------------------------------------------------------
 */

json_t *secrets_declared(const struct recipe *recipe, const struct graph *g)
{
	if (recipe)
		return recipe_secrets(recipe);
	json_t *names = json_array();
	recipe_add_secrets(names, g->doc.root);
	return names;
}

struct mask *recipe_mask(const struct recipe *recipe, const struct graph *g, const json_t *values,
	const struct plan *plan)
{
	AUTO_JSON *names = secrets_declared(recipe, g);
	struct mask *m = mask_open();

	secrets_collect(m, names, values, recipe, plan);
	return mask_or_null(m);
}

json_t *recipe_secret_members(const struct recipe *recipe)
{
	AUTO_JSON *names = recipe_secrets(recipe);

	return members_of(names);
}

/* -- what does not fit ---------------------------------------------------------------------------
 */

/* The values again, with a mask for each secret that an issue is about; NULL: none is. */
static json_t *hide_wrong(const json_t *names, json_t *values, const struct report *found)
{
	AUTO_JSON *secret = members_of(names);
	json_t *shown = NULL;

	vec_each (i, &found->issues) {
		if (!json_object_getn(secret, i->field.p, i->field.len) ||
			!json_object_getn(values, i->field.p, i->field.len))
			continue;
		shown = shown ? shown : json_copy(values);
		json_object_setn_new_nocheck(shown, i->field.p, i->field.len, json_string(MASKED));
	}
	return shown;
}

struct plan *secrets_plan_new(
	struct graph *g, const struct recipe *recipe, json_t *values, struct report *r)
{
	AUTO_REPORT found = REPORT_INIT;
	struct plan *plan = plan_new(g, values, &found);
	AUTO_JSON *names = plan ? NULL : secrets_declared(recipe, g);
	AUTO_JSON *shown = plan ? NULL : hide_wrong(names, values, &found);

	if (shown) {
		/* The same words, about the mask. */
		report_reset(&found);
		plan_unref(plan_new(g, shown, &found));
		if (!found.errors)
			report_error(&found, (struct where){ 0 },
				"a secret does not fit the type of its argument");
	}
	report_move(r, &found);
	return plan;
}
