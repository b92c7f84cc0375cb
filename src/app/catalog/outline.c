/* The nodes or steps of a recipe for people, a line each. */
#include <inttypes.h>

#include "app/catalog/ref.h"
#include "app/catalog/secrets.h"
#include "base/plain-text.h"
#include "base/utf8.h"
#include "graph/node.h"
#include "steps/read/recipe.h"

enum { LINE_BYTES = 150 };

static void add_short(struct buf *b, struct str text)
{
	AUTO_BUF shown = BUF_INIT;

	utf8_add_short(&shown, text, LINE_BYTES);
	text_plain(b, buf_str(&shown));
}

/* What the step does: the text that says most about it. */
static void add_work(struct buf *b, const struct step *s)
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
	struct str line = utf8_trim(buf_str(&text));
	size_t end = str_find(line, '\n', 0);
	add_short(b, str_sub(line, 0, end));
	buf_adds(b, end < line.len ? " …" : "");
}

static void add_flag(struct buf *b, const char *name, struct str text)
{
	buf_printf(b, "%s ", name);
	add_short(b, text);
}

static void add_loop(struct buf *b, const struct step *s)
{
	if (s->loop == STEP_FOREACH) {
		add_flag(b, ", foreach", s->rounds.foreach.text);
		if (s->rounds.parallel > 0)
			buf_printf(b, ", parallel %" PRId64, s->rounds.parallel);
		else if (s->rounds.parallel)
			buf_adds(b, ", parallel");
	} else if (s->loop == STEP_WHILE) {
		add_flag(b, ", while", s->rounds.while_condition.text);
	}
}

static void add_step(struct buf *b, const struct step *s, unsigned depth)
{
	buf_fill(b, ' ', 2 + 2 * (size_t)depth);
	text_plain(b, s->id);
	buf_printf(b, " (%s", s->rounds.step_count ? "steps" : step_type_name(s->type));
	if (s->condition.text.p)
		add_flag(b, ", if", s->condition.text);
	add_loop(b, s);
	if (s->retry.given && s->retry.max_attempts > 1)
		buf_printf(b, ", up to %" PRId64 " attempts", s->retry.max_attempts);
	if (s->on_error != STEP_FAIL)
		buf_printf(b, ", on error %s",
			s->on_error == STEP_CONTINUE ? "continue" : "skip remaining");
	buf_addc(b, ')');
	if (!s->rounds.step_count) {
		buf_adds(b, ": ");
		add_work(b, s);
	}
	if (s->output.text.len || s->rounds.collect.text.len) {
		buf_adds(b, " → ");
		text_plain(b, s->rounds.collect.text.len ? s->rounds.collect.text : s->output.text);
	}
	buf_addc(b, '\n');
	for (size_t i = 0; i < s->rounds.step_count; i++)
		add_step(b, s->rounds.steps[i], depth + 1);
}

static void add_stage(struct buf *b, const struct step_stage *stage)
{
	buf_adds(b, "  stage ");
	text_plain(b, stage->name);
	buf_addc(b, '\n');
	for (size_t i = 0; i < stage->step_count; i++)
		add_step(b, stage->steps[i], 1);
	if (!stage->approval.required)
		return;
	buf_adds(b, "    approval: ");
	add_short(b, stage->approval.prompt.text);
	if (stage->approval.timeout_ms)
		buf_printf(b, " (%s after %" PRIu64 " s)",
			stage->approval.fallback == STEP_APPROVE ? "approved" : "denied",
			stage->approval.timeout_ms / 1000);
	buf_addc(b, '\n');
}

static void add_steps(struct buf *b, const struct step_recipe *recipe)
{
	for (size_t i = 0; i < recipe->stage_count; i++)
		add_stage(b, recipe->stages[i]);
	for (size_t i = 0; i < recipe->step_count; i++)
		add_step(b, recipe->steps[i], 0);
}

static void add_node(struct buf *b, const struct node *n, unsigned depth)
{
	buf_fill(b, ' ', (size_t)depth * 2 + 2);
	if (n->kind == NODE_COMMAND) {
		if (n->label.len) {
			text_plain(b, n->label);
			buf_adds(b, ": ");
		}
		add_short(b, n->line);
	} else {
		const struct node *named = n->kind == NODE_EACH ? n->children[0] : n;

		buf_adds(b, n->wrapper ? "group" : node_kind_name(n->kind));
		if (named->label.len) {
			buf_addc(b, ' ');
			text_plain(b, named->label);
		}
		if (named->import.len) {
			buf_adds(b, " (from ");
			text_plain(b, named->import);
			buf_addc(b, ')');
		}
	}
	buf_addc(b, '\n');
	for (size_t i = 0; i < n->child_count && depth < 40; i++)
		add_node(b, n->children[i], depth + 1);
}

void recipe_outline(const struct recipe_ref *ref, struct buf *b)
{
	struct mask *mask = recipe_mask(ref->recipe, ref->graph, ref->values);
	struct arena a = ARENA_INIT;
	AUTO_BUF lines = BUF_INIT;

	if (ref->recipe && ref->recipe->steps)
		add_steps(&lines, ref->recipe->steps);
	else
		add_node(&lines, ref->graph->root, 0);
	buf_add(b, mask_text(mask, buf_str(&lines), &a));
	arena_done(&a);
	mask_free(mask);
}

bool recipe_has_stages(const struct recipe_ref *ref)
{
	return ref->recipe && ref->recipe->steps && ref->recipe->steps->stage_count;
}
