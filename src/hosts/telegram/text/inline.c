#include "hosts/telegram/text/inline.h"

#include <stdlib.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "hosts/telegram/text/html.h"
#include "hosts/telegram/text/unicode.h"

enum {
	LABEL_DEPTH = 8,   /* links in the label of a link */
	LINK_BYTES = 1600, /* of an address, escaped; a longer one would fill a message */
	TICKS_MAX = 64,    /* longer runs of backticks are text */
};

enum style { BOLD, ITALIC, STRUCK, STYLES };
static const char *const style_tags[] = { "b", "i", "s" };

/* A run of * _ or ~ in the output. */
struct run {
	size_t at; /* in the output: where its characters or tags go */
	char c;
	unsigned char left; /* characters that are not used */
	bool opens, closes;
	unsigned char closed[2], opened[2]; /* styles, in the order in which they were matched */
	unsigned char n_closed, n_opened;
};

/* What is known of the text before it is read: for each bracket, parenthesis and run of backticks
 * where its other half is. Found in one pass, so that no search is made twice. */
struct inline_text {
	struct str text;
	uint32_t *match; /* by offset: that of the other half, or 0 */
	bool html;
	struct str prefix;
	struct buf *out;
	VEC(struct run) runs;
	VEC(size_t) stack;         /* of runs that may be closed */
	size_t openers[3][STYLES]; /* on the stack, by character and style */
	size_t word_begin, word_end;
};

static bool ascii_punct(char c)
{
	return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
	       (c >= '{' && c <= '~');
}

/* -- pairs ---------------------------------------------------------------------------------------
 */

static size_t run_length(struct str s, size_t at)
{
	size_t end = at;

	while (end < s.len && s.p[end] == s.p[at])
		end++;
	return end - at;
}

/* Backwards, so that the next run of the same length is known at each. An escaped backtick begins
 * no code, but may end it: within code a backslash is a character. */
static void pair_ticks(struct inline_text *t)
{
	uint32_t next[TICKS_MAX + 1] = { 0 };
	size_t end = t->text.len;

	while (end > 0) {
		size_t begin = end - 1;

		if (t->text.p[begin] != '`') {
			end = begin;
			continue;
		}
		while (begin > 0 && t->text.p[begin - 1] == '`')
			begin--;
		size_t n = end - begin;
		if (n <= TICKS_MAX) {
			t->match[begin] = next[n];
			next[n] = (uint32_t)begin;
		}
		end = begin;
	}
}

/* Code is jumped over. A parenthesis has its other half in the same word. */
static void pair_brackets(struct inline_text *t)
{
	struct str s = t->text;
	VEC(uint32_t) square = { 0 };
	VEC(uint32_t) round = { 0 };

	for (size_t i = 0; i < s.len; i++) {
		switch (s.p[i]) {
		case '\\':
			if (i + 1 < s.len && ascii_punct(s.p[i + 1]))
				i++;
			break;
		case '`': {
			size_t n = run_length(s, i);
			uint32_t close = t->match[i];

			i = (close ? close : i) + n - 1;
			break;
		}
		case '[':
			vec_push(&square, (uint32_t)i);
			break;
		case ']':
			if (square.len)
				t->match[vec_pop(&square)] = (uint32_t)i;
			break;
		case '(':
			vec_push(&round, (uint32_t)i);
			break;
		case ')':
			if (round.len)
				t->match[vec_pop(&round)] = (uint32_t)i;
			break;
		case ' ':
		case '\t':
		case '\n':
			round.len = 0;
			break;
		default:
			break;
		}
	}
	vec_done(&square);
	vec_done(&round);
}

/* The other half of what is at `at`, as far as it is within the range that is read; or 0. */
static size_t half(const struct inline_text *t, size_t at)
{
	size_t other = t->match[at];

	return other < t->text.len ? other : 0;
}

/* -- output --------------------------------------------------------------------------------------
 */

static void put_text(struct inline_text *t, struct str s)
{
	if (!t->html) {
		buf_add(t->out, s);
		return;
	}
	while (t->prefix.len) {
		size_t end = str_find(s, '\n', 0);

		if (end == s.len)
			break;
		html_escape(t->out, str_sub(s, 0, end + 1));
		buf_add(t->out, t->prefix);
		s = str_from(s, end + 1);
	}
	html_escape(t->out, s);
}

static void put_code(struct inline_text *t, struct str code)
{
	bool blanks = true;

	for (size_t i = 0; i < code.len; i++)
		blanks = blanks && code.p[i] == ' ';
	if (!blanks && code.len > 1 && code.p[0] == ' ' && code.p[code.len - 1] == ' ')
		code = str_sub(code, 1, code.len - 2);
	if (t->html)
		buf_adds(t->out, "<code>");
	put_text(t, code);
	if (t->html)
		buf_adds(t->out, "</code>");
}

static bool linkable(struct str address)
{
	static const char *const schemes[] = { "http://", "https://", "mailto:" };

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		size_t n = strlen(schemes[i]);

		if (address.len > n && str_eq_nocase(str_sub(address, 0, n), str_of(schemes[i])))
			return true;
	}
	return false;
}

/* Short enough for the tag to stand in every piece of a long label. */
static bool short_enough(struct str address)
{
	size_t escaped = address.len;

	if (address.len > LINK_BYTES)
		return false;
	for (size_t i = 0; i < address.len; i++)
		if (strchr("&<>\"'", address.p[i]))
			escaped += 5;
	return escaped <= LINK_BYTES;
}

static void read_range(const struct inline_text *whole, size_t begin, size_t end, bool html,
	struct str prefix, struct buf *b, unsigned depth);

/* The label is the text from `begin` to `end`. */
static void put_link(
	struct inline_text *t, size_t begin, size_t end, struct str address, unsigned depth)
{
	bool link = linkable(address);
	AUTO_BUF name = BUF_INIT;

	read_range(t, begin, end, false, S(""), &name, depth + 1);
	if (!name.len)
		buf_add(&name, address);
	if (t->html && link) {
		buf_adds(t->out, "<a href=\"");
		html_escape_attribute(t->out, address);
		buf_adds(t->out, "\">");
	}
	put_text(t, buf_str(&name));
	if (t->html && link)
		buf_adds(t->out, "</a>");
}

/* -- links ---------------------------------------------------------------------------------------
 */

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static size_t skip_blanks(struct str s, size_t at)
{
	while (at < s.len && blank(s.p[at]))
		at++;
	return at;
}

/* What may follow an address: a title in quotes, then the parenthesis. Its offset, or 0. */
static size_t link_end(struct str s, size_t at)
{
	at = skip_blanks(s, at);
	if (at < s.len && (s.p[at] == '"' || s.p[at] == '\'')) {
		size_t close = str_find(s, s.p[at], at + 1);

		if (close == s.len)
			return 0;
		at = skip_blanks(s, close + 1);
	}
	return at < s.len && s.p[at] == ')' ? at : 0;
}

/* Where the word ends that begins at `at`. Words that begin inside it are not searched again. */
static size_t word_end(struct inline_text *t, size_t at)
{
	if (at < t->word_begin || at >= t->word_end) {
		t->word_begin = t->word_end = at;
		while (t->word_end < t->text.len && !blank(t->text.p[t->word_end]))
			t->word_end++;
	}
	return t->word_end;
}

/* Where an address ends that has spaces before it: before a parenthesis that it did not open. Each
 * word is read by at most one link. */
static size_t loose_end(struct str s, size_t at)
{
	size_t depth = 0;

	for (; at < s.len && !blank(s.p[at]); at++) {
		if (s.p[at] == '(')
			depth++;
		else if (s.p[at] == ')' && depth-- == 0)
			break;
	}
	return at;
}

/* The address behind `(`; *ret_end is the offset of its `)`. */
static bool link_address(struct inline_text *t, size_t open, struct str *address, size_t *ret_end)
{
	struct str s = t->text;
	size_t begin = skip_blanks(s, open + 1), end;

	if (begin < s.len && s.p[begin] == '<') {
		for (end = begin + 1; end < s.len && s.p[end] != '>'; end++)
			if (s.p[end] == '<' || s.p[end] == '\n')
				return false;
		*address = str_sub(s, begin + 1, end - begin - 1);
		*ret_end = end < s.len ? link_end(s, end + 1) : 0;
	} else if (begin == open + 1 && half(t, open)) {
		*address = str_sub(s, begin, half(t, open) - begin);
		*ret_end = half(t, open);
	} else {
		end = begin == open + 1 ? word_end(t, begin) : loose_end(s, begin);
		*address = str_sub(s, begin, end - begin);
		*ret_end = link_end(s, end);
	}
	return *ret_end && short_enough(*address);
}

/* A link or an image at `[`; returns the offset behind it, or 0. */
static size_t take_link(struct inline_text *t, size_t at, unsigned depth)
{
	size_t close = half(t, at), end;
	struct str address;

	if (depth >= LABEL_DEPTH || !close || close + 1 >= t->text.len ||
		t->text.p[close + 1] != '(')
		return 0;
	if (!link_address(t, close + 1, &address, &end) || !address.len)
		return 0;
	put_link(t, at + 1, close, address, depth);
	return end + 1;
}

/* <https://x> */
static size_t take_autolink(struct inline_text *t, size_t at)
{
	struct str s = t->text;
	size_t end = at + 1;

	while (end < s.len && s.p[end] != '>' && s.p[end] != '<' && s.p[end] != ' ' &&
		s.p[end] != '\n' && s.p[end] != '\t')
		end++;
	struct str address = str_sub(s, at + 1, end - at - 1);
	if (end == s.len || s.p[end] != '>' || !linkable(address) || address.len > LINK_BYTES)
		return 0;
	if (t->html) {
		buf_adds(t->out, "<a href=\"");
		html_escape_attribute(t->out, address);
		buf_adds(t->out, "\">");
	}
	put_text(t, address);
	if (t->html)
		buf_adds(t->out, "</a>");
	return end + 1;
}

/* An address that stands in the text: its underscores are not styles. What ends a style at its end
 * is not part of it. Returns the offset behind it, or 0. */
static size_t take_address(struct inline_text *t, size_t at)
{
	struct str rest = str_from(t->text, at);
	size_t end = 0;

	if (!str_starts(rest, S("http://")) && !str_starts(rest, S("https://")))
		return 0;
	while (end < rest.len && (unsigned char)rest.p[end] > ' ' &&
		!strchr("<>*`[]\\", rest.p[end]))
		end++;
	while (end && (rest.p[end - 1] == '_' || rest.p[end - 1] == '~'))
		end--;
	put_text(t, str_sub(rest, 0, end));
	return at + end;
}

/* -- styles --------------------------------------------------------------------------------------
 */

static unsigned kind_of(char c)
{
	return c == '*' ? 0 : c == '_' ? 1 : 2;
}

static uint32_t char_before(struct str s, size_t at)
{
	size_t begin = at;
	uint32_t c;

	if (!at)
		return '\n';
	do
		begin--;
	while (begin > 0 && at - begin < 4 && ((unsigned char)s.p[begin] & 0xC0) == 0x80);
	(void)utf8_decode(s, begin, &c);
	return c;
}

static void count(struct inline_text *t, const struct run *r, int by)
{
	size_t *of = t->openers[kind_of(r->c)];
	size_t step = (size_t)(ptrdiff_t)by;

	if (r->c == '~') {
		of[STRUCK] += step;
		return;
	}
	if (r->left & 2)
		of[BOLD] += step;
	if (r->left & 1)
		of[ITALIC] += step;
}

/* The run that is topmost on the stack and can be closed as this style; those above it stay what
 * they are. The caller has seen in `openers` that there is one. */
static struct run *opener(struct inline_text *t, char c, enum style style)
{
	for (;;) {
		struct run *r = &t->runs.at[t->stack.at[t->stack.len - 1]];
		unsigned has = style == STRUCK || (r->left & (style == BOLD ? 2u : 1u));

		if (r->c == c && has)
			return r;
		count(t, r, -1);
		t->stack.len--;
	}
}

static void close_style(struct inline_text *t, struct run *closer, enum style style)
{
	struct run *o = opener(t, closer->c, style);
	unsigned char used = style == ITALIC ? 1 : 2;

	count(t, o, -1);
	o->left = (unsigned char)(o->left - used);
	closer->left = (unsigned char)(closer->left - used);
	o->opened[o->n_opened++] = (unsigned char)style;
	closer->closed[closer->n_closed++] = (unsigned char)style;
	if (o->left)
		count(t, o, 1);
	else
		t->stack.len--;
}

/* The style with which a run of three is closed first: that of the topmost run, the inner one. */
static enum style inner_style(const struct inline_text *t, const struct run *closer)
{
	for (size_t i = t->stack.len; i-- > 0;) {
		const struct run *r = &t->runs.at[t->stack.at[i]];

		if (r->c == closer->c)
			return r->left & 1 ? ITALIC : BOLD;
	}
	return ITALIC;
}

static void close_run(struct inline_text *t, struct run *r)
{
	const size_t *of = t->openers[kind_of(r->c)];

	if (r->c == '~') {
		if (of[STRUCK])
			close_style(t, r, STRUCK);
		return;
	}
	/* Where both are open the inner one is near the top of the stack. */
	if (r->left == 3 && of[BOLD] && of[ITALIC] && inner_style(t, r) == BOLD)
		close_style(t, r, BOLD);
	if ((r->left & 1) && of[ITALIC])
		close_style(t, r, ITALIC);
	if ((r->left & 2) && of[BOLD])
		close_style(t, r, BOLD);
}

/* A run of * _ or ~; returns the offset behind it. */
static size_t take_run(struct inline_text *t, size_t at)
{
	struct str s = t->text;
	size_t n = run_length(s, at);
	uint32_t before = char_before(s, at), after = '\n';

	if (at + n < s.len)
		(void)utf8_decode(s, at + n, &after);
	if (n > 3 || (s.p[at] == '~' && n != 2)) {
		put_text(t, str_sub(s, at, n));
		return at + n;
	}
	struct run r = { .at = t->out->len, .c = s.p[at], .left = (unsigned char)n };
	r.opens = !unicode_alnum(before) && before != '\\' && !utf8_blank(after);
	r.closes = !unicode_alnum(after) && !utf8_blank(before);
	if (r.closes)
		close_run(t, &r);
	vec_push(&t->runs, r);
	if (r.opens && r.left) {
		count(t, &r, 1);
		vec_push(&t->stack, t->runs.len - 1);
	}
	return at + n;
}

/* -- reading -------------------------------------------------------------------------------------
 */

static size_t take_code(struct inline_text *t, size_t at)
{
	size_t n = run_length(t->text, at);
	size_t close = half(t, at);

	if (close) {
		put_code(t, str_sub(t->text, at + n, close - at - n));
		return close + n;
	}
	put_text(t, str_sub(t->text, at, n));
	return at + n;
}

/* What begins at a character that may be markup; returns the offset behind it, 0 for ordinary text.
 */
static size_t take_markup(struct inline_text *t, size_t at, unsigned depth)
{
	struct str s = t->text;

	switch (s.p[at]) {
	case '\\':
		if (at + 1 == s.len || !ascii_punct(s.p[at + 1]))
			return 0;
		put_text(t, str_sub(s, at + 1, 1));
		return at + 2;
	case '`':
		return take_code(t, at);
	case '!':
		return at + 1 < s.len && s.p[at + 1] == '[' ? take_link(t, at + 1, depth) : 0;
	case '[':
		return take_link(t, at, depth);
	case '<':
		return take_autolink(t, at);
	case 'h':
		return unicode_alnum(char_before(s, at)) ? 0 : take_address(t, at);
	case '*':
	case '_':
	case '~':
		return take_run(t, at);
	default:
		return 0;
	}
}

static bool ordinary(struct str s, size_t at)
{
	switch (s.p[at]) {
	case '\\':
	case '`':
	case '!':
	case '[':
	case '<':
	case '*':
	case '_':
	case '~':
		return false;
	case 'h':
		return !str_starts(str_from(s, at), S("http"));
	default:
		return true;
	}
}

static void read_text(struct inline_text *t, size_t from, unsigned depth)
{
	struct str s = t->text;

	for (size_t i = from; i < s.len;) {
		if (ordinary(s, i)) {
			i++;
			continue;
		}
		put_text(t, str_sub(s, from, i - from));
		size_t next = take_markup(t, i, depth);
		from = next ? next : i;
		i = next ? next : i + 1;
	}
	put_text(t, str_from(s, from));
}

static void put_run(struct buf *b, const struct run *r, unsigned *open, bool html)
{
	/* A style inside the same style adds nothing, so that tags are at most three deep. */
	for (unsigned i = 0; html && i < r->n_closed; i++)
		if (--open[r->closed[i]] == 0)
			buf_printf(b, "</%s>", style_tags[r->closed[i]]);
	buf_fill(b, r->c, r->left);
	for (unsigned i = r->n_opened; html && i-- > 0;)
		if (open[r->opened[i]]++ == 0)
			buf_printf(b, "<%s>", style_tags[r->opened[i]]);
}

/* Reads a part of a text that has been paired. */
static void read_range(const struct inline_text *whole, size_t begin, size_t end, bool html,
	struct str prefix, struct buf *b, unsigned depth)
{
	AUTO_BUF out = BUF_INIT;
	struct inline_text t = { .text = { whole->text.p, end },
		.match = whole->match,
		.html = html,
		.prefix = prefix,
		.out = &out };
	unsigned open[STYLES] = { 0 };
	size_t from = 0;

	read_text(&t, begin, depth);
	vec_each (r, &t.runs) {
		buf_add(b, str_sub(buf_str(&out), from, r->at - from));
		put_run(b, r, open, html);
		from = r->at;
	}
	buf_add(b, str_from(buf_str(&out), from));
	vec_done(&t.runs);
	vec_done(&t.stack);
}

static void render(struct buf *b, struct str text, struct str prefix, bool html)
{
	AUTO_FREE uint32_t *match = mem_zero((text.len + 1) * sizeof(*match));
	struct inline_text t = { .text = text, .match = match };

	pair_ticks(&t);
	pair_brackets(&t);
	read_range(&t, 0, text.len, html, prefix, b, 0);
}

void inline_html(struct buf *b, struct str text, struct str prefix)
{
	render(b, text, prefix, true);
}

void inline_plain(struct buf *b, struct str text)
{
	render(b, text, S(""), false);
}
