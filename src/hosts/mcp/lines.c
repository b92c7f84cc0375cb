#include "hosts/mcp/lines.h"

void lines_done(struct lines *l)
{
	buf_done(&l->text);
}

static void tell(struct lines *l)
{
	struct str line = buf_str(&l->text);

	if (l->dropped) {
		l->dropped = 0;
		buf_reset(&l->text);
		l->too_long(l->data);
		return;
	}
	if (str_ends(line, S("\r")))
		line.len--;
	l->line(l->data, line);
	if (l->text.cap > 1 << 20)
		buf_done(&l->text); /* of a large one nothing has to be kept */
	buf_reset(&l->text);
}

static void take(struct lines *l, struct str part)
{
	if (!l->dropped && l->text.len + part.len <= l->max + 1) {
		buf_add(&l->text, part);
		return;
	}
	l->dropped += l->text.len + part.len;
	buf_done(&l->text);
}

/* One byte more is taken: it may be the first half of the line's end. */
static bool fits(const struct lines *l)
{
	return l->text.len <= l->max || str_ends(buf_str(&l->text), S("\r"));
}

bool lines_feed(struct lines *l, struct str bytes)
{
	while (bytes.len) {
		size_t end = str_find(bytes, '\n', 0);
		bool whole = end < bytes.len;

		take(l, str_sub(bytes, 0, end));
		if (whole && !fits(l))
			l->dropped = l->text.len;
		if (!whole)
			return l->dropped <= l->limit;
		tell(l);
		bytes = str_from(bytes, end + 1);
	}
	return true;
}

void lines_end(struct lines *l)
{
	if (l->text.len && !l->dropped && fits(l))
		tell(l);
	buf_reset(&l->text);
}
