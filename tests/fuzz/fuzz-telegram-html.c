/* Cutting HTML: the pieces of what is valid are valid, short enough and together the same text. */
#include "base/buf.h"
#include "hosts/telegram/text/html.h"
#include "hosts/telegram/text/unicode.h"

#include "fuzz.h"

enum { LIMIT = 600 };

struct seen {
	struct buf text;
	bool valid, short_tags;
};

static void see(void *data, struct str piece)
{
	struct seen *s = data;

	HOLDS(!s->valid || html_valid(piece));
	HOLDS(!s->short_tags || unicode_units(piece) <= LIMIT);
	html_visible(&s->text, piece);
}

/* Bytes between < and >. */
static size_t tag_bytes(struct str html)
{
	size_t bytes = 0;
	bool inside = false;

	for (size_t i = 0; i < html.len; i++) {
		inside = html.p[i] == '<' || (inside && html.p[i] != '>');
		bytes += inside || html.p[i] == '>';
	}
	return bytes;
}

/* Line ends may be dropped at a cut. */
static void one_line(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] != '\n')
			buf_addc(b, s.p[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str html = fuzz_str(data, size);
	struct seen s = { .valid = html_valid(html) };
	AUTO_BUF whole = BUF_INIT;
	AUTO_BUF want = BUF_INIT;
	AUTO_BUF got = BUF_INIT;

	s.short_tags = s.valid && tag_bytes(html) * 2 < LIMIT / 2;
	html_split(html, LIMIT, see, &s);
	html_visible(&whole, html);
	one_line(&want, buf_str(&whole));
	one_line(&got, buf_str(&s.text));
	HOLDS(!s.valid || str_eq(buf_str(&want), buf_str(&got)));
	buf_done(&s.text);
	return 0;
}
