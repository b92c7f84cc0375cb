#include "base/lang.h"
#include "hosts/telegram/text/inline.h"
#include "hosts/telegram/text/lines.h"
#include "hosts/telegram/text/markdown.h"
#include "hosts/telegram/text/table.h"
#include "hosts/telegram/text/unicode.h"

#define SHORT_RULE "────────"

/* A line of text outside of fences. */
static void put_line(struct buf *b, const struct line *l)
{
	switch (l->kind) {
	case LINE_BLANK:
		break;
	case LINE_HEADING:
		inline_plain(b, l->rest);
		break;
	case LINE_RULE:
		buf_adds(b, SHORT_RULE);
		break;
	case LINE_ITEM:
		buf_add(b, str_sub(l->text, 0, l->indent));
		buf_add(b, l->number);
		if (l->task)
			buf_printf(b, "%s[%c]", l->number.len ? " " : "", l->task);
		else if (!l->number.len)
			buf_addc(b, '-');
		if (l->rest.len)
			buf_addc(b, ' ');
		inline_plain(b, l->rest);
		break;
	case LINE_QUOTE:
		buf_fill(b, '>', MIN(l->depth, 8u));
		if (l->rest.len)
			buf_addc(b, ' ');
		inline_plain(b, l->rest);
		break;
	case LINE_FENCE:
	case LINE_TEXT:
		inline_plain(b, l->text);
		break;
	}
}

/* Ends, and leaves out, blank lines at both ends. */
static struct str without_blank_ends(struct str s)
{
	size_t begin = 0, at = 0;

	while (at < s.len) {
		size_t line = at;

		if (str_trim(line_next(s, &at)).len) {
			begin = line;
			break;
		}
		begin = s.len;
	}
	s = str_from(s, MIN(begin, s.len));
	while (s.len && (s.p[s.len - 1] == ' ' || s.p[s.len - 1] == '\n' || s.p[s.len - 1] == '\t'))
		s.len--;
	return s;
}

void markdown_plain(struct buf *b, struct str markdown)
{
	struct arena a = ARENA_INIT;
	struct str s = unicode_clean(&a, markdown);
	AUTO_BUF out = BUF_INIT;
	struct line fence;
	bool fenced = false, table = false;

	for (size_t at = 0; at < s.len;) {
		struct str text = line_next(s, &at);

		if (text.len && text.p[text.len - 1] == '\r')
			text.len--;
		struct line l = line_read(text);
		if (fenced ? line_closes(text, &fence) : l.kind == LINE_FENCE) {
			fence = l;
			fenced = !fenced;
			continue;
		}
		if (!fenced && table && table_separator(text))
			continue;
		table = !fenced && table_line(text);
		if (fenced)
			buf_add(&out, text);
		else
			put_line(&out, &l);
		buf_addc(&out, '\n');
	}
	buf_add(b, without_blank_ends(buf_str(&out)));
	arena_done(&a);
}
