#include "render/page/page.h"

#include "base/human.h"
#include "render/picture/markup.h"

void page_state(struct buf *b, enum shown_state state, const char *words)
{
	buf_printf(b, "<span class=\"tag is-%s\">", shown_state_word(state));
	markup_text(b, str_of(words ? words : shown_state_word(state)));
	buf_adds(b, "</span>");
}

void page_node(struct buf *b, struct str path, struct str label)
{
	if (path.len) {
		buf_adds(b, "<span class=\"path\">");
		markup_text(b, path);
		buf_adds(b, "</span> ");
	}
	if (!label.len)
		return;
	buf_adds(b, "<bdi>");
	markup_text(b, label);
	buf_adds(b, "</bdi>");
}

void page_scroll(struct buf *b, const char *label)
{
	buf_printf(b, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n",
		label);
}

void page_pre(struct buf *b, struct str text, bool output)
{
	/* A browser drops one line feed right after the tag. */
	buf_adds(b, "<pre>\n");
	if (output)
		markup_output(b, text);
	else
		markup_lines(b, text);
	buf_adds(b, "</pre>\n");
}

void page_section(struct buf *b, const char *id, const char *title, uint64_t count)
{
	buf_printf(b, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s",
		id, id, id, title);
	if (count) {
		buf_adds(b, " <span class=\"count\">(");
		human_number(b, count);
		buf_adds(b, ")</span>");
	}
	buf_adds(b, "</h2>\n");
}
