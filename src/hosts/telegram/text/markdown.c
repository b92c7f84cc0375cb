#include "hosts/telegram/text/markdown.h"

#include "base/lang.h"
#include "base/vec.h"
#include "hosts/telegram/text/html.h"
#include "hosts/telegram/text/inline.h"
#include "hosts/telegram/text/lines.h"
#include "hosts/telegram/text/table.h"
#include "hosts/telegram/text/unicode.h"

#define NBSP "\xc2\xa0"
#define RULE "────────────"
enum { LANGUAGE_BYTES = 40 };

/* One block as it is found: where its HTML is in `out`. */
struct found {
	struct block block;
	size_t html, html_end;
};

struct reader {
	struct arena *arena;
	const struct markdown_options *options;
	struct str source;
	size_t at;     /* where the next line begins */
	size_t blanks; /* blank lines since the last block */
	struct buf out;
	VEC(struct found) blocks;
};

/* -- helpers -------------------------------------------------------------------------------------
 */

static struct line peek(const struct reader *r, size_t at)
{
	return line_read(line_next(r->source, &at));
}

static bool at_end(const struct reader *r, size_t at)
{
	return at >= r->source.len;
}

/* How many line ends stand before the next block. A heading has a blank line on both sides. */
static size_t gap(const struct reader *r, enum block_kind kind)
{
	size_t count = r->blocks.len;

	if (!count)
		return 0;
	bool heading = kind == BLOCK_HEADING || r->blocks.at[count - 1].block.kind == BLOCK_HEADING;
	return MAX(r->blanks, heading ? 1u : 0u) + 1;
}

static void begin_block(struct reader *r, enum block_kind kind)
{
	struct block b = { .kind = kind, .before = gap(r, kind), .begin = r->at, .closed = true };

	vec_push(&r->blocks, (struct found){ .block = b, .html = r->out.len });
	r->blanks = 0;
}

/* The block's lines end where the next line begins. */
static void end_block(struct reader *r)
{
	struct found *f = &r->blocks.at[r->blocks.len - 1];

	f->html_end = r->out.len;
	f->block.end = MIN(r->at ? r->at - 1 : 0, r->source.len);
}

static void put_indent(struct buf *b, size_t columns)
{
	for (size_t i = 0; i < columns / 2; i++)
		buf_adds(b, NBSP NBSP);
}

/* -- lines of text -------------------------------------------------------------------------------
 */

/* A line that begins nothing else: code needs a blank line before it. */
static bool continues(const struct line *l)
{
	return l->kind == LINE_TEXT;
}

static void put_mark(struct buf *b, const struct line *l)
{
	put_indent(b, l->columns);
	if (l->number.len)
		buf_printf(b, "<code>%.*s</code>", STR(l->number));
	if (l->task)
		buf_printf(b, "%s<code>[%c]</code>", l->number.len ? " " : "", l->task);
	else if (!l->number.len)
		buf_adds(b, "<code>-</code>");
	if (l->rest.len)
		buf_addc(b, ' ');
}

static bool table_begins(const struct reader *r, const struct line *l, size_t next)
{
	return l->kind != LINE_QUOTE && table_line(l->text) && !at_end(r, next) &&
	       table_separator(line_next(r->source, &next));
}

/* The text that begins with `first` (at the offset `begin` of the source) and the lines that
 * continue it, as one run of inline text: a style may cross their line ends. */
static void put_run(struct reader *r, struct str first)
{
	size_t begin = (size_t)(first.p - r->source.p), end = begin + first.len;

	while (!at_end(r, r->at)) {
		size_t next = r->at;
		struct line l = line_read(line_next(r->source, &next));

		if (!continues(&l) || table_begins(r, &l, next))
			break;
		end = r->at + l.text.len;
		r->at = next;
	}
	inline_html(&r->out, str_sub(r->source, begin, end - begin), S(""));
}

static void read_text(struct reader *r)
{
	begin_block(r, BLOCK_TEXT);
	struct str first = line_next(r->source, &r->at);
	put_run(r, first);
	end_block(r);
}

static void read_list(struct reader *r)
{
	bool first = true;

	begin_block(r, BLOCK_LIST);
	while (!at_end(r, r->at)) {
		struct line l = peek(r, r->at);
		size_t next = r->at;

		if (l.kind != LINE_ITEM)
			break;
		(void)line_next(r->source, &next);
		if (!first && table_begins(r, &l, next))
			break;
		if (!first)
			buf_addc(&r->out, '\n');
		first = false;
		put_mark(&r->out, &l);
		r->at = next;
		put_run(r, l.rest);
	}
	end_block(r);
}

static void read_heading(struct reader *r, const struct line *l)
{
	begin_block(r, BLOCK_HEADING);
	(void)line_next(r->source, &r->at);
	buf_adds(&r->out, "<b>");
	inline_html(&r->out, l->rest, S(""));
	buf_adds(&r->out, "</b>");
	end_block(r);
}

static void read_rule(struct reader *r)
{
	begin_block(r, BLOCK_RULE);
	(void)line_next(r->source, &r->at);
	buf_adds(&r->out, RULE);
	end_block(r);
}

/* -- code ----------------------------------------------------------------------------------------
 */

static void open_code(struct buf *b, struct str language)
{
	if (language.len)
		buf_printf(b, "<pre><code class=\"language-%.*s\">", STR(language));
	else
		buf_adds(b, "<pre><code>");
}

static void close_code(struct buf *b)
{
	buf_adds(b, "</code></pre>");
}

/* Without at most `columns` columns of spaces at its beginning. */
static struct str unindent(struct str line, size_t columns)
{
	size_t i = 0, at = 0;

	while (i < line.len && at < columns && (line.p[i] == ' ' || line.p[i] == '\t')) {
		at += line.p[i] == '\t' ? 4 - at % 4 : 1;
		i++;
	}
	return str_from(line, i);
}

static void read_fence(struct reader *r, const struct line *fence)
{
	char language[LANGUAGE_BYTES];
	size_t len = line_language(fence, language, sizeof(language));
	bool first = true, closed = false;

	begin_block(r, BLOCK_CODE);
	(void)line_next(r->source, &r->at);
	open_code(&r->out, (struct str){ language, len });
	while (!at_end(r, r->at) && !closed) {
		struct str line = line_next(r->source, &r->at);

		closed = line_closes(line, fence);
		if (closed)
			break;
		if (!first)
			buf_addc(&r->out, '\n');
		first = false;
		html_escape(&r->out, unindent(line, fence->columns));
	}
	close_code(&r->out);
	r->blocks.at[r->blocks.len - 1].block.closed = closed;
	end_block(r);
}

static void read_indented(struct reader *r)
{
	size_t pending = 0;

	begin_block(r, BLOCK_CODE);
	open_code(&r->out, S(""));
	for (size_t next = r->at, lines = 0; !at_end(r, next); lines++) {
		struct line l = line_read(line_next(r->source, &next));

		if (l.kind == LINE_BLANK) {
			pending++;
			continue;
		}
		if (l.columns < 4)
			break;
		if (lines)
			buf_fill(&r->out, '\n', pending + 1);
		pending = 0;
		html_escape(&r->out, unindent(l.text, 4));
		r->at = next;
	}
	close_code(&r->out);
	end_block(r);
}

/* -- tables --------------------------------------------------------------------------------------
 */

/* As it stands. */
static void put_lines(struct buf *b, const struct str *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_addc(b, '\n');
		html_escape(b, lines[i]);
	}
}

static void put_table(struct reader *r, const struct str *lines, size_t count)
{
	struct arena a = ARENA_INIT;
	AUTO_BUF text = BUF_INIT;
	struct table t;
	bool fits = table_read(&a, lines, count, &t);

	if (fits && r->options->narrow_tables && t.width > TABLE_CELLS && t.row_count > 1) {
		table_list(&r->out, &t);
	} else {
		open_code(&r->out, S("markdown"));
		if (fits) {
			table_text(&text, &t);
			html_escape(&r->out, buf_str(&text));
		} else {
			put_lines(&r->out, lines, count);
		}
		close_code(&r->out);
	}
	arena_done(&a);
}

static void read_table(struct reader *r)
{
	VEC(struct str) lines = { 0 };

	begin_block(r, BLOCK_TABLE);
	vec_push(&lines, line_next(r->source, &r->at));
	(void)line_next(r->source, &r->at); /* the separator */
	while (!at_end(r, r->at)) {
		size_t next = r->at;
		struct line l = line_read(line_next(r->source, &next));

		if (l.kind == LINE_BLANK || l.kind == LINE_FENCE || !table_line(l.text))
			break;
		vec_push(&lines, l.text);
		r->at = next;
	}
	put_table(r, lines.at, lines.len);
	vec_done(&lines);
	end_block(r);
}

/* -- quotes --------------------------------------------------------------------------------------
 */

/* One line of a quote that is not plain text. */
static void put_quoted(struct buf *b, const struct line *l)
{
	switch (l->kind) {
	case LINE_HEADING:
		buf_adds(b, "<b>");
		inline_html(b, l->rest, S(""));
		buf_adds(b, "</b>");
		break;
	case LINE_RULE:
		buf_adds(b, RULE);
		break;
	case LINE_ITEM:
		put_mark(b, l);
		inline_html(b, l->rest, S(""));
		break;
	case LINE_FENCE:
	case LINE_BLANK:
	case LINE_QUOTE:
	case LINE_TEXT:
		html_escape(b, l->text);
		break;
	}
}

struct quote {
	struct buf run; /* lines of text of one depth that are not yet written */
	size_t depth;
	bool any;          /* something was written */
	struct line fence; /* that is open in it */
	bool fenced;
};

static struct str depth_prefix(struct buf *b, size_t depth)
{
	buf_reset(b);
	for (size_t i = 1; i < depth; i++)
		buf_adds(b, NBSP NBSP);
	return buf_str(b);
}

static void quote_line_end(struct reader *r, struct quote *q)
{
	if (q->any)
		buf_addc(&r->out, '\n');
	q->any = true;
}

static void flush_quote(struct reader *r, struct quote *q)
{
	AUTO_BUF prefix = BUF_INIT;

	if (!q->run.len)
		return;
	quote_line_end(r, q);
	struct str p = depth_prefix(&prefix, q->depth);
	buf_add(&r->out, p);
	inline_html(&r->out, buf_str(&q->run), p);
	buf_reset(&q->run);
}

static void quote_line(struct reader *r, struct quote *q, const struct line *outer)
{
	struct line l = line_read(outer->rest);
	bool literal = q->fenced || l.kind == LINE_FENCE;

	if (!literal && l.kind == LINE_TEXT) {
		if (q->run.len && q->depth != outer->depth)
			flush_quote(r, q);
		q->depth = outer->depth;
		if (q->run.len)
			buf_addc(&q->run, '\n');
		buf_add(&q->run, l.text);
		return;
	}
	flush_quote(r, q);
	quote_line_end(r, q);
	if (outer->rest.len) {
		AUTO_BUF prefix = BUF_INIT;

		buf_add(&r->out, depth_prefix(&prefix, outer->depth));
	}
	if (literal)
		html_escape(&r->out, l.text);
	else
		put_quoted(&r->out, &l);
	if (q->fenced) {
		q->fenced = !line_closes(outer->rest, &q->fence);
	} else if (l.kind == LINE_FENCE) {
		q->fence = l;
		q->fenced = true;
	}
}

static void read_quote(struct reader *r)
{
	struct quote q = { 0 };

	begin_block(r, BLOCK_QUOTE);
	buf_adds(&r->out, "<blockquote>");
	while (!at_end(r, r->at)) {
		size_t next = r->at;
		struct line l = line_read(line_next(r->source, &next));

		if (l.kind != LINE_QUOTE)
			break;
		quote_line(r, &q, &l);
		r->at = next;
	}
	flush_quote(r, &q);
	buf_done(&q.run);
	buf_adds(&r->out, "</blockquote>");
	end_block(r);
}

/* -- blocks --------------------------------------------------------------------------------------
 */

static void read_block(struct reader *r)
{
	size_t next = r->at;
	struct line l = line_read(line_next(r->source, &next));
	bool free = !r->blocks.len || r->blanks; /* a blank line is before it, or nothing */

	if (table_begins(r, &l, next) && l.kind != LINE_FENCE) {
		read_table(r);
		return;
	}
	switch (l.kind) {
	case LINE_BLANK:
		r->blanks++;
		r->at = next;
		return;
	case LINE_HEADING:
		read_heading(r, &l);
		return;
	case LINE_RULE:
		read_rule(r);
		return;
	case LINE_ITEM:
		read_list(r);
		return;
	case LINE_QUOTE:
		read_quote(r);
		return;
	case LINE_FENCE:
		read_fence(r, &l);
		return;
	case LINE_TEXT:
		if (free && l.columns >= 4)
			read_indented(r);
		else
			read_text(r);
		return;
	}
}

/* \r\n as \n. */
static struct str one_line_end(struct arena *a, struct str s)
{
	AUTO_BUF b = BUF_INIT;

	if (!str_contains(s, S("\r\n")))
		return s;
	buf_reserve(&b, s.len);
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] != '\r' || i + 1 == s.len || s.p[i + 1] != '\n')
			buf_addc(&b, s.p[i]);
	return arena_str(a, buf_str(&b));
}

void markdown_blocks(struct arena *a, struct str markdown, const struct markdown_options *options,
	struct blocks *ret)
{
	static const struct markdown_options none = { 0 };
	struct reader r = { .arena = a, .options = options ? options : &none };

	r.source = one_line_end(a, unicode_clean(a, markdown));
	while (!at_end(&r, r.at))
		read_block(&r);

	struct str html = arena_str(a, buf_str(&r.out));
	*ret = (struct blocks){ .source = r.source,
		.at = arena_array(a, struct block, r.blocks.len),
		.count = r.blocks.len };
	for (size_t i = 0; i < r.blocks.len; i++) {
		struct found *f = &r.blocks.at[i];

		ret->at[i] = f->block;
		ret->at[i].html = str_sub(html, f->html, f->html_end - f->html);
	}
	buf_done(&r.out);
	vec_done(&r.blocks);
}
