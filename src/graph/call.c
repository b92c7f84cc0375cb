#include "graph/call.h"

#include "graph/step.h"
#include "template/resolve.h"

/* -- reading -------------------------------------------------------------------------------------
 */

bool call_read(struct reader *rd, struct node *n, const struct members *m)
{
	n->kind = NODE_CALL;
	n->line = m->import;
	n->call = m->steps(m->callee, m->given, rd->r);
	if (!n->call)
		return false;
	rd->g->calls = true;
	report_note(&rd->g->extensions, place_where_for(&rd->g->extensions, n->place),
		"the import of a step recipe is an extension of roux");
	report_move(&rd->g->extensions, &n->call->extensions);
	return true;
}

static bool asks(const struct node *n)
{
	bool found = n->kind == NODE_GATE;

	for (size_t i = 0; i < n->child_count && !found; i++)
		found = asks(n->children[i]);
	return found;
}

void call_check(struct reader *rd, const struct node *n, bool copies)
{
	bool at_once = copies;

	if (n->kind != NODE_CALL || !asks(n->call->root))
		return;
	for (const struct node *up = n; up; up = up->parent ? up->parent : up->owner)
		at_once |= node_joins(up);
	if (!at_once)
		return;
	report_error(rd->r, place_where(n->place),
		"'%.*s' has approvals and stands inside a parallel node", STR(n->line));
	report_hint(rd->r, "people answer one after the other: leave out `parallel`");
}

/* -- values --------------------------------------------------------------------------------------
 */

static bool add_default(struct resolver *rs, const struct preset *p, json_t *values)
{
	AUTO_VALUE v = { 0 };

	if (!resolver_look_up(rs, p->name, &v))
		return false;
	if (v.kind == VALUE_JSON)
		json_object_setn_new_nocheck(
			values, p->name.p, p->name.len, json_deep_copy(v.json));
	else if (v.kind == VALUE_TEXT)
		json_object_setn_new_nocheck(
			values, p->name.p, p->name.len, json_from_str(buf_str(&v.text)));
	return true;
}

static void add_given(const struct scope *s, struct str name, json_t *values)
{
	const json_t *given = scope_value(s, name);

	if (given && !json_object_getn(values, name.p, name.len))
		json_object_setn_new_nocheck(values, name.p, name.len, json_deep_copy(given));
}

static bool check_required(
	const struct node *n, const struct scope *s, json_t *values, struct report *r)
{
	const struct step_graph *g = n->call->steps;
	bool ok = true;

	for (size_t i = 0; i < g->required_count; i++) {
		struct str name = g->required[i];

		add_given(s, name, values);
		if (json_object_getn(values, name.p, name.len))
			continue;
		ok = report_error(r, place_where(n->place),
			"no value for '%.*s', which '%.*s' requires", STR(name), STR(n->line));
		report_hint(r, "give one with %.*s=VALUE, or in `values` of the import", STR(name));
	}
	return ok;
}

json_t *call_values(const struct node *n, const struct scope *s, struct report *r)
{
	json_t *values = json_object(), *ignored;
	const char *name;
	bool ok = true;

	for (size_t i = 0; n->defaults && i < n->defaults->count; i++) {
		const struct preset *p = &n->defaults->at[i];
		AUTO_RESOLVER rs = { .scope = s };

		/* One that another of its name hides is not used. */
		if (presets_find(n->defaults, p->name) != p || add_default(&rs, p, values))
			continue;
		resolver_complain(&rs, place_where(p->place ? p->place : n->place), r);
		ok = false;
	}
	json_object_foreach(n->call->steps->context, name, ignored)
		add_given(s, str_of(name), values);
	ok &= check_required(n, s, values, r);
	if (ok)
		return values;
	json_decref(values);
	return NULL;
}
