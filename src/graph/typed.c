#include "graph/typed.h"

#include "base/map.h"

static bool types_better(const struct argument *arg, const struct argument *known)
{
	return arg->declaration.type.kind != TYPE_NONE && (!known || (known->text && !arg->text));
}

const struct argument *typed_find(const struct graph *g, struct str name)
{
	const struct argument *found = NULL;

	vec_each (arg, &g->arguments)
		if (types_better(arg, found) && str_eq(arg->declaration.name, name))
			found = arg;
	return found;
}

struct checking {
	struct map types; /* name → const struct argument * */
	json_t *made;     /* of the graph: keeps values alive */
	struct report *r;
	bool ok;
};

static void refuse(struct checking *c, const struct argument *arg, const struct preset *p,
	const struct place *place)
{
	AUTO_BUF found = BUF_INIT;
	AUTO_BUF wanted = BUF_INIT;

	template_text(&found, p->value);
	type_describe(&arg->declaration.type, &wanted);
	report_error(c->r, place_where(place), "the default of '%.*s' is '%.*s', expected %s",
		STR(p->name), STR(report_quote(c->r, buf_str(&found))), buf_cstr(&wanted));
	report_hint(c->r, "%s it as %s", arg->text ? "a placeholder declares" : "`args` declares",
		type_name(arg->declaration.type.kind));
	c->ok = false;
}

static void check_presets(struct checking *c, const struct node *n, const struct presets *presets)
{
	for (size_t i = 0; presets && i < presets->count; i++) {
		const struct preset *p = &presets->at[i];
		const struct argument *arg = map_get(&c->types, p->name);

		/* One that another of its name hides is not used. */
		if (!arg || p->part_count || presets_find(presets, p->name) != p)
			continue;
		json_t *fitted = type_normalise(&arg->declaration.type, (json_t *)p->value);
		if (!fitted) {
			refuse(c, arg, p, p->place ? p->place : n->place);
		} else if (json_is_array(fitted)) {
			/* Only as such it has items; other types are texts in the end. */
			presets->at[i].value = fitted;
			json_array_append_new(c->made, fitted);
		} else {
			json_decref(fitted);
		}
	}
}

static void check_node(struct checking *c, const struct node *n)
{
	/* Copies have the defaults of their node, and those of a recipe reach what it imports. */
	bool elsewhere = n->kind == NODE_EACH || (n->wrapper && n->children[0]->import.len);
	if (!elsewhere) {
		check_presets(c, n, n->defaults);
		check_presets(c, n, n->args);
	}
	for (size_t i = 0; i < n->child_count; i++)
		check_node(c, n->children[i]);
	if (n->recover)
		check_node(c, n->recover);
}

bool typed_check(const struct graph *g, struct report *r)
{
	struct checking c = { .made = g->made, .r = r, .ok = true };
	struct arena a = ARENA_INIT;

	vec_each (arg, &g->arguments) {
		if (arg->declaration.type.kind == TYPE_NONE)
			continue;
		void **slot = map_put(&c.types, &a, arg->declaration.name);

		if (types_better(arg, *slot))
			*slot = arg;
	}
	if (c.types.count)
		check_node(&c, g->root);
	arena_done(&a);
	return c.ok;
}
