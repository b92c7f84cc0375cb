#include "base/lang.h"
#include "base/utf8.h"
#include "hosts/telegram/text/html.h"
#include "hosts/telegram/text/unicode.h"

/* A tag that is open; those around it are its parents, so a place in the text knows all that are
 * open there by one pointer. */
struct open {
	const struct open *parent;
	struct str tag;  /* as it was written */
	struct str name; /* for its end */
	size_t reopen;   /* units that opening it and its parents takes */
	size_t close;    /* units that closing them takes */
	size_t depth;
	bool pre;
};

/* A place where the text may be cut. */
struct place {
	size_t end;   /* of the piece before */
	size_t begin; /* of the piece behind */
	const struct open *open;
	bool set;
};

struct splitter {
	struct str html;
	size_t units;
	html_piece_fn *piece;
	void *data;
	struct arena arena; /* of the open tags */
	struct buf out;
	/* The piece that is being made. */
	size_t begin;
	const struct open *first; /* open where it begins */
	size_t used;              /* units so far, those of `first` included */
	struct place line, blank, any;
	bool has_text, after_blank;
};

/* HTML that html_valid() takes has no more; beyond it `<` is a character like others, so that the
 * time stays linear in what is given. */
enum { DEPTH_MAX = 32 };

static size_t close_cost(const struct open *o)
{
	return o ? o->close : 0;
}

static void reopen(struct buf *b, const struct open *o)
{
	const struct open *all[DEPTH_MAX];
	size_t count = 0;

	for (; o; o = o->parent)
		all[count++] = o;
	while (count)
		buf_add(b, all[--count]->tag);
}

static void emit(struct splitter *s, size_t end, const struct open *open)
{
	buf_reset(&s->out);
	reopen(&s->out, s->first);
	buf_add(&s->out, str_sub(s->html, s->begin, end - s->begin));
	for (; open; open = open->parent)
		buf_printf(&s->out, "</%.*s>", STR(open->name));
	s->piece(s->data, buf_str(&s->out));
}

/* The next piece begins at `at` with these tags open. */
static void begin(struct splitter *s, size_t at, const struct open *open)
{
	s->begin = at;
	s->first = open;
	s->used = open ? open->reopen : 0;
	s->line = s->blank = s->any = (struct place){ 0 };
	s->has_text = s->after_blank = false;
}

static const struct open *push(struct splitter *s, const struct open *parent, struct str tag)
{
	struct open *o = arena_new(&s->arena, struct open);
	size_t end = 1;

	while (end < tag.len && tag.p[end] != ' ' && tag.p[end] != '>')
		end++;
	*o = (struct open){ .parent = parent, .tag = tag, .name = str_sub(tag, 1, end - 1) };
	o->reopen = (parent ? parent->reopen : 0) + unicode_units(tag);
	o->close = close_cost(parent) + 3 + unicode_units(o->name);
	o->depth = parent ? parent->depth + 1 : 1;
	o->pre = (parent && parent->pre) || str_eq(o->name, S("pre"));
	return o;
}

/* Cuts at the best place so far; *at is where reading continues. False when there is none. A
 * cluster that is longer than a piece is cut at `last`: there is nothing better. */
static bool cut(struct splitter *s, size_t *at, const struct open **open, const struct place *last)
{
	struct place p = s->line.set    ? s->line
			 : s->blank.set ? s->blank
			 : s->any.set   ? s->any
					: *last;

	if (!p.set)
		return false;
	emit(s, p.end, p.open);
	begin(s, p.begin, p.open);
	*at = p.begin;
	*open = p.open;
	return true;
}

/* What is read next: a tag, an entity, or one character. */
struct token {
	size_t len, units;
	uint32_t c;
	bool opens, closes;
};

static size_t entity_len(struct str html, size_t at)
{
	size_t end = at + 1;

	while (end < html.len && end - at < 12 && html.p[end] != ';' && html.p[end] != '&' &&
		html.p[end] != '<' && html.p[end] != ' ' && html.p[end] != '\n')
		end++;
	return end < html.len && html.p[end] == ';' && end > at + 1 ? end + 1 - at : 1;
}

static struct token token_at(const struct splitter *s, size_t at, const struct open *open)
{
	struct str html = s->html;
	struct token t = { .len = 1, .units = 1, .c = (unsigned char)html.p[at] };

	if (html.p[at] == '<') {
		size_t end = at + 1;

		while (end < html.len && html.p[end] != '>' && html.p[end] != '<')
			end++;
		bool known = end < html.len && html.p[end] == '>' && end > at + 1;
		bool closes = known && html.p[at + 1] == '/';
		if (known && (closes || !open || open->depth < DEPTH_MAX)) {
			t.len = end + 1 - at;
			t.units = unicode_units(str_sub(html, at, t.len));
			t.closes = closes;
			t.opens = !t.closes;
		}
	} else if (html.p[at] == '&') {
		t.len = t.units = entity_len(html, at);
	} else if (t.c >= 0x80) {
		t.len = utf8_decode(html, at, &t.c);
		t.units = t.c != UTF8_INVALID && t.c > 0xFFFF ? 2 : 1;
	}
	return t;
}

/* Where the piece behind a cut at this line end begins: line ends are dropped, in code only one. */
static size_t behind_line(const struct splitter *s, size_t at, const struct open *open)
{
	size_t next = at + 1;

	while (next < s->html.len && s->html.p[next] == '\n' && !(open && open->pre))
		next++;
	return next;
}

/* A character is about to be taken. `last` is the place behind the text before it. */
static void note_places(struct splitter *s, struct token t, size_t at, const struct place *last,
	const struct open *open, bool cluster)
{
	if (!s->has_text)
		return;
	if (t.c == '\n' && (s->html.p[at - 1] != '\n' || !s->line.set)) {
		s->line = (struct place){ at, behind_line(s, at, open), open, true };
		s->blank.set = false;
	}
	if (cluster) {
		s->any = *last;
		if (s->after_blank)
			s->blank = *last;
	}
}

/* Takes a token that fits, or that has to be taken because nothing is before it. */
static void take(
	struct splitter *s, struct token t, size_t end, const struct open *open, struct place *last)
{
	bool text = !t.opens && !t.closes;

	s->used += t.units;
	if (text) {
		s->has_text = true;
		s->after_blank = t.c == ' ';
	}
	if (text || (t.closes && last->end + t.len == end))
		*last = (struct place){ end, end, open, true };
}

static void split(struct splitter *s)
{
	struct grapheme g = GRAPHEME_INIT;
	const struct open *open = NULL;
	struct place last = { 0 }; /* behind the text so far and the tags that close there */
	size_t at = 0;

	begin(s, 0, NULL);
	while (at < s->html.len || s->used + close_cost(open) > s->units) {
		bool ends = at == s->html.len; /* with a line end too many */
		struct token t = ends ? (struct token){ 0 } : token_at(s, at, open);
		const struct open *after = t.opens ? push(s, open, str_sub(s->html, at, t.len))
					   : t.closes && open ? open->parent
							      : open;

		if (!ends && !t.opens && !t.closes)
			note_places(s, t, at, &last, open, grapheme_begins(&g, t.c));
		if (s->used + t.units + close_cost(after) > s->units && t.c != '\n' &&
			cut(s, &at, &open, &last)) {
			g = GRAPHEME_INIT;
			last = (struct place){ 0 };
			continue;
		}
		if (ends)
			break;
		at += t.len;
		open = after;
		take(s, t, at, open, &last);
	}
	if (s->begin < s->html.len)
		emit(s, s->html.len, open);
}

void html_split(struct str html, size_t units, html_piece_fn *piece, void *data)
{
	struct splitter s = { .html = html, .units = units, .piece = piece, .data = data };

	split(&s);
	arena_done(&s.arena);
	buf_done(&s.out);
}
