/* The picture of a template: a box for each command, a frame for each group. */
#include <inttypes.h>

#include "base/node-path.h"
#include "render/picture/build.h"

static struct item *build(
	struct builder *b, const struct node *n, struct str path, unsigned depth, bool recovery);

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
		i->text.word = word_of(n);
		buf_add(&tip, i->text.word);
	}
	/* A group that came from another recipe bears that recipe's name. */
	struct str name = n->label.len || !item_is_group(i) ? n->label : n->import;
	i->text.labelled = name.len > 0;
	if (i->text.labelled)
		i->text.title = build_text(b, i, &tip, name, COLUMNS_TEXT);
	if (!item_is_group(i)) {
		struct str text = n->line.len ? n->line : str_of(node_kind_name(n->kind));
		struct str *place = i->text.labelled ? &i->text.detail : &i->text.title;

		*place = build_text(b, i, &tip, text, COLUMNS_TEXT);
	}
	add_marks(b, i, n, &tip);
	size_t what = tip.len;
	(void)build_state(b, i, i->path, &tip);
	if (recovery)
		buf_adds(&tip, "\nruns between attempts");
	build_tip(b, i, &tip, what);
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

		if (!build_find_state(b, child_path(b, group, i), &s))
			continue;
		picture_state_merge(&sum, &s);
		any = true;
	}
	sum.coded = false;
	if (any)
		build_add_state(b, more, &sum);
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

struct item *build_template(struct builder *b, const struct node *root)
{
	return build(b, root, node_root_path(root), 0, false);
}
