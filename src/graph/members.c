#include "graph/members.h"

enum { IMPORTS_MAX = 20000 }; /* import nodes of one recipe, counted where they are used */

static const struct layer *new_layer(struct reader *rd, struct layer from)
{
	struct layer *l = arena_new(rd->a, struct layer);

	*l = from;
	return l;
}

static const struct layer *own_layer(struct reader *rd, const struct members *m, enum field_id id)
{
	return m->at[id] ? new_layer(rd, (struct layer){ m->at[id], m->place[id] }) : NULL;
}

static bool known_word(const struct field *f, struct str word)
{
	for (size_t i = 0; f->words[i]; i++)
		if (str_eq(word, str_of(f->words[i])))
			return true;
	return false;
}

static bool check_member(
	struct reader *rd, enum field_id id, const json_t *value, const struct place *place)
{
	const struct field *f = &node_fields[id];

	if (f->instead && rd->d == DIALECT_NOW) {
		report_error(rd->r, place_key_where(place), "the field '%s' is retired", f->name);
		report_hint(rd->r, "%s", f->instead);
		return report_action(rd->r, ACTION_OLD_DIALECT, S(""));
	}
	bool old = rd->d == DIALECT_0_9 && f->old_wanted;
	if (!field_accepts(f, rd->d, value)) {
		report_error(rd->r, place_where(place), "`%s` is %s, expected %s", f->name,
			json_kind(value), old ? f->old_wanted : f->wanted);
		if (old)
			return report_hint(rd->r, "the 0.9 dialect takes numbers only");
		return f->summary && report_hint(rd->r, "%s", f->summary);
	}
	if (f->words && !known_word(f, json_str(value))) {
		report_error(rd->r, place_where(place), "`%s` is '%.*s', expected %s", f->name,
			STR(report_quote(rd->r, json_str(value))), f->wanted);
		return f->summary && report_hint(rd->r, "%s", f->summary);
	}
	return true;
}

/* What else the members of an object may be. */
enum object_kind { OBJECT_NODE, OBJECT_IMPORT, OBJECT_RECIPE };

/* Told about elsewhere, or known there. */
static bool known_member(struct str key, enum object_kind kind)
{
	if (kind == OBJECT_IMPORT)
		return str_eq(key, S("name")) || str_eq(key, S("values"));
	return kind == OBJECT_RECIPE || str_eq(key, S("name"));
}

/* A template that stands for itself may say which of its values are secret, as a recipe does. */
static bool names_secrets(struct str key, const struct place *p)
{
	return str_eq(key, S("secrets")) && p->up && !p->up->up;
}

/* What is not a list of names would be taken for none, and the secret be shown. */
static bool check_secrets(struct reader *rd, const json_t *value, const struct place *p)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(value) && !json_is_null(value)) {
		report_error(rd->r, place_where(p), "`secrets` is %s, expected an array of names",
			json_kind(value));
		return report_hint(rd->r, "write \"secrets\": [\"NAME\"]");
	}
	json_array_foreach(value, i, item) if (!json_is_string(item)) return report_error(rd->r,
		place_where(place_element(rd->a, p, i)),
		"a name in `secrets` is %s, expected a string", json_kind(item));
	return true;
}

/* It is ignored. True: it was probably meant as `template`, which is missing. */
static bool unknown_member(
	struct reader *rd, struct str key, const struct place *p, bool bare, enum object_kind kind)
{
	struct report *w = &rd->g->warnings;
	struct str near = field_nearest(key, rd->d);
	enum field_id field = FIELD_COUNT;
	const char *instead = rd->d == DIALECT_NOW ? field_foreign(key, &field) : NULL;

	if (field_private(key))
		return false;
	if (bare && field_means_template(key, rd->d))
		return true;
	if (!near.len && !instead && known_member(key, kind))
		return false;
	report_warning(w, place_key_where_for(w, p), "unknown field '%.*s' is ignored",
		STR(report_quote(w, key)));
	if (instead)
		report_hint(w, "%s", instead);
	else if (near.len)
		report_hint(w, "did you mean '%.*s'?", STR(near));
	else
		report_hint(w, "a name that begins with x- is for its author alone");
	if (instead || near.len)
		report_slip(w);
	return false;
}

static bool read_members(struct reader *rd, const json_t *object, const struct place *place,
	enum object_kind kind, struct members *ret)
{
	bool ok = true;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		enum field_id id = field_find(str_of(key), rd->d);
		struct place *p = place_member(rd->a, place, str_of(key));

		if (names_secrets(str_of(key), p)) {
			ok &= check_secrets(rd, value, p);
		} else if (id == FIELD_COUNT) {
			if (unknown_member(
				    rd, str_of(key), p, !json_object_get(object, "template"), kind))
				ret->misspelt = p;
		} else if (json_is_null(value) && id != FIELD_TEMPLATE) {
			continue;
		} else if (check_member(rd, id, value, p)) {
			ret->at[id] = value;
			ret->place[id] = p;
			ret->importer[id] = rd->importer;
		} else {
			ret->complained |= id == FIELD_TEMPLATE || id == FIELD_PIPE;
			ok = false;
		}
	}
	ret->defaults = own_layer(rd, ret, FIELD_DEFAULTS);
	ret->args = own_layer(rd, ret, FIELD_ARGS);
	return ok;
}

bool members_read(
	struct reader *rd, const json_t *object, const struct place *place, struct members *ret)
{
	return read_members(rd, object, place, OBJECT_NODE, ret);
}

/* -- imports -------------------------------------------------------------------------------------
 */

bool members_are_imported(const struct reader *rd, const json_t *object)
{
	return rd->importer && json_is_object(object) && !json_object_get(object, "template") &&
	       json_is_string(json_object_get(object, "name"));
}

/* `over` with `under` below the last of it. */
static const struct layer *stacked(
	struct reader *rd, const struct layer *over, const struct layer *under)
{
	if (!over)
		return under;
	struct layer l = *over;
	l.under = stacked(rd, over->under, under);
	return new_layer(rd, l);
}

/* `over` wins, member by member; defaults and declarations hold together. */
static void overlay(struct reader *rd, struct members *m, const struct members *over)
{
	for (enum field_id id = 0; id < FIELD_COUNT; id++) {
		if (!over->at[id])
			continue;
		m->at[id] = over->at[id];
		m->place[id] = over->place[id];
		m->importer[id] = over->importer[id];
	}
	m->defaults = stacked(rd, over->defaults, m->defaults);
	m->args = stacked(rd, over->args, m->args);
}

/* Recipes that import each other several times multiply: a few files can stand for more nodes than
 * a machine can hold. */
static bool too_many(struct reader *rd, const struct place *place)
{
	if (++rd->imported < IMPORTS_MAX)
		return false;
	if (rd->imported == IMPORTS_MAX) {
		report_error(rd->r, place_where(place), "the imports come to more than %d nodes",
			IMPORTS_MAX);
		report_hint(rd->r, "recipes that import each other several times multiply");
	}
	return true;
}

/* To a step recipe, which has names of its own; `inside`: what the recipe that stands for it gives
 * it, NULL: it is named itself. */
static const json_t *names_given(struct reader *rd, const json_t *inside, const struct imported *im,
	const struct members *own, const json_t *values)
{
	const json_t *const from[] = { inside, im->defaults, own->at[FIELD_DEFAULTS], values };
	json_t *given = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(from); i++)
		if (json_is_object(from[i]))
			json_object_update(given, (json_t *)from[i]);
	json_array_append_new(rd->g->made, given);
	return given;
}

/* `envelope` has the members of the recipe whose whole template the node is; NULL: it is part of
 * one. They lie between the recipe that is imported and the node's own. */
static bool import(struct reader *rd, const json_t *object, const struct place *place,
	const struct members *envelope, struct members *ret)
{
	struct str alias = json_str(json_object_get(object, "name"));
	const struct place *name_place = place_member(rd->a, place, S("name"));
	json_t *values = json_object_get(object, "values");
	struct members own = { 0 }, m = { 0 };
	struct imported im;

	if (too_many(rd, place))
		return false;
	read_members(rd, object, place, OBJECT_IMPORT, &own);
	if (!rd->importer->find(rd->importer, alias, name_place, &im, rd->r))
		return false;
	if (!im.steps) {
		members_of_recipe(rd, &im, &m);
	} else {
		m.steps = im.steps;
		m.callee = im.importer;
	}
	if (!m.steps && !m.at[FIELD_TEMPLATE])
		return false;
	if (m.steps)
		m.given = names_given(rd, m.given, &im, &own, values);
	const struct layer *around = envelope ? envelope->defaults : NULL;
	/* Its importers bind names for a recipe without defaults too. */
	if (envelope && !around)
		around = new_layer(rd, (struct layer){ 0 });
	if (im.defaults)
		m.defaults = new_layer(rd, (struct layer){ im.defaults, NULL, m.defaults, around });
	if (envelope)
		overlay(rd, &m, envelope);
	if (own.defaults)
		own.defaults = new_layer(rd,
			(struct layer){ own.defaults->value, own.defaults->place, NULL, around });
	overlay(rd, &m, &own);
	if (json_is_object(values))
		m.defaults = new_layer(
			rd, (struct layer){ values, place_member(rd->a, place, S("values")),
				    m.defaults, around });
	m.import = im.importer->origin->id;
	*ret = m;
	return true;
}

bool members_of_import(
	struct reader *rd, const json_t *object, const struct place *place, struct members *ret)
{
	return import(rd, object, place, NULL, ret);
}

/* The whole template of a recipe is an import node: what is said of both holds together. */
static void take_import(struct reader *rd, const json_t *node, struct members *ret)
{
	struct members envelope = *ret;

	envelope.at[FIELD_TEMPLATE] = ret->at[FIELD_TEMPLATE] = NULL;
	(void)import(rd, node, envelope.place[FIELD_TEMPLATE], &envelope, ret);
}

void members_of_recipe(struct reader *rd, const struct imported *im, struct members *ret)
{
	const struct importer *here = rd->importer;
	struct members inner = { 0 };

	rd->importer = im->importer;
	/* A flag with a mistake in it does not hide those of the template. */
	read_members(rd, im->recipe, im->place, OBJECT_RECIPE, ret);
	const json_t *template = ret->at[FIELD_TEMPLATE];
	if (json_is_object(template) && json_object_get(template, "template")) {
		members_read(rd, template, ret->place[FIELD_TEMPLATE], &inner);
		overlay(rd, ret, &inner);
	}
	template = ret->at[FIELD_TEMPLATE];
	if (members_are_imported(rd, template))
		take_import(rd, template, ret);
	rd->importer = here;
}
