#include "hosts/telegram/text/chunk.h"

#include "base/buf.h"
#include "base/lang.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "hosts/telegram/text/lines.h"
#include "hosts/telegram/text/unicode.h"

struct packer {
	struct arena *arena;
	size_t limit;
	struct buf now; /* the chunk that is filled */
	size_t units;
	VEC(struct str) done;
};

static void flush(struct packer *p)
{
	if (p->now.len)
		vec_push(&p->done, arena_str(p->arena, buf_str(&p->now)));
	buf_reset(&p->now);
	p->units = 0;
}

/* Adds it to the chunk behind `gap` line ends when it fits. */
static bool add(struct packer *p, struct str s, size_t units, size_t gap)
{
	if (!p->now.len)
		gap = 0;
	if (p->units + gap + units > p->limit)
		return false;
	buf_fill(&p->now, '\n', gap);
	buf_add(&p->now, s);
	p->units += gap + units;
	return true;
}

static void add_piece(void *data, struct str piece)
{
	struct packer *p = data;

	flush(p);
	buf_add(&p->now, piece);
	p->units = unicode_units(piece);
}

static void pack(struct packer *p, struct chunks *ret)
{
	flush(p);
	*ret = (struct chunks){ .at = arena_array(p->arena, struct str, p->done.len),
		.count = p->done.len };
	for (size_t i = 0; i < p->done.len; i++)
		ret->at[i] = p->done.at[i];
	vec_done(&p->done);
	buf_done(&p->now);
}

void chunk_markdown(struct arena *a, struct str markdown, const struct markdown_options *options,
	struct chunks *ret)
{
	struct packer p = { .arena = a, .limit = MESSAGE_UNITS };
	struct blocks blocks;

	markdown_blocks(a, markdown, options, &blocks);
	for (size_t i = 0; i < blocks.count; i++) {
		const struct block *b = &blocks.at[i];
		size_t n = unicode_units(b->html);

		if (add(&p, b->html, n, b->before))
			continue;
		flush(&p);
		if (!add(&p, b->html, n, 0))
			html_split(b->html, p.limit, add_piece, &p);
	}
	pack(&p, ret);
}

static bool whole(struct packer *p, struct str s, struct chunks *ret)
{
	if (unicode_units(s) > p->limit)
		return false;
	if (s.len)
		vec_push(&p->done, s);
	pack(p, ret);
	return true;
}

/* -- plain text ----------------------------------------------------------------------------------
 */

/* A line that fits into no chunk. */
static void add_clusters(struct packer *p, struct str line)
{
	flush(p);
	while (line.len) {
		struct str part = unicode_cut(line, p->limit);

		/* A cluster that is longer than a chunk has to be cut. */
		for (size_t max = p->limit; !part.len; max--)
			part = utf8_cut(line, max);
		add_piece(p, part);
		line = str_from(line, part.len);
	}
	flush(p);
}

static void add_lines(struct packer *p, struct str paragraph)
{
	size_t gap = 1;

	flush(p);
	for (size_t at = 0; at < paragraph.len;) {
		struct str line = line_next(paragraph, &at);
		size_t n = unicode_units(line);

		if (add(p, line, n, gap))
			continue;
		flush(p);
		if (!add(p, line, n, 0))
			add_clusters(p, line);
	}
}

/* The lines up to the next blank one; *at is moved behind it and *gap is how many line ends follow.
 */
static struct str next_paragraph(struct str text, size_t *at, size_t *gap)
{
	size_t begin = *at, end = begin;

	while (end < text.len &&
		!(text.p[end] == '\n' && end + 1 < text.len && text.p[end + 1] == '\n'))
		end++;
	*at = end;
	while (*at < text.len && text.p[*at] == '\n')
		(*at)++;
	*gap = *at - end;
	return str_sub(text, begin, end - begin);
}

static struct str without_cr(struct arena *a, struct str s)
{
	AUTO_BUF b = BUF_INIT;

	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] != '\r' || i + 1 == s.len || s.p[i + 1] != '\n')
			buf_addc(&b, s.p[i]);
	return arena_str(a, buf_str(&b));
}

void chunk_plain(struct arena *a, struct str text, struct chunks *ret)
{
	struct packer p = { .arena = a, .limit = MESSAGE_UNITS };
	size_t gap = 0, next_gap;

	text = unicode_clean(a, text);
	if (whole(&p, text, ret))
		return;
	text = without_cr(a, text);
	while (text.len && text.p[text.len - 1] == '\n')
		text.len--;
	for (size_t at = 0; at < text.len; gap = next_gap) {
		struct str paragraph = next_paragraph(text, &at, &next_gap);
		size_t n = unicode_units(paragraph);

		if (!paragraph.len || add(&p, paragraph, n, gap))
			continue;
		flush(&p);
		if (!add(&p, paragraph, n, 0))
			add_lines(&p, paragraph);
	}
	pack(&p, ret);
}
