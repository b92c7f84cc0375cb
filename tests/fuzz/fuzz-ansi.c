/* What commands print on its way into a page: both writers tell the same text, which is valid and
 * has nothing invisible in it, and nothing ends the element that it stands in. */
#include "base/utf8.h"
#include "render/web/ansi.h"
#include "render/web/html.h"

#include "fuzz.h"

static void clean(struct str s)
{
	uint32_t c;

	HOLDS(utf8_valid(s));
	for (size_t i = 0; i < s.len;) {
		i += utf8_decode(s, i, &c);
		HOLDS((c >= 0x20 || c == '\t' || c == '\n') && c != 0x7f);
		HOLDS(!(c >= 0x202a && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069));
	}
}

/* The text of HTML without its tags; the only tags are spans. */
static void text_of(struct str html, struct buf *ret)
{
	static const struct {
		const char *name;
		char c;
	} entities[] = { { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' },
		{ "&#39;", '\'' } };
	int depth = 0;

	for (size_t at = 0; at < html.len;) {
		struct str rest = str_from(html, at);

		if (str_starts(rest, S("<span class=\""))) {
			depth++;
			at += str_find(rest, '>', 0) + 1;
		} else if (str_starts(rest, S("</span>"))) {
			HOLDS(--depth >= 0);
			at += 7;
		} else if (rest.p[0] == '&') {
			size_t i = 0;

			while (i < 5 && !str_starts(rest, str_of(entities[i].name)))
				i++;
			HOLDS(i < 5);
			buf_addc(ret, entities[i].c);
			at += strlen(entities[i].name);
		} else {
			HOLDS(rest.p[0] != '<' && rest.p[0] != '>');
			buf_addc(ret, rest.p[0]);
			at++;
		}
	}
	HOLDS(depth == 0);
}

static void piece(void *data, struct str text, struct ansi_style style)
{
	HOLDS(style.fg <= 16 && style.bg <= 16 && text.len);
	buf_add(data, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = fuzz_str(data, size);
	struct ansi_style a = { 0 }, b = { 0 }, c = { 0 };
	AUTO_BUF html = BUF_INIT;
	AUTO_BUF shown = BUF_INIT;
	AUTO_BUF pieces = BUF_INIT;
	AUTO_BUF json = BUF_INIT;
	AUTO_BUF attr = BUF_INIT;
	AUTO_BUF url = BUF_INIT;

	ansi_html(&html, &a, text);
	text_of(buf_str(&html), &shown);
	ansi_read(&b, text, piece, &pieces);
	HOLDS(str_eq(buf_str(&shown), buf_str(&pieces)));
	clean(buf_str(&pieces));
	ansi_json(&json, &c, text);
	HOLDS(utf8_valid(buf_str(&json)) && json.p[0] == '[' && json.p[json.len - 1] == ']');
	HOLDS(a.fg == b.fg && b.fg == c.fg && a.flags == c.flags);

	html_attr(&attr, text);
	clean(buf_str(&attr));
	HOLDS(str_find(buf_str(&attr), '"', 0) == attr.len);
	HOLDS(str_find(buf_str(&attr), '<', 0) == attr.len);
	html_url(&url, text);
	for (size_t i = 0; i < url.len; i++)
		HOLDS(url.p[i] > ' ' && url.p[i] < 0x7f && url.p[i] != '"' && url.p[i] != '&');
	return 0;
}
