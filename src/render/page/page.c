#include "render/page/page.h"

#include <inttypes.h>
#include <stdio.h>

#include "render/picture/markup.h"

void page_number(struct buf *b, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0 && len > 4)
			buf_adds(b, "&#8239;"); /* a narrow space that does not break */
		buf_addc(b, digits[i]);
	}
}

void page_bytes(struct buf *b, uint64_t n)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double value = (double)n / 1024;
	size_t unit = 0;

	if (n < 1024) {
		buf_printf(b, "%" PRIu64 " B", n);
		return;
	}
	for (; value >= 1023.95 && unit + 1 < ARRAY_SIZE(units); unit++)
		value /= 1024;
	buf_printf(b, "%.1f %s", value, units[unit]);
}

void page_state(struct buf *b, enum outcome_kind outcome, const char *words)
{
	buf_printf(b, "<span class=\"tag is-%s\">", outcome_looks[outcome].name);
	markup_text(b, str_of(words ? words : outcome_looks[outcome].word));
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
		page_number(b, count);
		buf_adds(b, ")</span>");
	}
	buf_adds(b, "</h2>\n");
}
