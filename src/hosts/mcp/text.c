#include "hosts/mcp/text.h"

#include <stdlib.h>
#include <string.h>

enum { CONTINUES = 3 }; /* bytes that may follow the first one of a character */

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static size_t length_of(char c)
{
	unsigned char b = (unsigned char)c;

	return b >= 0xf0 ? 4 : b >= 0xe0 ? 3 : b >= 0xc0 ? 2 : 1;
}

struct str text_whole(struct str part, size_t *ret_skipped)
{
	size_t skip = 0, back = 1;

	while (skip < CONTINUES && skip < part.len && is_continuation(part.p[skip]))
		skip++;
	if (ret_skipped)
		*ret_skipped = skip;
	part = str_from(part, skip);
	while (back <= CONTINUES && back <= part.len && is_continuation(part.p[part.len - back]))
		back++;
	if (back <= part.len && length_of(part.p[part.len - back]) > back)
		part.len -= back;
	return part;
}

struct str text_window(struct str part, struct log_found *f)
{
	size_t skipped = 0;
	struct str whole = text_whole(part, &skipped);
	size_t end = skipped + whole.len;

	if (f->offset == 0)
		skipped = 0;
	if (f->next == f->size)
		end = part.len;
	f->next = f->offset + end;
	f->offset += skipped;
	return part.len ? str_sub(part, skipped, end - skipped) : S("");
}

void text_hide_places(struct buf *text, struct app *a)
{
	const struct {
		struct str place;
		const char *instead;
	} places[] = { { app_cwd(a), "." }, { str_of(getenv("HOME")), "~" } };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		AUTO_BUF shown = BUF_INIT;
		struct str t = buf_str(text);

		for (size_t at = 0; at < t.len;) {
			bool here = places[i].place.len > 1 &&
				    str_starts(str_from(t, at), places[i].place);

			if (here)
				buf_adds(&shown, places[i].instead);
			else
				buf_addc(&shown, t.p[at]);
			at += here ? places[i].place.len : 1;
		}
		buf_swap(text, &shown);
	}
}

/* Where a path begins that was put into a sentence. */
static bool begins_path(struct str t, size_t at)
{
	return t.p[at] == '/' && (at == 0 || strchr(" '\"(=", t.p[at - 1])) && at + 1 < t.len &&
	       t.p[at + 1] != ' ';
}

static size_t path_end(struct str t, size_t at)
{
	while (at < t.len && !strchr(" '\"),;", t.p[at]) &&
		!(t.p[at] == ':' && (at + 1 == t.len || t.p[at + 1] == ' ')))
		at++;
	return at;
}

void text_hide_paths(struct buf *text, struct app *a)
{
	AUTO_BUF shown = BUF_INIT;

	text_hide_places(text, a);
	struct str t = buf_str(text);
	for (size_t at = 0; at < t.len;) {
		if (begins_path(t, at)) {
			buf_adds(&shown, "…");
			at = path_end(t, at);
		} else {
			buf_addc(&shown, t.p[at++]);
		}
	}
	buf_swap(text, &shown);
}
