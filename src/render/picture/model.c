#include "render/picture/model.h"

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
	buf_add(b, i->text.word);
	if (i->text.word.len && i->text.title.len)
		buf_adds(b, " · ");
	buf_add(b, i->text.title);
	if (i->text.detail.len)
		buf_printf(b, "\n%.*s", STR(i->text.detail));
	for (size_t m = 0; m < i->text.mark_count; m++) {
		const struct mark *mark = &i->text.marks[m];

		buf_printf(b, mark->state ? "\n%s%.*s" : "%s[%.*s]",
			mark->state ? ""
			: m         ? " "
				    : "\n",
			STR(mark->text));
	}
}
