/* The picture of a step recipe: a box for each step, a diamond for each condition and gate, a frame
 * for each stage and for each loop that has steps of its own. */
#include <inttypes.h>

#include "base/node-path.h"
#include "graph/step.h"
#include "render/picture/build.h"
#include "render/picture/text.h"

enum {
	COLUMNS_CONDITION = 34,
	COLUMNS_PROMPT = 36,
};

static void occurs(struct builder *b, enum legend what)
{
	b->picture->legend |= 1u << what;
}

static enum item_look look_of(const struct node *n)
{
	if (n->kind == NODE_CALL)
		return LOOK_RECIPE;
	if (n->kind == NODE_WAIT)
		return LOOK_WAIT;
	return n->step->agent ? LOOK_AGENT : LOOK_BASH;
}

/* -- marks ---------------------------------------------------------------------------------------
 */

/* `{{files}}` is read as files. */
static struct str list_name(const struct text *list)
{
	struct str s = str_trim(list->raw);

	if (str_starts(s, S("{{")) && str_ends(s, S("}}")))
		s = str_sub(s, 2, s.len - 4);
	return s;
}

static void mark_each(struct builder *b, struct item *i, const struct node *n, struct buf *tip)
{
	const struct step_node *s = n->step;
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "foreach ×%.*s", STR(list_name(s->loop.list)));
	build_mark(b, i, tip, &text);
	if (n->each_parallel) {
		buf_adds(&text, "parallel");
		if (s->loop.width > 0)
			buf_printf(&text, " %" PRId64, s->loop.width);
		build_mark(b, i, tip, &text);
	}
	occurs(b, n->each_parallel ? LEGEND_PARALLEL : LEGEND_EACH);
}

static void mark_loop(struct builder *b, struct item *i, const struct node *n, struct buf *tip)
{
	const struct step_node *s = n->step;
	AUTO_BUF text = BUF_INIT;

	if (n->kind == NODE_EACH) {
		mark_each(b, i, n, tip);
	} else {
		buf_printf(&text, "while %.*s",
			STR(s->loop.condition ? s->loop.condition->raw : S("true")));
		build_mark(b, i, tip, &text);
		occurs(b, LEGEND_WHILE);
	}
	if (s->loop.break_when) {
		buf_printf(&text, "until %.*s", STR(s->loop.break_when->raw));
		build_mark(b, i, tip, &text);
	}
	if (s->loop.max_rounds != s->loop.usual_rounds) {
		buf_printf(&text, "at most %" PRIu64, s->loop.max_rounds);
		build_mark(b, i, tip, &text);
	}
	if (s->loop.delay_ms) {
		buf_adds(&text, "pause ");
		build_duration(&text, s->loop.delay_ms);
		build_mark(b, i, tip, &text);
	}
}

static void mark_work(struct builder *b, struct item *i, const struct node *n, struct buf *tip)
{
	uint64_t ms = n->timeout_ms.value;
	uint64_t usual = n->step->usual_timeout_ms;
	AUTO_BUF text = BUF_INIT;

	if (ms && ms != usual) {
		buf_adds(&text, "timeout ");
		build_duration(&text, ms);
		build_mark(b, i, tip, &text);
	}
	if (n->retry.value > 1) {
		buf_printf(&text, "retry %" PRIu64, n->retry.value);
		build_mark(b, i, tip, &text);
	}
}

static void mark_failure(struct builder *b, struct item *i, const struct node *n, struct buf *tip)
{
	AUTO_BUF text = BUF_INIT;

	if (n->step->on_error == STEP_FAILURE_FAIL)
		return;
	buf_printf(&text, "on error %s",
		n->step->on_error == STEP_FAILURE_CONTINUE ? "continue" : "skip remaining");
	build_mark(b, i, tip, &text);
}

/* -- boxes and diamonds --------------------------------------------------------------------------
 */

static void detail(struct builder *b, struct item *i, const struct node *n, struct buf *tip)
{
	AUTO_BUF text = BUF_INIT;

	if (n->kind == NODE_WAIT)
		build_duration(&text, n->step->wait_ms);
	else if (n->step->agent)
		buf_printf(&text, "%.*s: %.*s", STR(n->step->agent_name), STR(n->line));
	else
		buf_add(&text, n->line);
	i->text.detail = build_text(b, i, tip, buf_str(&text), COLUMNS_TEXT);
}

static struct str round_path(struct builder *b, struct str loop)
{
	AUTO_BUF path = BUF_INIT;

	node_path_copy(&path, loop, 0);
	path.p[path.len - 1] = '*';
	return arena_str(b->arena, buf_str(&path));
}

/* One step. A loop without steps of its own is one box: `loop` and the work in it, `n`. */
static struct item *step_box(struct builder *b, const struct node *n, const struct node *loop,
	struct str path, unsigned depth)
{
	struct item *i = build_item(b, ITEM_BOX, depth);
	AUTO_BUF tip = BUF_INIT;

	i->node = loop ? loop : n;
	i->path = path;
	i->look = look_of(n);
	i->text.word = str_of(item_looks[i->look].name);
	i->text.labelled = true;
	buf_add(&tip, i->text.word);
	i->text.title = build_text(b, i, &tip, n->label, COLUMNS_TEXT);
	detail(b, i, n, &tip);
	if (loop) {
		mark_loop(b, i, loop, &tip);
		i->copies = loop->each_parallel;
	}
	mark_work(b, i, n, &tip);
	mark_failure(b, i, loop ? loop : n, &tip);
	size_t what = tip.len;
	/* Rounds say more than the loop around them. */
	if (!loop || !build_state(b, i, round_path(b, path), &tip))
		(void)build_state(b, i, path, &tip);
	build_tip(b, i, &tip, what);
	b->picture->commands++;
	occurs(b, (enum legend)(LEGEND_BASH + (i->look - LOOK_BASH)));
	if (loop && !loop->each_parallel) {
		i->again = true;
		build_arrow(b, loop->kind == NODE_WHILE ? ARROW_ROUND : ARROW_AGAIN, i, i);
	}
	return i;
}

/* The first of two lines that are as short as can be; all of it if it fits. */
static struct str head_of(struct str line, unsigned columns)
{
	unsigned all = picture_width(line), best = all, before = 0;
	size_t end = line.len;

	if (all <= columns * PICTURE_COLUMN)
		return line;
	for (size_t at = 0, from = 0; at < line.len; at++) {
		if (line.p[at] != ' ')
			continue;
		before += picture_width(str_sub(line, from, at - from));
		from = at;
		/* What is too long for two lines is cut in the second. */
		if (MAX(before, all - before) < best && before <= columns * PICTURE_COLUMN) {
			best = MAX(before, all - before);
			end = at;
		}
	}
	return str_sub(line, 0, end);
}

/* A condition on two lines at most. */
static void split(struct builder *b, struct item *i, struct str text, struct buf *tip)
{
	text = build_shown(b, text);
	struct str line = picture_line(b->arena, text);
	struct str head = head_of(line, COLUMNS_CONDITION);

	i->text.title = picture_cut(b->arena, head, COLUMNS_CONDITION);
	i->text.detail =
		picture_cut(b->arena, str_trim(str_from(line, head.len)), COLUMNS_CONDITION);
	if (!i->text.title.len)
		i->text.title = S("true"); /* an empty condition is true */
	buf_printf(tip, "\n%.*s", STR(picture_lines(b->arena, text)));
	i->text.cut |= i->text.title.len + i->text.detail.len + 1 < line.len;
}

static struct item *condition(struct builder *b, const struct node *n, unsigned depth)
{
	struct item *i = build_item(b, ITEM_CONDITION, depth);
	AUTO_BUF tip = BUF_INIT;

	i->look = LOOK_CONDITION;
	buf_printf(
		&tip, "step %.*s runs if", STR(picture_line(b->arena, build_shown(b, n->label))));
	split(b, i, n->when->raw, &tip);
	build_tip(b, i, &tip, tip.len);
	occurs(b, LEGEND_CONDITION);
	occurs(b, LEGEND_SKIP);
	return i;
}

static struct item *gate(struct builder *b, const struct node *n, struct str path, unsigned depth)
{
	struct item *i = build_item(b, ITEM_GATE, depth);
	AUTO_BUF tip = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	i->node = n;
	i->path = path;
	i->look = LOOK_GATE;
	i->text.labelled = true;
	buf_adds(&tip, "approval of stage");
	i->text.title = build_text(b, i, &tip, n->label, COLUMNS_CONDITION);
	i->text.word = S("approve");
	if (n->line.len)
		i->text.detail = build_text(b, i, &tip, n->line, COLUMNS_PROMPT);
	if (n->step->gate.timeout_ms) {
		buf_adds(&text, "after ");
		build_duration(&text, n->step->gate.timeout_ms);
		buf_adds(&text, n->step->gate.approves ? " approve" : " deny");
		build_mark(b, i, &tip, &text);
	}
	size_t what = tip.len;
	(void)build_state(b, i, path, &tip);
	build_tip(b, i, &tip, what);
	occurs(b, LEGEND_GATE);
	return i;
}

/* -- groups --------------------------------------------------------------------------------------
 */

static struct item *step(struct builder *b, const struct node *n, struct str path, unsigned depth);

/* Items in the order in which they run. */
struct row {
	struct builder *b;
	VEC(struct item *) items;
	size_t open; /* where the open conditions of this row begin */
};

static void add(struct row *r, struct item *i)
{
	struct builder *b = r->b;

	if (r->items.len)
		build_arrow(b, ARROW_NEXT, r->items.at[r->items.len - 1], i);
	vec_push(&r->items, i);
}

/* What was skipped before continues here. */
static void close_open(struct row *r, const struct item *to)
{
	struct builder *b = r->b;

	for (size_t i = r->open; i < b->open.len; i++)
		build_arrow(b, ARROW_SKIP, b->open.at[i], to);
	b->open.len = r->open;
}

static void add_step(struct row *r, const struct node *n, struct str path, unsigned depth)
{
	struct builder *b = r->b;
	const struct item *before = NULL;

	if (n->when) {
		struct item *diamond = condition(b, n, depth);

		close_open(r, diamond);
		add(r, diamond);
		before = diamond;
	}
	/* Conditions inside of it may stay open beyond its end, those before it end here. */
	size_t waiting = b->open.len;
	struct item *i = step(b, n, path, depth);
	for (size_t k = r->open; k < waiting; k++)
		build_arrow(b, ARROW_SKIP, b->open.at[k], i);
	for (size_t k = waiting; k < b->open.len; k++)
		b->open.at[k - waiting + r->open] = b->open.at[k];
	b->open.len -= waiting - r->open;
	add(r, i);
	if (before)
		vec_push(&b->open, before);
}

static struct str child_path(struct builder *b, struct str up, size_t index)
{
	AUTO_BUF path = BUF_INIT;

	node_path_child(&path, up, index);
	return arena_str(b->arena, buf_str(&path));
}

/* The children of a sequence as the children of `group`; gates come behind their stages. */
static void fill(struct builder *b, struct item *group, const struct node *n, struct str path)
{
	unsigned depth = group->depth + 1;
	struct row r = { .b = b, .open = b->open.len };
	size_t show = depth < PICTURE_DEPTH_MAX ? build_reserve(b, n->child_count) : 0;
	size_t drawn = 0;

	for (; drawn < show; drawn++) {
		const struct node *child = n->children[drawn];
		struct str below = child_path(b, path, drawn);
		const struct node *last =
			child->child_count ? child->children[child->child_count - 1] : NULL;

		if (child->kind == NODE_GATE)
			continue; /* drawn with its stage */
		add_step(&r, child, below, depth);
		if (child->step->stage.name.len && last && last->kind == NODE_GATE) {
			struct item *diamond =
				gate(b, last, child_path(b, below, child->child_count - 1), depth);

			close_open(&r, diamond);
			add(&r, diamond);
		}
	}
	if (drawn < n->child_count || !r.items.len) {
		struct item *more = depth < PICTURE_DEPTH_MAX
					    ? build_more_children(b, n->child_count - drawn, depth)
					    : build_more(b, S("… deeper levels left out"),
						      S("the picture ends at this depth"), depth);

		close_open(&r, more);
		add(&r, more);
	}
	group->children = arena_array(b->arena, struct item *, r.items.len);
	vec_each (i, &r.items)
		group->children[group->child_count++] = *i;
	vec_done(&r.items);
}

static struct item *group_of(
	struct builder *b, const struct node *n, struct str path, unsigned depth, bool bare)
{
	struct item *i = build_item(b, ITEM_SEQUENCE, depth);

	i->node = n;
	i->path = path;
	i->bare = bare;
	return i;
}

static struct item *stage(struct builder *b, const struct node *n, struct str path, unsigned depth)
{
	struct item *i = group_of(b, n, path, depth, false);
	AUTO_BUF tip = BUF_INIT;

	i->text.word = S("stage");
	i->text.labelled = true;
	buf_add(&tip, i->text.word);
	i->text.title = build_text(b, i, &tip, n->label, COLUMNS_TEXT);
	size_t what = tip.len;
	(void)build_state(b, i, path, &tip);
	build_tip(b, i, &tip, what);
	b->picture->groups++;
	fill(b, i, n, path);
	return i;
}

/* A loop whose body is a list of steps. */
static struct item *loop(struct builder *b, const struct node *n, struct str path, unsigned depth)
{
	struct item *i = group_of(b, n, path, depth, false);
	struct str inside = round_path(b, path);
	AUTO_BUF tip = BUF_INIT;

	i->text.word = n->kind == NODE_EACH ? S("foreach") : S("while");
	i->text.labelled = true;
	i->copies = n->each_parallel;
	buf_add(&tip, i->text.word);
	i->text.title = build_text(b, i, &tip, n->label, COLUMNS_TEXT);
	mark_loop(b, i, n, &tip);
	mark_failure(b, i, n, &tip);
	size_t what = tip.len;
	(void)build_state(b, i, path, &tip);
	build_tip(b, i, &tip, what);
	b->picture->groups++;
	i->children = arena_array(b->arena, struct item *, 1);
	i->child_count = 1;
	i->children[0] = group_of(b, n->children[0], inside, depth, true);
	fill(b, i->children[0], n->children[0], inside);
	if (!n->each_parallel)
		build_arrow(b, n->kind == NODE_WHILE ? ARROW_ROUND : ARROW_AGAIN, i->children[0],
			i->children[0]);
	return i;
}

static struct item *step(struct builder *b, const struct node *n, struct str path, unsigned depth)
{
	if (n->kind == NODE_SEQUENCE)
		return stage(b, n, path, depth);
	if (!node_repeats(n))
		return step_box(b, n, NULL, path, depth);
	if (n->children[0]->kind == NODE_SEQUENCE)
		return loop(b, n, path, depth);
	return step_box(b, n->children[0], n, path, depth);
}

struct item *build_steps(struct builder *b, const struct node *root)
{
	struct item *i = group_of(b, root, node_root_path(root), 0, true);

	fill(b, i, root, i->path);
	return i;
}
