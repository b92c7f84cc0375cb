#include "graph/plan.h"

#include <string.h>

#include "base/near.h"
#include "data/big.h"
#include "graph/step.h"
#include "graph/typed.h"
#include "graph/walk.h"
#include "template/braces.h"
#include "template/resolve.h"

const struct scope *plan_enter(const struct node *n, const struct scope *up, struct scope *room)
{
	if (!n->defaults && !n->args)
		return up;
	*room = (struct scope){ .up = up, .defaults = n->defaults, .args = n->args };
	return room;
}

const struct scope *plan_enter_copy(const struct node *body, const struct scope *up, int64_t index,
	int64_t count, struct scope *room)
{
	*room = (struct scope){ .up = up,
		.defaults = body->defaults,
		.args = body->args,
		.repeats = true,
		.index = index,
		.count = count };
	return room;
}

bool plan_guard(const struct node *n, const struct scope *s, bool *runs, struct report *r)
{
	*runs = n->runs;
	if (!n->when || (n->kind == NODE_EACH && braces_mentions_copy(n->when, s)))
		return true;
	return text_decide(n->when, s, runs, r);
}

static struct where declared_where(const struct argument *arg)
{
	if (!arg->text)
		return place_where(arg->place);
	/* With its braces. */
	size_t offset = (size_t)(arg->content.p - arg->text->raw.p) - 1;
	return braces_where(arg->text, offset, arg->content.len + 2);
}

static struct str nearest_member(const struct type *type, struct str text)
{
	struct near near = near_to(text);
	struct str m;

	for (size_t i = 0; type->kind == TYPE_ENUM && (m = type_member(type, i)).p; i++)
		near_offer(&near, m);
	return near_best(&near);
}

static bool refuse_value(const struct argument *arg, const json_t *value, struct report *r)
{
	const struct type *type = &arg->declaration.type;
	struct str name = arg->declaration.name;
	AUTO_BUF found = BUF_INIT;
	AUTO_BUF wanted = BUF_INIT;

	template_text(&found, value);
	type_describe(type, &wanted);
	struct str shown = report_quote(r, buf_str(&found));
	if (json_is_string(value))
		report_error(r, declared_where(arg), "'%.*s' is '%.*s', expected %s", STR(name),
			STR(shown), buf_cstr(&wanted));
	else if (json_is_boolean(value))
		report_error(r, declared_where(arg), "'%.*s' is %.*s, expected %s", STR(name),
			STR(shown), buf_cstr(&wanted));
	else
		report_error(r, declared_where(arg), "'%.*s' is the %s %.*s, expected %s",
			STR(name), strchr(json_kind(value), ' ') + 1, STR(shown),
			buf_cstr(&wanted));
	report_field(r, name);
	struct str near = nearest_member(type, buf_str(&found));
	if (near.len)
		return report_hint(r, "did you mean '%.*s'?", STR(near));
	if (type->kind == TYPE_BOOL && json_is_number(value))
		return report_hint(
			r, "write %.*s=%.*s or %.*s:=true", STR(name), STR(shown), STR(name));
	if (type->kind == TYPE_ARRAY)
		return report_hint(r, "give one with %.*s%s", STR(name), array_form);
	return report_hint(r, "declared here as %s; given as %.*s%s%.*s", type_name(type->kind),
		STR(name), json_is_string(value) ? "=" : ":=", STR(shown));
}

static bool normalise(struct plan *p, const json_t *values, struct report *r)
{
	bool ok = true;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)values, key, value)
	{
		if (report_full_of_errors(r))
			break;
		const struct argument *arg = typed_find(p->graph, str_of(key));
		json_t *fitted =
			arg ? type_normalise(&arg->declaration.type, value) : json_incref(value);

		if (fitted) {
			json_object_set_new_nocheck(p->values, key, fitted);
			continue;
		}
		/* As it was given, so that whatever else is wrong is reported as well. Where an
		 * array is needed, that it is none has been said. */
		if (arg->declaration.type.kind == TYPE_ARRAY ||
			arg->declaration.type.kind == TYPE_WORDS)
			json_object_set_new_nocheck(p->values, key, json_pack("[O]", value));
		else
			json_object_set_nocheck(p->values, key, value);
		ok = refuse_value(arg, value, r);
	}
	return ok;
}

/* `output` is a value's name or a text with placeholders. */
static bool select_output(struct plan *p, struct report *r)
{
	const struct text *output = p->graph->output;
	struct scope room;

	if (!output)
		return true;
	const struct scope *s = plan_enter(p->graph->root, &p->scope, &room);
	if (name_valid(output->raw))
		return braces_named(s, output->raw, place_where(output->place), &p->output, r);
	return text_resolve(output, s, &p->output, r);
}

struct plan *plan_new(struct graph *g, const json_t *values, struct report *r)
{
	struct plan *p = mem_new(struct plan);

	p->references = 1;
	p->graph = graph_ref(g);
	p->values = json_object();
	p->scope.values = p->values;
	AUTO_JSON *all = json_object();
	if (json_is_object(g->values))
		json_object_update(all, g->values);
	if (values)
		json_object_update(all, (json_t *)values);
	if (g->steps) {
		/* Texts are checked when the recipe is read, and resolved step by step. */
		p->vars = json_deep_copy(g->steps->context);
		json_object_update(p->vars, all);
		json_object_update(p->values, all);
		return p;
	}
	/* Beyond 64 bits a template has doubles, as in its own text; only steps keep the digits. */
	AUTO_JSON *rounded = json_big_rounded(all);
	bool ok = normalise(p, rounded, r);
	ok &= plan_check(p, r);
	ok &= select_output(p, r);
	if (ok)
		return p;
	plan_unref(p);
	return NULL;
}

struct plan *plan_ref(struct plan *p)
{
	p->references++;
	return p;
}

void plan_unref(struct plan *p)
{
	if (!p || --p->references)
		return;
	buf_done(&p->output);
	json_decref(p->values);
	json_decref(p->vars);
	graph_unref(p->graph);
	free(p);
}
