#include "app/catalog/secrets.h"

#include "template/resolve.h"

struct collecting {
	struct mask *mask;
	const json_t *names; /* as members */
};

/* A default that stands in a placeholder is the value of its name as any other default is. */
static void collect_placeholder(void *data, const struct placeholder *p)
{
	const struct collecting *c = data;

	if ((p->kind == PLACEHOLDER_DEFAULT || p->kind == PLACEHOLDER_FALLBACK) &&
		json_object_getn(c->names, p->name.p, p->name.len))
		mask_add_text(c->mask, p->text);
}

/* -- as they are written down --------------------------------------------------------------------
 */

static void collect_text(struct collecting *c, struct str text)
{
	struct placeholder_mistake ignored;
	struct placeholder p;
	size_t begin, end;

	for (size_t at = 0; brace_group(text, at, &begin, &end); at = end)
		if (placeholder_parse(
			    str_sub(text, begin + 1, end - begin - 2), DIALECT_NOW, &p, &ignored))
			collect_placeholder(c, &p);
}

/* Then it stands for another value, and hides nothing itself. */
static bool is_placeholder(struct str text)
{
	size_t begin, end;

	return brace_group(text, 0, &begin, &end) && end - begin == text.len;
}

static void collect_members(struct collecting *c, const json_t *values)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)values, name, value)
	{
		if (json_object_get(c->names, name) && !is_placeholder(json_str(value)))
			mask_add(c->mask, value);
	}
}

static void collect_declarations(struct collecting *c, const json_t *args)
{
	struct declaration d;
	json_t *entry;
	size_t i;

	json_array_foreach(args, i, entry)
	{
		if (declaration_parse(str_trim(json_str(entry)), &d) && d.fallback.p &&
			!is_placeholder(d.fallback) &&
			json_object_getn(c->names, d.name.p, d.name.len))
			mask_add_text(c->mask, d.fallback);
	}
}

/* Every text of a file, whatever it is for: each can have a default in it. What a node says is
 * looked at where it stands too, since what only shows a recipe has no plan with its nodes. */
static void collect_written(struct collecting *c, const json_t *value)
{
	const char *name;
	json_t *item;
	size_t i;

	if (json_is_string(value))
		collect_text(c, json_str(value));
	json_array_foreach(value, i, item) collect_written(c, item);
	collect_members(c, json_object_get(value, "defaults"));
	collect_members(c, json_object_get(value, "values"));
	collect_declarations(c, json_object_get(value, "args"));
	json_object_foreach((json_t *)value, name, item) collect_written(c, item);
}

static void collect_files(struct collecting *c, const json_t *names, const struct recipe *recipe)
{
	vec_each (f, &recipe->set->files) {
		/* Steps have placeholders of another kind. */
		if ((*f)->format == RECIPE_YAML)
			mask_add_named(c->mask, json_object_get((*f)->object, "context"), names);
		else
			collect_written(c, (*f)->object);
	}
}

/* The words of a command are what is left of its line without the quotes in it. */
static void collect_words(struct collecting *c, const struct node *n)
{
	for (size_t i = 0; i < n->word_count; i++)
		n->words[i].text->ops->walk(n->words[i].text, collect_placeholder, c);
	if (n->recover)
		collect_words(c, n->recover);
	for (size_t i = 0; i < n->child_count; i++)
		collect_words(c, n->children[i]);
}

/* -- as nodes bind them --------------------------------------------------------------------------
 */

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

static void collect(struct mask *m, const json_t *names, const struct recipe *recipe,
	const struct graph *g, const struct plan *plan)
{
	AUTO_JSON *members = members_of(names);
	struct collecting c = { m, members };

	if (recipe)
		collect_files(&c, names, recipe);
	if (!g || g->steps)
		return;
	collect_written(&c, g->doc.root); /* of a template */
	collect_words(&c, g->root);
	if (plan)
		collect_nodes(&c, g->root, &plan->scope);
}

void secrets_collect(struct mask *m, const json_t *names, const json_t *values,
	const struct recipe *recipe, const struct plan *plan)
{
	if (!json_array_size(names))
		return;
	mask_add_named(m, values, names);
	if (plan) {
		mask_add_named(m, plan->values, names);
		mask_add_named(m, plan->vars, names);
	}
	collect(m, names, recipe, plan ? plan->graph : NULL, plan);
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

struct mask *recipe_mask(const struct recipe *recipe, const struct graph *g, const json_t *values)
{
	AUTO_JSON *names = secrets_declared(recipe, g);
	struct mask *m = mask_open();

	if (json_array_size(names)) {
		mask_add_named(m, values, names);
		collect(m, names, recipe, g, NULL);
	}
	return mask_or_null(m);
}

json_t *recipe_secret_members(const struct recipe *recipe)
{
	AUTO_JSON *names = recipe_secrets(recipe);

	return members_of(names);
}

/* -- what cannot be opened -----------------------------------------------------------------------
 */

static void hide_written(
	const json_t *names, const json_t *const *objects, size_t count, struct report *r)
{
	AUTO_JSON *members = members_of(names);
	struct mask *m = mask_open();
	struct collecting c = { m, members };

	for (size_t i = 0; i < count; i++) {
		collect_written(&c, objects[i]);
		mask_add_named(m, json_object_get(objects[i], "context"), names);
	}
	mask_report(m, r);
	mask_free(m);
}

struct graph *secrets_graph_read(struct str name, struct str text, enum dialect d, struct report *r)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct graph *g = graph_read(name, text, d, r);
	AUTO_JSON *object = g ? NULL : json_read(&(struct source){ name, text }, &ignored);
	AUTO_JSON *names = json_array();

	recipe_add_secrets(names, object);
	if (json_array_size(names))
		hide_written(names, &(const json_t *){ object }, 1, r);
	return g;
}

void secrets_hide_written(
	const struct recipe_dirs *dirs, struct str path, struct str text, struct report *r)
{
	struct recipe_set *set = recipe_set_new(dirs);
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *names = json_array();
	VEC(const json_t *) objects = { 0 };

	if (text.p)
		recipe_set_give(set, path, text);
	(void)recipe_file_load(set, path, path, &ignored);
	vec_each (f, &set->files) {
		const json_t *object = (*f)->object ? (*f)->object : (*f)->doc.root;

		recipe_add_secrets(names, object);
		vec_push(&objects, object);
	}
	if (json_array_size(names))
		hide_written(names, objects.at, objects.len, r);
	vec_done(&objects);
	recipe_set_free(set);
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
	if (found.issues.len) {
		struct mask *mask = recipe_mask(recipe, g, values);

		mask_report(mask, &found);
		mask_free(mask);
	}
	report_move(r, &found);
	return plan;
}
