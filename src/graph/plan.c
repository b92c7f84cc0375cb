#include "graph/plan.h"

#include "base/utf8.h"
#include "graph/walk.h"
#include "template/braces.h"

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

/* The declaration that types a name: an entry of `args` beats a placeholder's, then the first. One
 * without a type only says that there is such a name. */
static const struct argument *declared(const struct graph *g, struct str name)
{
	const struct argument *found = NULL;

	vec_each (arg, &g->arguments) {
		if (arg->declaration.type.kind == TYPE_NONE || !str_eq(arg->declaration.name, name))
			continue;
		if (!found || (found->inlined && !arg->inlined))
			found = arg;
	}
	return found;
}

static bool normalise(struct plan *p, const json_t *values, struct report *r)
{
	bool ok = true;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)values, key, value)
	{
		const struct argument *arg = declared(p->graph, str_of(key));
		json_t *fitted =
			arg ? type_normalise(&arg->declaration.type, value) : json_incref(value);

		if (fitted) {
			json_object_set_new_nocheck(p->values, key, fitted);
			continue;
		}
		AUTO_BUF found = BUF_INIT;
		AUTO_BUF wanted = BUF_INIT;
		value_text(&found, value);
		type_describe(&arg->declaration.type, &wanted);
		struct str shown = utf8_head(buf_str(&found), 80);
		ok = report_error(r, place_where(arg->place), "'%s' is '%.*s', expected %s", key,
			STR(shown), buf_cstr(&wanted));
		report_hint(r, "it was given as the value of %s:%s", key,
			type_name(arg->declaration.type.kind));
	}
	return ok;
}

/* `output` is a value's name or a text with placeholders (section 14). */
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
	bool ok = normalise(p, all, r);
	ok = ok && plan_check(p, r);
	ok = ok && select_output(p, r);
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
	graph_unref(p->graph);
	free(p);
}
