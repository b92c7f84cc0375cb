#include "render/picture/model.h"

#include <inttypes.h>

#include "base/node-path.h"
#include "base/number.h"
#include "graph/graph.h"
#include "render/picture/build.h"
#include "render/picture/text.h"

enum {
	COLUMNS_TITLE = 72,
	COLUMNS_STATE = 60,
};

static struct item *build(
	struct builder *b, const struct node *n, struct str path, unsigned depth, bool recovery);

bool item_is_group(const struct item *i)
{
	return i->kind == ITEM_SEQUENCE || i->kind == ITEM_PARALLEL;
}

const struct item *item_entry(const struct item *i)
{
	while (item_is_group(i))
		i = i->fork ? i->fork : i->children[0];
	return i;
}

const struct item *item_exit(const struct item *i)
{
	while (item_is_group(i))
		i = i->join ? i->join : i->children[i->child_count - 1];
	return i;
}

const struct item *item_first(const struct item *i)
{
	while (i->bare)
		i = i->children[0];
	return i;
}

const struct item *item_last(const struct item *i)
{
	while (i->bare)
		i = i->children[i->child_count - 1];
	return i;
}

void item_lines(const struct item *i, struct buf *b)
{
	buf_add(b, i->word);
	if (i->word.len && i->title.len)
		buf_adds(b, " · ");
	buf_add(b, i->title);
	if (i->detail.len)
		buf_printf(b, "\n%.*s", STR(i->detail));
	for (size_t m = 0; m < i->mark_count; m++) {
		const struct mark *mark = &i->marks[m];

		buf_printf(b, mark->state ? "\n%s%.*s" : "%s[%.*s]",
			mark->state ? ""
			: m         ? " "
				    : "\n",
			STR(mark->text));
	}
}

struct item *build_item(struct builder *b, enum item_kind kind, unsigned depth)
{
	struct item *i = arena_new(b->arena, struct item);

	i->kind = kind;
	i->id = ++b->picture->items;
	i->depth = depth;
	return i;
}

struct item *build_more(struct builder *b, struct str text, struct str tip, unsigned depth)
{
	struct item *i = build_item(b, ITEM_MORE, depth);

	i->title = text;
	i->tip = tip;
	return i;
}

struct item *build_more_children(struct builder *b, size_t count, unsigned depth)
{
	return build_more(b, arena_printf(b->arena, "… %zu more", count),
		arena_printf(b->arena, "%zu more left out of the picture", count), depth);
}

void build_arrow(
	struct builder *b, enum arrow_kind kind, const struct item *from, const struct item *to)
{
	if (from != to) {
		from = item_last(from);
		to = item_first(to);
	}
	vec_push(&b->picture->arrows, (struct arrow){ kind, from, to });
}

/* The whole text goes to the tip, what fits to the picture. */
struct str build_text(
	struct builder *b, struct item *i, struct buf *tip, struct str s, unsigned columns)
{
	struct str line = picture_line(b->arena, s);
	struct str cut = picture_cut(b->arena, line, columns);

	buf_printf(tip, "%s%.*s", tip->len ? "\n" : "", STR(picture_lines(b->arena, s)));
	i->cut |= cut.p != line.p;
	return cut;
}

void build_mark(struct builder *b, struct item *i, struct buf *tip, struct buf *text)
{
	if (i->mark_count + 1 >= MARKS_MAX) /* the last one is for the state */
		return;
	if (!i->marks)
		i->marks = arena_array(b->arena, struct mark, MARKS_MAX);
	i->marks[i->mark_count++].text = build_text(b, i, tip, buf_str(text), COLUMNS_MARK);
	buf_reset(text);
}

/* Exact, in the largest unit that leaves no fraction worse than the text would have. */
void build_duration(struct buf *b, uint64_t ms)
{
	if (ms < 1000)
		buf_printf(b, "%" PRIu64 "ms", ms);
	else if (ms % 3600000 == 0)
		buf_printf(b, "%" PRIu64 "h", ms / 3600000);
	else if (ms % 60000 == 0)
		buf_printf(b, "%" PRIu64 "m", ms / 60000);
	else if (ms % 1000 == 0)
		buf_printf(b, "%" PRIu64 "s", ms / 1000);
	else {
		number_text(b, (double)ms / 1000);
		buf_addc(b, 's');
	}
}

static bool say_duration(struct buf *text, const char *name, const struct setting *s)
{
	if (!s->text && !s->value)
		return false;
	buf_printf(text, "%s ", name);
	if (s->text)
		buf_printf(text, "%.*s ms", STR(s->text->raw));
	else
		build_duration(text, s->value);
	return true;
}

static bool say_retry(struct buf *text, const struct setting *s)
{
	if (!s->text && s->value <= 1)
		return false;
	buf_adds(text, "retry ");
	if (s->text)
		buf_add(text, s->text->raw);
	else
		buf_printf(text, "%" PRIu64, s->value);
	return true;
}

static bool say_when(struct buf *text, const struct node *n)
{
	if (!n->when && n->runs)
		return false;
	buf_printf(text, "when %.*s", STR(n->when ? n->when->raw : S("false")));
	return true;
}

static bool say_repeat(struct buf *text, const struct node *n)
{
	if (n->kind != NODE_EACH)
		return false;
	if (n->count.number)
		buf_printf(text, "repeat ×%" PRIu64, n->count.number);
	else
		buf_printf(text, "repeat ×%.*s", STR(n->count.array));
	return true;
}

/* In the order in which they take effect when the node is entered. */
static void add_marks(struct builder *b, struct item *i, const struct node *n, struct buf *tip)
{
	AUTO_BUF text = BUF_INIT;

	i->never = !n->when && !n->runs;
	if (say_when(&text, n))
		build_mark(b, i, tip, &text);
	if (say_repeat(&text, n))
		build_mark(b, i, tip, &text);
	if (say_duration(&text, "delay", &n->delay_ms))
		build_mark(b, i, tip, &text);
	if (say_duration(&text, "timeout", &n->timeout_ms))
		build_mark(b, i, tip, &text);
	if (say_retry(&text, &n->retry))
		build_mark(b, i, tip, &text);
	if (n->failure_stated) {
		buf_printf(&text, "failure %s", failure_name(n->failure));
		build_mark(b, i, tip, &text);
	}
	if (n->import.len) {
		buf_printf(&text, "import %.*s", STR(n->import));
		build_mark(b, i, tip, &text);
	}
}

/* -- what became of it ---------------------------------------------------------------------------
 */

static bool find_state(struct builder *b, struct str path, struct picture_state *ret)
{
	*ret = (struct picture_state){ 0 };
	return path.len && b->options && b->options->state &&
	       b->options->state(b->options->state_data, path, ret);
}

static void add_state(struct builder *b, struct item *i, const struct picture_state *s)
{
	AUTO_BUF text = BUF_INIT;

	if (!i->marks)
		i->marks = arena_array(b->arena, struct mark, 1);
	picture_state_text(s, &text);
	i->marks[i->mark_count++] = (struct mark){
		.text = picture_cut(
			b->arena, picture_line(b->arena, buf_str(&text)), COLUMNS_STATE),
		.state = true,
	};
	i->known = true;
	i->outcome = picture_state_worst(s);
}

bool build_state(struct builder *b, struct item *i, struct str path, struct buf *tip)
{
	struct picture_state s;

	if (!find_state(b, path, &s))
		return false;
	add_state(b, i, &s);
	buf_addc(tip, '\n');
	picture_state_text(&s, tip);
	if (s.attempts == 1)
		buf_adds(tip, " · 1 attempt");
	return true;
}

void build_tip(struct builder *b, struct item *i, struct buf *tip, size_t what)
{
	if (i->path.len)
		buf_printf(tip, "\npath %.*s", STR(i->path));
	i->tip = arena_str(b->arena, buf_str(tip));
	i->what = str_sub(i->tip, 0, what);
}

static struct str word_of(const struct node *n)
{
	if (n->kind == NODE_EACH)
		return n->each_parallel ? S("parallel") : S("sequence");
	return n->wrapper ? S("group") : str_of(node_kind_name(n->kind));
}

static void describe(struct builder *b, struct item *i, const struct node *n, bool recovery)
{
	AUTO_BUF tip = BUF_INIT;

	i->node = n;
	i->recovery = recovery;
	if (item_is_group(i)) {
		i->word = word_of(n);
		buf_add(&tip, i->word);
	}
	/* A group that came from another recipe bears that recipe's name. */
	struct str name = n->label.len || !item_is_group(i) ? n->label : n->import;
	i->labelled = name.len > 0;
	if (i->labelled)
		i->title = build_text(b, i, &tip, name, COLUMNS_TEXT);
	if (!item_is_group(i)) {
		struct str text = n->line.len ? n->line : str_of(node_kind_name(n->kind));
		struct str *place = i->labelled ? &i->detail : &i->title;

		*place = build_text(b, i, &tip, text, COLUMNS_TEXT);
	}
	add_marks(b, i, n, &tip);
	size_t what = tip.len;
	(void)build_state(b, i, i->path, &tip);
	if (recovery)
		buf_adds(&tip, "\nruns between attempts");
	build_tip(b, i, &tip, what);
}

/* How many of a group's children are drawn; the rest becomes one box. */
size_t build_reserve(struct builder *b, size_t count)
{
	size_t show = count > PICTURE_CHILDREN_MAX ? PICTURE_CHILDREN_SHOWN : count;

	show = MIN(show, b->budget);
	b->budget -= (unsigned)show;
	return show;
}

static struct str child_path(struct builder *b, const struct item *group, size_t index)
{
	AUTO_BUF path = BUF_INIT;

	if (group->node->kind == NODE_EACH) {
		node_path_copy(&path, group->path, 0);
		path.p[path.len - 1] = '*'; /* one box stands for every copy */
	} else {
		node_path_child(&path, group->path, index);
	}
	return arena_str(b->arena, buf_str(&path));
}

/* What is left out is counted: a failure must not hide in it. */
static void count_left_out(struct builder *b, const struct item *group, size_t from, size_t to)
{
	struct item *more = group->children[group->child_count - 1];
	struct picture_state sum = { 0 };
	bool any = false;

	for (size_t i = from; i < to; i++) {
		struct picture_state s;

		if (!find_state(b, child_path(b, group, i), &s))
			continue;
		picture_state_merge(&sum, &s);
		any = true;
	}
	sum.coded = false;
	if (any)
		add_state(b, more, &sum);
}

static void add_children(struct builder *b, struct item *group, const struct node *n)
{
	unsigned depth = group->depth + 1;
	size_t show = depth < PICTURE_DEPTH_MAX ? build_reserve(b, n->child_count) : 0;
	size_t more = n->child_count - show;

	group->children = arena_array(b->arena, struct item *, show + 1);
	for (size_t i = 0; i < show; i++)
		group->children[group->child_count++] =
			build(b, n->children[i], child_path(b, group, i), depth, false);
	if (depth >= PICTURE_DEPTH_MAX)
		group->children[group->child_count++] = build_more(b, S("… deeper levels left out"),
			S("the picture ends at this depth"), depth);
	else if (more)
		group->children[group->child_count++] = build_more_children(b, more, depth);
	if (more && b->picture->run && n->kind != NODE_EACH)
		count_left_out(b, group, show, n->child_count);
}

static void connect_children(struct builder *b, struct item *group)
{
	if (group->kind == ITEM_PARALLEL) {
		group->fork = build_item(b, ITEM_FORK, group->depth + 1);
		group->join = build_item(b, ITEM_JOIN, group->depth + 1);
	}
	for (size_t i = 0; i < group->child_count; i++) {
		const struct item *child = group->children[i];

		if (group->kind == ITEM_PARALLEL) {
			build_arrow(b, ARROW_BRANCH, group->fork, child);
			build_arrow(b, ARROW_BRANCH, child, group->join);
		} else if (i) {
			build_arrow(b, ARROW_NEXT, group->children[i - 1], child);
		}
	}
	if (group->node->kind == NODE_EACH && group->kind == ITEM_SEQUENCE)
		build_arrow(b, ARROW_AGAIN, group->children[0], group->children[0]);
	if (group->node->kind == NODE_EACH && group->kind == ITEM_PARALLEL)
		group->children[0]->copies = true;
}

static void add_recover(struct builder *b, struct item *i, const struct node *n)
{
	AUTO_BUF path = BUF_INIT;

	if (!n->recover)
		return;
	if (!b->budget || i->depth + 1 >= PICTURE_DEPTH_MAX) {
		i->recover = build_more(b, S("… recovery left out"),
			S("the picture ends at this depth or size"), i->depth + 1);
	} else {
		b->budget--;
		node_path_recover(&path, i->path);
		i->recover = build(
			b, n->recover, arena_str(b->arena, buf_str(&path)), i->depth + 1, true);
	}
	build_arrow(b, ARROW_RECOVER, i, i->recover);
}

static struct item *build(
	struct builder *b, const struct node *n, struct str path, unsigned depth, bool recovery)
{
	enum item_kind kind = n->child_count == 0 ? ITEM_BOX
			      : node_joins(n)     ? ITEM_PARALLEL
						  : ITEM_SEQUENCE;
	struct item *i = build_item(b, kind, depth);

	i->path = path;
	describe(b, i, n, recovery);
	if (kind == ITEM_BOX) {
		b->picture->commands++;
	} else {
		b->picture->groups++;
		add_children(b, i, n);
		connect_children(b, i);
	}
	add_recover(b, i, n);
	return i;
}

static struct str description(const struct builder *b)
{
	const struct picture *p = b->picture;
	const char *few = p->commands == 1 ? "" : "s";

	if (p->steps)
		return arena_printf(b->arena,
			"%u step%s, from top to bottom. A diamond is a condition or an approval; a "
			"dashed arrow passes a step by.",
			p->commands, few);
	return arena_printf(b->arena,
		"%u command%s in %u group%s, from top to bottom. The steps of a sequence run one "
		"after the other; the branches of a parallel group run at once, between two bars.",
		p->commands, few, p->groups, p->groups == 1 ? "" : "s");
}

void picture_build(struct picture *p, const struct graph *g, const struct picture_options *options,
	unsigned items_max)
{
	struct builder b = { p, options, &p->arena, items_max, { 0 } };
	struct str title = options ? options->title : S("");

	*p = (struct picture){ .run = options && options->state, .steps = g->steps, .graph = g };
	p->title = picture_cut(b.arena, picture_line(b.arena, title), COLUMNS_TITLE);
	p->start = build_item(&b, ITEM_START, 0);
	p->start->tip = S("start");
	p->root = g->steps ? build_steps(&b, g->root)
			   : build(&b, g->root, node_root_path(g->root), 0, false);
	p->end = build_item(&b, ITEM_END, 0);
	p->end->tip = S("end");
	build_arrow(&b, ARROW_NEXT, p->start, p->root);
	build_arrow(&b, ARROW_NEXT, p->root, p->end);
	vec_each (condition, &b.open)
		build_arrow(&b, ARROW_SKIP, *condition, p->end);
	vec_done(&b.open);
	p->description = description(&b);
}

void picture_done(struct picture *p)
{
	vec_done(&p->arrows);
	arena_done(&p->arena);
}
