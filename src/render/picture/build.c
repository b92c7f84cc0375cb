#include "render/picture/build.h"

#include <inttypes.h>

#include "base/number.h"
#include "data/mask.h"
#include "render/picture/picture.h"
#include "render/picture/text.h"

enum { COLUMNS_STATE = 60 };

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

	i->text.title = text;
	i->text.tip = tip;
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

/* Before anything is cut or cleaned: of what is left of a secret then, nothing would be known. */
struct str build_shown(struct builder *b, struct str s)
{
	return mask_text(b->options ? b->options->mask : NULL, s, b->arena);
}

/* The whole text goes to the tip, what fits to the picture. */
struct str build_text(
	struct builder *b, struct item *i, struct buf *tip, struct str s, unsigned columns)
{
	s = build_shown(b, s);
	struct str line = picture_line(b->arena, s);
	struct str cut = picture_cut(b->arena, line, columns);

	buf_printf(tip, "%s%.*s", tip->len ? "\n" : "", STR(picture_lines(b->arena, s)));
	i->text.cut |= cut.p != line.p;
	return cut;
}

void build_mark(struct builder *b, struct item *i, struct buf *tip, struct buf *text)
{
	if (i->text.mark_count + 1 >= MARKS_MAX) /* the last one is for the state */
		return;
	if (!i->text.marks)
		i->text.marks = arena_array(b->arena, struct mark, MARKS_MAX);
	i->text.marks[i->text.mark_count++].text =
		build_text(b, i, tip, buf_str(text), COLUMNS_MARK);
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

/* How many of a group's children are drawn; the rest becomes one box. */
size_t build_reserve(struct builder *b, size_t count)
{
	size_t show = count > PICTURE_CHILDREN_MAX ? PICTURE_CHILDREN_SHOWN : count;

	show = MIN(show, b->budget);
	b->budget -= (unsigned)show;
	return show;
}

/* -- what became of it ---------------------------------------------------------------------------
 */

bool build_find_state(struct builder *b, struct str path, struct picture_state *ret)
{
	*ret = (struct picture_state){ 0 };
	return path.len && b->options && b->options->state &&
	       b->options->state(b->options->state_data, path, ret);
}

void build_add_state(struct builder *b, struct item *i, const struct picture_state *s)
{
	AUTO_BUF text = BUF_INIT;

	if (!i->text.marks)
		i->text.marks = arena_array(b->arena, struct mark, 1);
	picture_state_text(s, &text);
	i->text.marks[i->text.mark_count++] = (struct mark){
		.text = picture_cut(
			b->arena, picture_line(b->arena, buf_str(&text)), COLUMNS_STATE),
		.state = true,
	};
	i->state.known = true;
	i->state.state = picture_state_worst(s);
}

bool build_state(struct builder *b, struct item *i, struct str path, struct buf *tip)
{
	struct picture_state s;

	if (!build_find_state(b, path, &s))
		return false;
	build_add_state(b, i, &s);
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
	i->text.tip = arena_str(b->arena, buf_str(tip));
	i->text.what = str_sub(i->text.tip, 0, what);
}
