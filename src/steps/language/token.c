#include "steps/language/token.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "steps/language/letters.h"
#include "steps/language/value.h"

/* -- numbers -------------------------------------------------------------------------------------
 */

/* Moves digits, with single underscores between them, from *s to `ret`. False when there are none.
 */
static bool digits(struct str *s, struct buf *ret)
{
	size_t i = 0;

	while (i < s->len &&
		(ascii_digit(s->p[i]) || (s->p[i] == '_' && i && s->p[i - 1] != '_' &&
						 i + 1 < s->len && ascii_digit(s->p[i + 1])))) {
		if (s->p[i] != '_')
			buf_addc(ret, s->p[i]);
		i++;
	}
	*s = str_from(*s, i);
	return i > 0;
}

static bool take(struct str *s, const char *any, struct buf *ret)
{
	if (!s->len || !s->p[0] || !strchr(any, s->p[0]))
		return false;
	buf_addc(ret, s->p[0]);
	*s = str_from(*s, 1);
	return true;
}

bool token_number(struct str text, double *ret)
{
	struct str s = step_value_trim(text);
	AUTO_BUF plain = BUF_INIT;

	/* Most texts are none. */
	if (!s.len || !strchr("+-.0123456789iInN", s.p[0]) || !s.p[0])
		return false;
	(void)take(&s, "+-", &plain);
	bool negative = plain.len && plain.p[0] == '-';
	if (str_eq_nocase(s, S("inf")) || str_eq_nocase(s, S("infinity"))) {
		*ret = negative ? -INFINITY : INFINITY;
		return true;
	}
	if (str_eq_nocase(s, S("nan"))) {
		*ret = NAN;
		return true;
	}
	bool any = digits(&s, &plain);
	if (take(&s, ".", &plain))
		any |= digits(&s, &plain);
	if (!any)
		return false;
	if (take(&s, "eE", &plain)) {
		(void)take(&s, "+-", &plain);
		if (!digits(&s, &plain))
			return false;
	}
	if (s.len)
		return false;
	*ret = strtod(buf_cstr(&plain), NULL);
	return true;
}

/* -- tokens --------------------------------------------------------------------------------------
 */

static size_t word_length(struct str text)
{
	size_t end = 0;
	uint32_t c;

	while (end < text.len) {
		size_t n = utf8_decode(text, end, &c);

		if (c != '_' && c != '.' && !letter_or_digit(c))
			break;
		end += n;
	}
	return end;
}

/* The length with both quotes; 0: the second one is missing. */
static size_t quoted_length(struct str text)
{
	for (size_t i = 1; i < text.len; i++) {
		if (text.p[i] == '\\')
			i++;
		else if (text.p[i] == text.p[0])
			return i + 1;
	}
	return 0;
}

static enum token_kind word_kind(struct str word)
{
	if (str_eq(word, S("and")))
		return TOKEN_AND;
	if (str_eq(word, S("or")))
		return TOKEN_OR;
	return str_eq(word, S("not")) ? TOKEN_NOT : TOKEN_WORD;
}

static size_t compare_length(struct str text)
{
	static const struct str operators[] = { { "==", 2 }, { "!=", 2 }, { "<=", 2 }, { ">=", 2 },
		{ "<", 1 }, { ">", 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (str_starts(text, operators[i]))
			return operators[i].len;
	return 0;
}

/* A sign that stands directly before a number. */
static size_t signed_length(struct str text)
{
	size_t len = text.p[0] == '-' || text.p[0] == '+' ? word_length(str_from(text, 1)) : 0;
	double ignored;

	return len && token_number(str_sub(text, 0, len + 1), &ignored) ? len + 1 : 0;
}

/* One character, or the same one twice: &&, ||, {{. */
static size_t strange_length(struct str text)
{
	uint32_t c;
	size_t len = utf8_decode(text, 0, &c);

	return c < 0x80 && text.len > 1 && text.p[1] == text.p[0] ? 2 : len;
}

struct token token_next(struct str text, size_t at)
{
	struct token t = { .kind = TOKEN_END, .offset = step_value_skip_blank(text, at) };
	struct str rest = str_from(text, t.offset);

	if (!rest.len)
		return t;
	if (rest.p[0] == '(' || rest.p[0] == ')') {
		t.kind = rest.p[0] == '(' ? TOKEN_OPEN : TOKEN_CLOSE;
		t.length = 1;
	} else if (rest.p[0] == '\'' || rest.p[0] == '"') {
		t.length = quoted_length(rest);
		t.kind = t.length ? TOKEN_QUOTED : TOKEN_UNCLOSED;
		t.length = t.length ? t.length : rest.len;
	} else if (reference_at(text, t.offset, &t.reference)) {
		t.kind = TOKEN_REFERENCE;
		t.length = t.reference.length;
	} else if ((t.length = compare_length(rest))) {
		t.kind = TOKEN_COMPARE;
	} else if ((t.length = word_length(rest))) {
		t.kind = word_kind(str_sub(rest, 0, t.length));
	} else if ((t.length = signed_length(rest))) {
		t.kind = TOKEN_WORD;
	} else {
		t.kind = TOKEN_STRANGE;
		t.length = strange_length(rest);
	}
	return t;
}
