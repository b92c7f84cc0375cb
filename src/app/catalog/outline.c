/* The nodes or steps of a recipe for people, a line each. */
#include <inttypes.h>

#include "app/catalog/ref.h"
#include "app/catalog/secrets.h"
#include "base/plain-text.h"
#include "base/utf8.h"
#include "graph/node.h"
#include "steps/read/recipe.h"

enum { LINE_BYTES = 150 };

struct outline {
	struct buf *b;
	struct mask *mask; /* NULL: nothing is secret */
	struct arena arena;
};

/* Masked before anything else becomes of it: a secret is found only as it is written. */
static void add_text(struct outline *o, struct str text)
{
	text_plain(o->b, mask_text(o->mask, text, &o->arena));
}

static void add_short(struct outline *o, struct str text)
{
	AUTO_BUF shown = BUF_INIT;

	utf8_add_short(&shown, mask_text(o->mask, text, &o->arena), LINE_BYTES);
	text_plain(o->b, buf_str(&shown));
}

/* What the step does: the text that says most about it. */
static void add_work(struct outline *o, const struct step *s)
{
	AUTO_BUF text = BUF_INIT;

	switch (s->type) {
	case STEP_BASH:
		buf_add(&text, s->bash.command.text);
		break;
	case STEP_AGENT:
		if (s->agent.name.text.len)
			buf_printf(&text, "%.*s: %.*s", STR(s->agent.name.text),
				STR(s->agent.prompt.text));
		break;
	case STEP_RECIPE:
		buf_add(&text, s->called.recipe.text);
		break;
	case STEP_WAIT:
		buf_printf(&text, "%g s", (double)s->wait_ms / 1000);
		break;
	case STEP_TYPE_COUNT:
		break;
	}
	struct str line = utf8_trim(mask_text(o->mask, buf_str(&text), &o->arena));
	size_t end = str_find(line, '\n', 0);
	add_short(o, str_sub(line, 0, end));
	buf_adds(o->b, end < line.len ? " …" : "");
}

static void add_flag(struct outline *o, const char *name, struct str text)
{
	buf_printf(o->b, "%s ", name);
	add_short(o, text);
}

static void add_loop(struct outline *o, const struct step *s)
{
	if (s->loop == STEP_FOREACH) {
		add_flag(o, ", foreach", s->rounds.foreach.text);
		if (s->rounds.parallel > 0)
			buf_printf(o->b, ", parallel %" PRId64, s->rounds.parallel);
		else if (s->rounds.parallel)
			buf_adds(o->b, ", parallel");
	} else if (s->loop == STEP_WHILE) {
		add_flag(o, ", while", s->rounds.while_condition.text);
	}
}

static void add_step(struct outline *o, const struct step *s, unsigned depth)
{
	buf_fill(o->b, ' ', 2 + 2 * (size_t)depth);
	add_text(o, s->id);
	buf_printf(o->b, " (%s", s->rounds.step_count ? "steps" : step_type_name(s->type));
	if (s->condition.text.p)
		add_flag(o, ", if", s->condition.text);
	add_loop(o, s);
	if (s->retry.given && s->retry.max_attempts > 1)
		buf_printf(o->b, ", up to %" PRId64 " attempts", s->retry.max_attempts);
	if (s->on_error != STEP_FAIL)
		buf_printf(o->b, ", on error %s",
			s->on_error == STEP_CONTINUE ? "continue" : "skip remaining");
	buf_addc(o->b, ')');
	if (!s->rounds.step_count) {
		buf_adds(o->b, ": ");
		add_work(o, s);
	}
	if (s->output.text.len || s->rounds.collect.text.len) {
		buf_adds(o->b, " → ");
		add_text(o, s->rounds.collect.text.len ? s->rounds.collect.text : s->output.text);
	}
	buf_addc(o->b, '\n');
	for (size_t i = 0; i < s->rounds.step_count; i++)
		add_step(o, s->rounds.steps[i], depth + 1);
}

static void add_stage(struct outline *o, const struct step_stage *stage)
{
	buf_adds(o->b, "  stage ");
	add_text(o, stage->name);
	buf_addc(o->b, '\n');
	for (size_t i = 0; i < stage->step_count; i++)
		add_step(o, stage->steps[i], 1);
	if (!stage->approval.required)
		return;
	buf_adds(o->b, "    approval: ");
	add_short(o, stage->approval.prompt.text);
	if (stage->approval.timeout_ms)
		buf_printf(o->b, " (%s after %" PRIu64 " s)",
			stage->approval.fallback == STEP_APPROVE ? "approved" : "denied",
			stage->approval.timeout_ms / 1000);
	buf_addc(o->b, '\n');
}

static void add_steps(struct outline *o, const struct step_recipe *recipe)
{
	for (size_t i = 0; i < recipe->stage_count; i++)
		add_stage(o, recipe->stages[i]);
	for (size_t i = 0; i < recipe->step_count; i++)
		add_step(o, recipe->steps[i], 0);
}

static void add_node(struct outline *o, const struct node *n, unsigned depth)
{
	buf_fill(o->b, ' ', (size_t)depth * 2 + 2);
	if (n->kind == NODE_COMMAND) {
		if (n->label.len) {
			add_text(o, n->label);
			buf_adds(o->b, ": ");
		}
		add_short(o, n->line);
	} else {
		const struct node *named = n->kind == NODE_EACH ? n->children[0] : n;

		buf_adds(o->b, n->wrapper ? "group" : node_kind_name(n->kind));
		if (named->label.len) {
			buf_addc(o->b, ' ');
			add_text(o, named->label);
		}
		if (named->import.len) {
			buf_adds(o->b, " (from ");
			add_text(o, named->import);
			buf_addc(o->b, ')');
		}
	}
	buf_addc(o->b, '\n');
	for (size_t i = 0; i < n->child_count && depth < 40; i++)
		add_node(o, n->children[i], depth + 1);
}

void recipe_outline(const struct recipe_ref *ref, struct buf *b)
{
	struct outline o = { b, recipe_mask(ref->recipe, ref->graph, ref->values), ARENA_INIT };

	if (ref->recipe && ref->recipe->steps)
		add_steps(&o, ref->recipe->steps);
	else
		add_node(&o, ref->graph->root, 0);
	arena_done(&o.arena);
	mask_free(o.mask);
}

bool recipe_has_stages(const struct recipe_ref *ref)
{
	return ref->recipe && ref->recipe->steps && ref->recipe->steps->stage_count;
}
