#include "hosts/telegram/text/preview.h"

#include "base/buf.h"
#include "base/lang.h"
#include "base/utf8.h"
#include "hosts/telegram/text/html.h"
#include "hosts/telegram/text/markdown.h"
#include "hosts/telegram/text/unicode.h"

enum { SOURCE_BYTES = 64 * 1024 };

/* Whether what comes next can no longer change the last block. */
static bool finished(const struct blocks *blocks, const struct block *last)
{
	struct str after = str_from(blocks->source, MIN(last->end, blocks->source.len));

	switch (last->kind) {
	case BLOCK_CODE:
		if (last->closed && str_starts(after, S("\n")))
			return true;
		break;
	case BLOCK_HEADING:
	case BLOCK_RULE:
		return str_starts(after, S("\n"));
	case BLOCK_TEXT:
	case BLOCK_LIST:
	case BLOCK_TABLE:
	case BLOCK_QUOTE:
		break;
	}
	return last->closed && str_starts(after, S("\n")) && after.len > 1;
}

struct first_piece {
	struct arena *arena;
	struct str piece;
};

static void keep_first(void *data, struct str piece)
{
	struct first_piece *f = data;

	if (!f->piece.len)
		f->piece = arena_str(f->arena, piece);
}

/* As many blocks as fit. */
static void put_blocks(struct arena *a, struct buf *b, const struct blocks *blocks, size_t count)
{
	size_t units = 0;

	for (size_t i = 0; i < count; i++) {
		const struct block *one = &blocks->at[i];

		units += one->before + unicode_units(one->html);
		if (units > MESSAGE_UNITS)
			break;
		buf_fill(b, '\n', one->before);
		buf_add(b, one->html);
	}
	if (!b->len && count) {
		struct first_piece first = { .arena = a };

		html_split(blocks->at[0].html, MESSAGE_UNITS, keep_first, &first);
		buf_add(b, first.piece);
	}
}

static void put_tail(struct buf *b, const struct blocks *blocks)
{
	const struct block *tail = &blocks->at[blocks->count - 1];
	struct str source = str_from(blocks->source, tail->begin);
	size_t len = b->len;

	while (source.len && (source.p[source.len - 1] == '\n' || source.p[source.len - 1] == ' '))
		source.len--;
	buf_fill(b, '\n', tail->before);
	html_escape(b, source);
	if (unicode_units(buf_str(b)) > MESSAGE_UNITS)
		buf_truncate(b, len);
}

bool preview_make(
	struct arena *a, struct str markdown, const struct preview *last, struct preview *ret)
{
	AUTO_BUF text = BUF_INIT;
	struct blocks blocks;

	/* What is beyond a message is not shown, so that it need not be read each time. */
	markdown = utf8_cut(markdown, SOURCE_BYTES);
	markdown_blocks(a, markdown, NULL, &blocks);
	if (!blocks.count)
		return false;
	bool tail = !finished(&blocks, &blocks.at[blocks.count - 1]);
	bool html = blocks.count > tail;
	if (html) {
		put_blocks(a, &text, &blocks, blocks.count - tail);
		if (tail)
			put_tail(&text, &blocks);
	} else {
		markdown_plain(&text, markdown);
	}
	struct str shown = buf_str(&text);
	if (!html)
		shown = unicode_cut(shown, MESSAGE_UNITS);
	if (!shown.len || (last && last->html == html && str_eq(last->text, shown)))
		return false;
	*ret = (struct preview){ .text = arena_str(a, shown), .html = html };
	return true;
}
