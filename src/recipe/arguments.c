#include "recipe/arguments.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/near.h"
#include "base/vec.h"
#include "data/big.h"
#include "graph/step.h"
#include "recipe/fields.h"
#include "template/braces.h"
#include "template/resolve.h"

/* What is known about a name while the graph is walked. */
struct use {
	struct public_argument argument;
	bool typed;         /* by `args` or inline */
	bool settled;       /* by `args`: of the recipe, else of a node */
	bool flag_only;     /* every use so far was a condition or a guard */
	bool lacks_default; /* some use in a command has no default in force */
	bool used;
	bool declared;
	bool own; /* by the text of the recipe itself, not of one that it imports */
	const struct text *lacking; /* where lacks_default was found; NULL: in a default */
	struct str content;         /* of the placeholder there */
};

struct collecting {
	struct arena *a;
	struct map uses, aside;
	struct map followed; /* address of a default whose names are collected → anything */
	const struct node *node;
	bool copy; /* it is in a repeat, where index and its like have values of their own */
	const struct text *text;       /* that is being looked at; NULL: a default, or a count */
	const struct doc *entry, *doc; /* the recipe itself, and where the text stands */
};

static struct use *use_of(struct collecting *c, struct str name)
{
	void **slot = map_put(&c->uses, c->a, name);

	if (!*slot) {
		struct use *u = arena_new(c->a, struct use);

		u->argument.name = arena_str(c->a, name);
		u->flag_only = true;
		*slot = u;
	}
	return *slot;
}

/* roux itself gives the value. */
static bool provided(struct str name)
{
	for (const char *const *n = lifecycle_names; *n; n++)
		if (str_eq(name, str_of(*n)))
			return true;
	return false;
}

static bool generated(struct str name)
{
	struct str bare;
	size_t underscores;

	if (repeat_name(name, &bare, &underscores) && underscores <= 6)
		return true;
	return provided(name);
}

/* The default in force for a name at a node: nearest first; then the args shorthand. *at is the
 * node that declares it. */
static const struct preset *default_at(
	const struct node *n, struct str name, const struct node **at)
{
	const struct presets *args = NULL;

	for (; n; n = n->parent ? n->parent : n->owner) {
		const struct preset *p = presets_find(n->defaults, name);

		args = args ? args : n->args;
		*at = n;
		if (p && preset_passes(p))
			p = presets_find(p->around, name);
		if (p && !preset_passes(p))
			return p;
	}
	return presets_find(args, name);
}

static void see(void *data, const struct placeholder *p);

static bool is_followed(struct collecting *c, const struct preset *p)
{
	void **slot = map_put(&c->followed, c->a, arena_printf(c->a, "%p", (const void *)p));
	bool before = *slot;

	*slot = c;
	return before;
}

/* A name found in the text of a default is used where the default is; one that is all of the text
 * means what stands above the node that declares it. */
static void see_default(struct collecting *c, const struct preset *preset, const struct node *at)
{
	const struct node *here = c->node;
	const struct text *text = c->text;
	const struct doc *doc = c->doc;

	if (!preset->part_count || is_followed(c, preset))
		return;
	c->text = NULL;
	c->doc = preset->place ? preset->place->doc : NULL;
	if (preset->part_count == 1 && at)
		c->node = at->parent ? at->parent : at->owner;
	for (size_t i = 0; i < preset->part_count; i++)
		if (preset->parts[i].placeholder)
			see(c, preset->parts[i].placeholder);
	c->node = here;
	c->text = text;
	c->doc = doc;
}

static void see_name(struct collecting *c, struct str name, const struct placeholder *p)
{
	if (generated(name))
		return;
	struct use *u = use_of(c, name);
	const struct node *at = NULL;
	const struct preset *preset = default_at(c->node, name, &at);

	u->used = true;
	u->own |= c->doc == c->entry;
	if (p->type.kind != TYPE_NONE && !u->typed) {
		u->argument.type = p->type;
		u->typed = true;
	}
	bool flag = p->kind == PLACEHOLDER_CONDITION;
	u->flag_only &= flag;
	if (p->kind == PLACEHOLDER_DEFAULT && !u->argument.inline_text.p)
		u->argument.inline_text = p->text;
	if (preset && !u->argument.fallback)
		u->argument.fallback = preset->value;
	if (!preset && (p->kind == PLACEHOLDER_VALUE || p->kind == PLACEHOLDER_ITEM ||
			       p->kind == PLACEHOLDER_SPREAD)) {
		if (!u->lacks_default && p->content.p) {
			u->lacking = c->text;
			u->content = p->content;
		}
		u->lacks_default = true;
	}
	if (preset)
		see_default(c, preset, at);
}

/* {index*2}, and {index-1} unless there can be something of that name. */
static bool is_arithmetic(const struct collecting *c, const struct placeholder *p)
{
	const struct use *u = p->name.len ? map_get(&c->uses, p->name) : NULL;
	bool guard = p->kind == PLACEHOLDER_CONDITION && !p->content.p;
	const struct node *at;

	if (p->kind != PLACEHOLDER_VALUE && !guard)
		return p->kind == PLACEHOLDER_EXPR;
	return p->type.kind == TYPE_NONE && name_is_arithmetic(p->name) && !(u && u->declared) &&
	       !default_at(c->node, p->name, &at);
}

static void add_aside(struct collecting *c, struct str name)
{
	*map_put(&c->aside, c->a, name) = c;
}

/* What index and its like mean outside a repeat, where they are values as any other. */
static void see_outside(struct collecting *c, const struct placeholder *p)
{
	static const char *const variables[] = { "index", "prev", "next", "repeat" };
	bool arithmetic = is_arithmetic(c, p);
	struct str expr = p->kind == PLACEHOLDER_EXPR ? p->expr : p->name;
	size_t underscores;
	struct str bare;

	for (size_t i = 0; arithmetic && i < ARRAY_SIZE(variables); i++)
		if (!c->copy && str_contains(expr, str_of(variables[i])))
			add_aside(c, str_of(variables[i]));
	if (arithmetic && p->name.len)
		add_aside(c, p->name);
	if (!c->copy && repeat_name(p->name, &bare, &underscores))
		add_aside(c, p->name);
	if (!c->copy && repeat_name(p->index, &bare, &underscores))
		add_aside(c, p->index);
}

static void see(void *data, const struct placeholder *p)
{
	struct collecting *c = data;

	see_outside(c, p);
	if (is_arithmetic(c, p))
		return;
	see_name(c, p->name, p);
	if (p->kind == PLACEHOLDER_ITEM && name_valid(p->index)) {
		struct placeholder index = { .kind = PLACEHOLDER_VALUE, .name = p->index };

		see_name(c, p->index, &index);
	}
}

static void walk_text(struct collecting *c, const struct text *t)
{
	c->text = t;
	c->doc = t && t->place ? t->place->doc : NULL;
	if (t)
		t->ops->walk(t, see, c);
	c->text = NULL;
	c->doc = NULL;
}

static enum type_kind kind_of(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_INTEGER:
		return TYPE_INT;
	case JSON_REAL:
		return TYPE_NUMBER;
	case JSON_TRUE:
	case JSON_FALSE:
		return TYPE_BOOL;
	case JSON_ARRAY:
		return TYPE_ARRAY;
	case JSON_OBJECT:
		return TYPE_OBJECT;
	case JSON_STRING:
	case JSON_NULL:
		break;
	}
	return json_is_big(value) ? TYPE_INT : TYPE_STRING;
}

/* A variable of a step recipe has the type of what it begins with. */
static void type_by_value(struct use *u, const json_t *value)
{
	if (u->typed)
		return;
	u->argument.any = json_is_null(value);
	if (!u->argument.any)
		u->argument.type.kind = kind_of(value);
}

/* What a step recipe is given: the defaults of the node, and its own context. */
static void walk_call(struct collecting *c, const struct node *n)
{
	const struct step_graph *g = n->call->steps;
	struct placeholder name = { .kind = PLACEHOLDER_VALUE };
	const char *key;
	json_t *value;

	for (size_t i = 0; n->defaults && i < n->defaults->count; i++) {
		name.name = n->defaults->at[i].name;
		see_name(c, name.name, &name);
	}
	json_object_foreach(g->context, key, value)
	{
		struct use *u = use_of(c, str_of(key));

		u->used = true;
		u->flag_only = false;
		if (!u->argument.fallback && !u->lacks_default)
			u->argument.fallback = value;
		type_by_value(u, u->argument.fallback ? u->argument.fallback : value);
	}
	for (size_t i = 0; i < g->required_count; i++) {
		const struct node *at;
		struct use *u = use_of(c, g->required[i]);

		u->argument.any |= !u->used && !u->typed; /* nothing tells its type */
		u->used = true;
		u->flag_only = false;
		u->lacks_default |= !default_at(n, g->required[i], &at);
	}
}

static void walk(struct collecting *c, const struct node *n)
{
	bool around = c->copy;

	c->node = n;
	if (n->kind == NODE_CALL)
		walk_call(c, n);
	for (size_t i = 0; i < n->word_count; i++)
		walk_text(c, n->words[i].text);
	c->copy |= n->kind == NODE_EACH;
	for (size_t i = 0; i < n->child_count; i++)
		walk(c, n->children[i]);
	c->copy = around;
	c->node = n;
	if (n->recover)
		walk(c, n->recover);
	c->node = n;
	walk_text(c, n->cwd);
	for (size_t i = 0; i < n->env_count; i++)
		walk_text(c, n->env[i].text);
	walk_text(c, n->timeout_ms.text);
	walk_text(c, n->delay_ms.text);
	walk_text(c, n->retry.text);
	if (n->kind == NODE_EACH && n->count.array.p) {
		struct placeholder array = { .kind = PLACEHOLDER_VALUE,
			.name = n->count.array,
			.type = { .kind = TYPE_ARRAY } };

		see(c, &array);
	}
	c->copy |= n->kind == NODE_EACH;
	walk_text(c, n->when);
	c->copy = around;
}

/* An entry of `args` of any node types the name for the whole run, before a placeholder does. */
static void type_by_args(struct collecting *c, const struct graph *g)
{
	vec_each (arg, &g->arguments) {
		const struct declaration *d = &arg->declaration;
		struct use *u =
			arg->text || d->type.kind == TYPE_NONE ? NULL : map_get(&c->uses, d->name);

		if (!u || u->settled)
			continue;
		u->argument.type = d->type;
		u->typed = u->settled = true;
	}
}

static void finish(struct use *u, const json_t *recipe, bool declared)
{
	struct public_argument *arg = &u->argument;
	const json_t *values = json_object_get(recipe, "values");
	const json_t *defaults = json_object_get(recipe, "defaults");
	const json_t *value = json_object_getn(values, arg->name.p, arg->name.len);
	const json_t *own = json_object_getn(defaults, arg->name.p, arg->name.len);
	const json_t *given = value ? value : own;

	/* The default of a nearer node is the one in force. */
	if (value || !arg->fallback)
		arg->fallback = given;
	if (u->used && u->flag_only && !u->typed) {
		arg->type.kind = TYPE_BOOL;
		arg->implied_bool = true;
	}
	arg->required = !given && (u->used ? u->lacks_default : declared && !arg->fallback);
	if (u->typed && !u->used && declared)
		arg->required = !arg->fallback;
	if ((u->used && u->flag_only) || provided(arg->name))
		arg->required = false;
	if (arg->required)
		arg->fallback = NULL;
}

static void declare(struct collecting *c, const json_t *list)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		struct declaration d;

		if (!json_is_string(item) || !declaration_parse(str_trim(json_str(item)), &d))
			continue;
		struct use *u = use_of(c, d.name);
		u->declared = true;
		if (d.type.kind != TYPE_NONE && !u->typed) {
			u->argument.type = d.type;
			u->typed = u->settled = true;
		}
		if (d.fallback.p)
			u->argument.inline_text = d.fallback;
	}
}

/* `args` keeps callers from giving it, and nothing else does. */
static void warn_unreachable(const struct use *u, const json_t *recipe, struct report *w)
{
	struct str name = u->argument.name;

	if (!u->lacks_default || !u->lacking || provided(name) ||
		json_object_getn(json_object_get(recipe, "values"), name.p, name.len))
		return;
	/* With its braces. */
	size_t offset = (size_t)(u->content.p - u->lacking->raw.p) - 1;
	report_warning(w, braces_where(u->lacking, offset, u->content.len + 2),
		"'%.*s' has a value only from a command line: `args` does not declare it",
		STR(name));
	report_hint(w, "declare it there, or give it a default");
}

/* -- what is not run -----------------------------------------------------------------------------
 * Names that only a label, the output or a path of an artifact uses are not arguments, but a person
 * may give them a value. */

static void see_aside(void *data, const struct placeholder *p)
{
	struct collecting *c = data;

	see_outside(c, p);
	if (p->kind != PLACEHOLDER_EXPR && !generated(p->name))
		add_aside(c, p->name);
}

static void walk_labels(struct collecting *c, const struct node *n)
{
	bool around = c->copy;

	c->node = n;
	c->copy |= n->kind == NODE_EACH;
	for (size_t i = 0; n->label_parts && i < n->label_part_count; i++)
		if (n->label_parts[i].placeholder)
			see_aside(c, n->label_parts[i].placeholder);
	for (size_t i = 0; i < n->child_count; i++)
		walk_labels(c, n->children[i]);
	if (n->recover)
		walk_labels(c, n->recover);
	c->copy = around;
}

static void walk_paths(struct collecting *c, const json_t *artifacts)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)artifacts, name, value)
	{
		const json_t *path = json_is_object(value) ? json_object_get(value, "path") : value;
		struct part *parts = NULL;
		size_t count =
			placeholder_cut(c->a, json_str(path), DIALECT_NOW, &parts, NULL, NULL);

		for (size_t i = 0; i < count; i++)
			if (parts[i].placeholder)
				see_aside(c, parts[i].placeholder);
	}
}

static void walk_aside(struct collecting *c, const struct graph *g, const json_t *recipe)
{
	const struct text *output = g->output;

	walk_labels(c, g->root);
	c->node = g->root;
	walk_paths(c, json_object_get(recipe, "artifacts"));
	if (output && name_valid(output->raw))
		add_aside(c, output->raw);
	else if (output)
		output->ops->walk(output, see_aside, c);
}

/* -- all -----------------------------------------------------------------------------------------
 */

struct public_arguments *public_arguments_new(const struct graph *g, const json_t *recipe,
	const struct doc *entry, struct report *warnings)
{
	struct public_arguments *p = mem_new(struct public_arguments);
	struct collecting c = { .a = &p->arena, .entry = entry };

	p->declared = json_is_array(g->args);
	declare(&c, g->args);
	size_t declared = c.uses.count, number = 0;
	walk(&c, g->root);
	type_by_args(&c, g);
	if (p->declared)
		walk_aside(&c, g, recipe);
	p->at = arena_array(&p->arena, struct public_argument, c.uses.count);
	p->hidden = arena_array(&p->arena, struct str, c.uses.count + c.aside.count);
	map_each (e, &c.aside)
		p->hidden[p->hidden_count++] = e->key;
	map_each (e, &c.uses) {
		struct use *u = e->value;
		bool own = u->own && g->args_imported;

		/* Declaring arguments narrows the surface: that is the point. A recipe that stands
		 * for one that declares them adds what it uses itself. */
		if (p->declared && number++ >= declared && !own) {
			warn_unreachable(u, recipe, warnings);
			p->hidden[p->hidden_count++] = u->argument.name;
			continue;
		}
		finish(u, recipe, p->declared);
		if (p->declared && u->argument.inline_text.p && !u->lacks_default)
			u->argument.required = false;
		p->at[p->count++] = u->argument;
	}
	return p;
}

static bool contains(const struct str *names, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

struct public_arguments *public_arguments_steps(
	const json_t *context, const struct str *required, size_t required_count)
{
	struct public_arguments *p = mem_new(struct public_arguments);
	const char *name;
	json_t *value;

	p->at = arena_array(
		&p->arena, struct public_argument, json_object_size(context) + required_count);
	json_object_foreach((json_t *)context, name, value) p->at[p->count++] =
		(struct public_argument){ .name = arena_str(&p->arena, str_of(name)),
			.type = { .kind = kind_of(value) },
			.required = contains(required, required_count, str_of(name)),
			.any = json_is_null(value),
			.fallback = value };
	for (size_t i = 0; i < required_count; i++)
		if (!json_object_getn(context, required[i].p, required[i].len) &&
			!contains(required, i, required[i]))
			p->at[p->count++] =
				(struct public_argument){ .name = arena_str(&p->arena, required[i]),
					.required = true,
					.any = true };
	return p;
}

void public_arguments_free(struct public_arguments *p)
{
	if (!p)
		return;
	arena_done(&p->arena);
	free(p);
}

static json_t *property(const struct public_argument *arg)
{
	const struct type *type = &arg->type;
	static const char *const types[] = {
		[TYPE_NONE] = "string",
		[TYPE_STRING] = "string",
		[TYPE_PATH] = "string",
		[TYPE_INT] = "integer",
		[TYPE_NUMBER] = "number",
		[TYPE_BOOL] = "boolean",
		[TYPE_ARRAY] = "array",
		[TYPE_ENUM] = "string",
		[TYPE_OBJECT] = "object",
		[TYPE_WORDS] = "string",
	};
	json_t *schema = arg->any ? json_object() : json_pack("{s:s}", "type", types[type->kind]);

	if (type->kind == TYPE_ARRAY)
		json_object_set_new(schema, "items", json_object());
	if (type->kind == TYPE_ENUM) {
		json_t *members = json_array();
		struct str m;

		for (size_t i = 0; (m = type_member(type, i)).p; i++)
			if (m.len)
				json_array_append_new(members, json_from_str(m));
		json_object_set_new(schema, "enum", members);
	}
	return schema;
}

/* One that is written as a text is a number or a flag when its type says so. */
json_t *public_argument_default(const struct public_argument *arg)
{
	enum type_kind kind = arg->type.kind;
	struct source text = { S("default"), arg->inline_text };
	AUTO_REPORT ignored = REPORT_INIT;
	json_t *value = NULL;

	if (arg->fallback && !json_is_string(arg->fallback))
		return json_incref((json_t *)arg->fallback);
	if (arg->fallback)
		text.text = json_str(arg->fallback);
	if (!text.text.p)
		return NULL;
	AUTO_JSON *written = json_from_str(text.text);
	if (kind == TYPE_BOOL) /* `yes` is not JSON */
		value = type_normalise(&arg->type, written);
	else if (kind == TYPE_INT || kind == TYPE_NUMBER || kind == TYPE_ARRAY)
		value = json_read_big(&text, &ignored);
	return value ? value : json_incref(written);
}

json_t *public_arguments_schema(const struct public_arguments *p, bool run_id)
{
	json_t *properties = json_object();
	json_t *required = json_array();

	for (size_t i = 0; i < p->count; i++) {
		const struct public_argument *arg = &p->at[i];

		json_t *one = property(arg);
		json_t *value = !arg->required ? public_argument_default(arg) : NULL;
		if (value)
			json_object_set_new(one, "default", value);
		json_object_setn_new_nocheck(properties, arg->name.p, arg->name.len, one);
		if (arg->required)
			json_array_append_new(required, json_from_str(arg->name));
	}
	if (run_id)
		json_object_set_new(properties, "run_id", json_pack("{s:s}", "type", "string"));
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties,
		"required", required, "additionalProperties", 0);
}

bool public_arguments_check(const struct public_arguments *p, struct str recipe,
	const json_t *values, enum caller caller, struct report *r)
{
	size_t hidden = caller == CALLER_PERSON ? p->hidden_count : 0;
	struct arena a = ARENA_INIT;
	struct map known = MAP_INIT;
	bool ok = true;
	const char *key;
	json_t *value;

	if (!p->declared)
		return true;
	/* A caller may give thousands. */
	for (size_t i = 0; i < p->count; i++)
		*map_put(&known, &a, p->at[i].name) = &known;
	for (size_t i = 0; i < hidden; i++)
		*map_put(&known, &a, p->hidden[i]) = &known;
	json_object_foreach((json_t *)values, key, value)
	{
		struct near near = near_to(str_of(key));

		if (map_get(&known, str_of(key)))
			continue;
		for (size_t i = 0; i < p->count; i++)
			near_offer(&near, p->at[i].name);
		ok = report_error(r, (struct where){ 0 }, "the recipe has no argument '%s'", key);
		report_field(r, str_of(key));
		struct str best = near_best(&near);
		if (best.len)
			report_hint(r, "did you mean '%.*s'?", STR(best));
		else
			report_action(r, ACTION_SHOW_ARGUMENTS, recipe);
	}
	arena_done(&a);
	return ok;
}
