#include "prompts/shell-text.h"

#include <string.h>

#include "base/lang.h"

/* What is open, innermost last. */
enum frame_kind { FRAME_TOP, FRAME_PAREN, FRAME_BACKQUOTE, FRAME_DOUBLE, FRAME_SINGLE, FRAME_ANSI };

struct frame {
	enum frame_kind kind;
	size_t offset;
	unsigned depth; /* of plain parentheses inside */
};

/* A here-document whose text begins after the next line break. */
struct document {
	struct str word; /* without quotes */
	bool quoted, tabs;
};

enum { NESTED_MAX = 200, DOCUMENTS_MAX = 16 };

struct walk {
	struct str text;
	size_t at;
	unsigned kinds;
	struct frame stack[NESTED_MAX];
	size_t depth;
	unsigned backquotes;
	struct document documents[DOCUMENTS_MAX];
	size_t document_count;
	bool word_start; /* where # begins a comment */
	struct shell_walk *ret;
};

static char peek(const struct walk *w, size_t ahead)
{
	if (w->at + ahead >= w->text.len)
		return '\0';
	return w->text.p[w->at + ahead];
}

/* Spaces and operators. */
static bool ends_word(char c)
{
	struct str set = S(" \t\n;&|<>()");

	return str_find(set, c, 0) < set.len;
}

static struct frame *top(struct walk *w)
{
	return &w->stack[w->depth - 1];
}

static void push(struct walk *w, enum frame_kind kind, size_t skip)
{
	if (w->depth < NESTED_MAX) {
		w->stack[w->depth++] = (struct frame){ kind, w->at, 0 };
		w->backquotes += kind == FRAME_BACKQUOTE;
	}
	w->at += skip;
	w->word_start = kind == FRAME_PAREN || kind == FRAME_BACKQUOTE;
}

static void pop(struct walk *w, size_t skip)
{
	w->backquotes -= top(w)->kind == FRAME_BACKQUOTE;
	w->depth--;
	w->at += skip;
	w->word_start = false;
}

static void fail(struct walk *w, size_t offset, const char *what)
{
	if (w->ret->open != SIZE_MAX)
		return;
	w->ret->open = offset;
	w->ret->open_what = what;
}

static bool hole(struct walk *w, enum quoting quoting)
{
	enum prompt_placeholder p;
	size_t length;

	if (!placeholder_at(w->text, w->at, w->kinds, &p, &length))
		return false;
	vec_push(&w->ret->holes,
		(struct shell_hole){ w->at, length, p, quoting, w->backquotes > 0 });
	w->at += length;
	w->word_start = false;
	return true;
}

/* Goes behind what is skipped whole: ${…}, $((…)), $[…], ((…)). Quotes in it are honoured. */
static void skip_until(struct walk *w, size_t begin, char open, char close, const char *what)
{
	unsigned depth = 0;
	char quote = '\0';

	w->word_start = false;
	for (; w->at < w->text.len; w->at++) {
		char c = w->text.p[w->at];

		if (c == '\\' && quote != '\'') {
			w->at++;
		} else if (quote) {
			if (c == quote)
				quote = '\0';
		} else if (c == '"' || c == '`' || (c == '\'' && top(w)->kind != FRAME_DOUBLE)) {
			quote = c;
		} else if (c == open && (open != '{' || w->text.p[w->at - 1] == '$')) {
			depth++; /* a brace alone does not count: ${x:-{} is whole */
		} else if (c == close && --depth == 0) {
			w->at++;
			return;
		}
	}
	w->at = w->text.len;
	fail(w, begin, what);
}

/* `$` outside single quotes. */
static void dollar(struct walk *w, bool in_double)
{
	size_t begin = w->at;

	w->word_start = false;
	if (peek(w, 1) == '(' && peek(w, 2) == '(') {
		w->at++;
		skip_until(w, begin, '(', ')', "$((");
	} else if (peek(w, 1) == '(') {
		push(w, FRAME_PAREN, 2);
	} else if (peek(w, 1) == '{') {
		w->at++;
		skip_until(w, begin, '{', '}', "${");
	} else if (peek(w, 1) == '[') {
		w->at++;
		skip_until(w, begin, '[', ']', "$[");
	} else if (peek(w, 1) == '\'' && !in_double) {
		push(w, FRAME_ANSI, 2);
	} else if (peek(w, 1) == '"' && !in_double) {
		push(w, FRAME_DOUBLE, 2);
	} else {
		w->at++;
	}
}

static void backquote(struct walk *w)
{
	if (top(w)->kind == FRAME_BACKQUOTE) {
		pop(w, 1);
		return;
	}
	/* Inside quotes inside back quotes it ends those, and the quotes are never ended. */
	push(w, FRAME_BACKQUOTE, 1);
}

static void in_quotes(struct walk *w)
{
	char c = peek(w, 0);
	enum frame_kind kind = top(w)->kind;

	if (kind == FRAME_SINGLE) {
		if (c == '\'')
			pop(w, 1);
		else if (!hole(w, QUOTE_SINGLE))
			w->at++;
	} else if (c == '\\') {
		w->at += 2;
	} else if (kind == FRAME_ANSI) {
		if (c == '\'')
			pop(w, 1);
		else if (!hole(w, QUOTE_ANSI))
			w->at++;
	} else if (c == '"') {
		pop(w, 1);
	} else if (c == '$') {
		dollar(w, true);
	} else if (c == '`') {
		backquote(w);
	} else if (!hole(w, QUOTE_DOUBLE)) {
		w->at++;
	}
}

/* -- here-documents ------------------------------------------------------------------------------
 */

static void document_word(struct walk *w)
{
	struct document d = { 0 };

	w->at += 2;
	if (peek(w, 0) == '-') {
		d.tabs = true;
		w->at++;
	}
	while (peek(w, 0) == ' ' || peek(w, 0) == '\t')
		w->at++;
	char quote = peek(w, 0);
	if (quote == '\'' || quote == '"') {
		size_t from = ++w->at;

		w->at = str_find(w->text, quote, w->at);
		d.quoted = true;
		d.word = str_sub(w->text, from, w->at - from);
		if (w->at == w->text.len) {
			fail(w, from - 1, quote == '"' ? "\"" : "'");
			return;
		}
		w->at++;
	} else {
		if (quote == '\\') {
			d.quoted = true;
			w->at++;
		}
		size_t from = w->at;
		while (w->at < w->text.len && !ends_word(w->text.p[w->at]))
			w->at++;
		d.word = str_sub(w->text, from, w->at - from);
	}
	w->word_start = false;
	if (d.word.len && w->document_count < DOCUMENTS_MAX)
		w->documents[w->document_count++] = d;
}

static bool document_ends(const struct walk *w, const struct document *d, size_t end)
{
	struct str line = str_sub(w->text, w->at, end - w->at);

	while (d->tabs && line.len && line.p[0] == '\t')
		line = str_from(line, 1);
	return str_eq(line, d->word);
}

/* One line of a document's text: only what a shell would expand in it. */
static void document_line(struct walk *w, size_t end)
{
	while (w->at < end) {
		char c = peek(w, 0);

		/* Behind ${ is a name of the shell's. */
		if (c == '\\' || (c == '$' && peek(w, 1) == '{'))
			w->at += 2;
		else if (!hole(w, QUOTE_DOCUMENT))
			w->at++;
	}
}

static void documents(struct walk *w)
{
	for (size_t i = 0; i < w->document_count; i++) {
		const struct document *d = &w->documents[i];

		while (w->at < w->text.len) {
			size_t end = str_find(w->text, '\n', w->at);
			bool last = document_ends(w, d, end);

			if (last || d->quoted)
				w->at = end;
			else
				document_line(w, end);
			w->at = MIN(MAX(w->at, end) + 1, w->text.len);
			if (last)
				break;
		}
	}
	w->document_count = 0;
}

/* -- outside quotes ------------------------------------------------------------------------------
 */

static void parenthesis(struct walk *w, char c)
{
	struct frame *f = top(w);

	if (c == '(' && peek(w, 1) == '(' && w->word_start) {
		skip_until(w, w->at, '(', ')', "((");
		return;
	}
	if (c == '(') {
		f->depth++;
	} else if (f->depth) {
		f->depth--;
	} else if (f->kind == FRAME_PAREN) {
		pop(w, 1);
		return;
	}
	w->at++;
	w->word_start = true;
}

static void unquoted(struct walk *w)
{
	char c = peek(w, 0);

	if (c == '#' && w->word_start) {
		w->at = str_find(w->text, '\n', w->at);
	} else if (c == '\\') {
		w->at += 2;
		w->word_start = false;
	} else if (c == '\'') {
		push(w, FRAME_SINGLE, 1);
	} else if (c == '"') {
		push(w, FRAME_DOUBLE, 1);
	} else if (c == '$') {
		dollar(w, false);
	} else if (c == '`') {
		backquote(w);
	} else if (c == '<' && peek(w, 1) == '<' && peek(w, 2) == '<') {
		w->at += 3;
		w->word_start = true;
	} else if (c == '<' && peek(w, 1) == '<') {
		document_word(w);
	} else if (c == '(' || c == ')') {
		parenthesis(w, c);
	} else if (c == '\n') {
		w->at++;
		documents(w);
		w->word_start = true;
	} else if (!hole(w, QUOTE_NONE)) {
		w->word_start = ends_word(c);
		w->at++;
	}
}

static const char *const opened[] = {
	[FRAME_PAREN] = "$(",
	[FRAME_BACKQUOTE] = "`",
	[FRAME_DOUBLE] = "\"",
	[FRAME_SINGLE] = "'",
	[FRAME_ANSI] = "$'",
};

void shell_walk(struct str text, unsigned kinds, struct shell_walk *ret)
{
	struct walk *w = mem_new(struct walk);

	*ret = (struct shell_walk){ .open = SIZE_MAX };
	w->text = text;
	w->kinds = kinds;
	w->ret = ret;
	w->stack[0] = (struct frame){ FRAME_TOP, 0, 0 };
	w->depth = 1;
	w->word_start = true;
	while (w->at < text.len) {
		enum frame_kind kind = top(w)->kind;

		if (kind == FRAME_SINGLE || kind == FRAME_DOUBLE || kind == FRAME_ANSI)
			in_quotes(w);
		else
			unquoted(w);
	}
	if (w->depth > 1)
		fail(w, top(w)->offset, opened[top(w)->kind]);
	free(w);
}

void shell_walk_done(struct shell_walk *w)
{
	vec_done(&w->holes);
}

/* -- showing -------------------------------------------------------------------------------------
 */

static bool plain(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ascii_digit(c) ||
			    str_find(S("_@%+:,./-"), c, 0) < 9))
			return false;
	}
	return s.len > 0;
}

static bool control(char c)
{
	return ((unsigned char)c < ' ' && c != '\n' && c != '\t') || c == '\x7f';
}

void shell_quote_always(struct buf *b, struct str s)
{
	bool ansi = false;

	for (size_t i = 0; i < s.len; i++)
		ansi |= control(s.p[i]);
	buf_adds(b, ansi ? "$'" : "'");
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		/* Escape sequences of strangers must not reach a terminal. */
		if (ansi && control(c))
			buf_printf(b, "\\%03o", (unsigned char)c);
		else if (ansi && (c == '\'' || c == '\\'))
			buf_printf(b, "\\%c", c);
		else if (c == '\'')
			buf_adds(b, "'\\''");
		else
			buf_addc(b, c);
	}
	buf_addc(b, '\'');
}

void shell_quote(struct buf *b, struct str s)
{
	if (plain(s))
		buf_add(b, s);
	else
		shell_quote_always(b, s);
}
