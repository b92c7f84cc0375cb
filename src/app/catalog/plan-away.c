#include "app/catalog/plan-away.h"

#include <inttypes.h>

#include "data/json-out.h"
#include "remote/program.h"
#include "remote/submission.h"

bool plan_away_open(struct plan_away *p, struct app *a, const char *on, const struct node *root,
	struct report *warnings, struct report *r)
{
	AUTO_REPORT found = REPORT_INIT;

	*p = (struct plan_away){ 0 };
	if (!on)
		return true;
	if (!executor_choose(a, str_of(on), &p->arena, &p->choice, r))
		return false;
	if (!p->choice.table)
		return true;
	p->placement = (struct placement){ p->choice.table, p->choice.class };
	bool ok = placement_check(&p->placement, root, NULL, NULL, &found);
	report_move(ok ? warnings : r, &found);
	return ok && program_path(app_state_root(a), &p->arena, &p->roux, r);
}

void plan_away_done(struct plan_away *p)
{
	executor_choice_done(&p->choice);
	vec_done(&p->shapes);
	vec_done(&p->limited);
	vec_done(&p->notes);
	arena_done(&p->arena);
}

/* Waiting for a node counts in the limit of a group, as waiting for a slot does here. */
static void note_limit(struct plan_away *p, const struct node *n)
{
	AUTO_BUF text = BUF_INIT;

	if (!n->timeout_ms.value && !n->timeout_ms.text)
		return;
	vec_each (known, &p->limited)
		if (*known == n)
			return;
	vec_push(&p->limited, n);
	buf_adds(&text, "the time limit");
	if (n->label.len)
		buf_printf(&text, " of '%.*s'", STR(n->label));
	if (n->timeout_ms.value)
		buf_printf(&text, ", %" PRIu64 " ms,", n->timeout_ms.value);
	buf_printf(&text, " also counts the time that commands in it wait for %.*s",
		STR(p->choice.name));
	vec_push(&p->notes, arena_str(&p->arena, buf_str(&text)));
}

const struct shape *plan_away_see(struct plan_away *p, const struct walk_leaf *leaf)
{
	struct shape shape;

	if (!plan_away_is_open(p) || !leaf->argv ||
		!placement_of(&p->placement, leaf->node, leaf->within, &shape))
		return NULL;
	const struct walk_call *within = leaf->within;
	for (const struct node *n = machine_outward(leaf->node, &within); n;
		n = machine_outward(n, &within))
		note_limit(p, n);
	vec_each (known, &p->shapes)
		if (shape_same(known, &shape))
			return known;
	vec_push(&p->shapes, shape);
	return &p->shapes.at[p->shapes.len - 1];
}

void plan_away_leaf_json(struct plan_away *p, const struct walk_leaf *leaf, struct json_out *o)
{
	struct needs needs;

	if (!plan_away_is_open(p))
		return;
	json_out_str(o, "on", plan_away_see(p, leaf) ? p->choice.name : S("local"));
	AUTO_JSON *said =
		machine_needs(leaf->node, leaf->within, &needs) ? needs_json(&needs) : json_null();
	json_out_value(o, "needs", said);
}

const char *const *plan_away_words(struct plan_away *p, const struct shape *s, struct report *r)
{
	return submission_example(p->choice.table, s, p->roux, &p->arena, r);
}

bool plan_away_json(struct plan_away *p, struct json_out *o, struct report *r)
{
	bool ok = true;

	if (!plan_away_is_open(p))
		return true;
	json_out_array(o, "submits");
	vec_each (shape, &p->shapes) {
		const char *const *argv = plan_away_words(p, shape, r);
		AUTO_JSON *asks = shape_json(shape);

		ok &= argv != NULL;
		json_out_object(o, NULL);
		json_out_value(o, "shape", asks);
		json_out_array(o, "argv");
		for (size_t i = 0; argv && argv[i]; i++)
			json_out_str(o, NULL, str_of(argv[i]));
		json_out_array_end(o);
		json_out_object_end(o);
	}
	json_out_array_end(o);
	json_out_array(o, "notes");
	vec_each (note, &p->notes)
		json_out_str(o, NULL, *note);
	json_out_array_end(o);
	return ok;
}
