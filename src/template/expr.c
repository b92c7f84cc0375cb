#include "template/expr.h"

#include "base/lang.h"
#include "base/utf8.h"

enum { DEPTH_MAX = 100 }; /* parentheses inside parentheses */

struct reader {
	struct str text;
	size_t at;
	unsigned depth;
	expr_variable_fn *variable; /* NULL: only the grammar is looked at */
	void *data;
	struct str name;
	enum expr_status status;
};

static void fail(struct reader *r, enum expr_status why)
{
	if (r->status == EXPR_OK)
		r->status = why;
}

static char peek(struct reader *r)
{
	while (r->at < r->text.len) {
		uint32_t c;
		size_t n = utf8_decode(r->text, r->at, &c);

		if (!utf8_blank(c))
			return r->text.p[r->at];
		r->at += n;
	}
	return '\0';
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || ascii_digit(c);
}

static int64_t number(struct reader *r)
{
	size_t from = r->at;
	int64_t n = 0;

	while (r->at < r->text.len && ascii_digit(r->text.p[r->at]))
		r->at++;
	/* A number too long for 64 bits is still arithmetic: it fails when it is worked out. */
	if (!str_to_int(str_sub(r->text, from, r->at - from), &n) && r->variable)
		fail(r, EXPR_OVERFLOW);
	return n;
}

static int64_t variable(struct reader *r)
{
	size_t from = r->at;
	int64_t n = 1; /* any value will do when only the grammar is looked at */

	while (r->at < r->text.len && name_char(r->text.p[r->at]))
		r->at++;
	struct str name = str_sub(r->text, from, r->at - from);
	if (!str_eq(name, S("index")) && !str_eq(name, S("prev")) && !str_eq(name, S("next")) &&
		!str_eq(name, S("repeat"))) {
		fail(r, EXPR_SYNTAX);
		return n;
	}
	if (r->status == EXPR_OK && r->variable && !r->variable(r->data, name, &n)) {
		r->name = name;
		fail(r, EXPR_VARIABLE);
	}
	return n;
}

static int64_t sum(struct reader *r);

static int64_t primary(struct reader *r)
{
	char c = peek(r);

	if (ascii_digit(c))
		return number(r);
	if (name_char(c))
		return variable(r);
	if (c != '(' || r->depth == DEPTH_MAX) {
		fail(r, EXPR_SYNTAX);
		return 0;
	}
	r->at++;
	r->depth++;
	int64_t n = sum(r);
	r->depth--;
	if (peek(r) == ')')
		r->at++;
	else
		fail(r, EXPR_SYNTAX);
	return n;
}

static int64_t combine(struct reader *r, char op, int64_t a, int64_t b)
{
	int64_t n = 0;

	if (!r->variable || r->status != EXPR_OK)
		return 1;
	if ((op == '/' || op == '%') && b == 0) {
		fail(r, EXPR_ZERO);
		return 0;
	}
	bool bad = op == '+'   ? __builtin_add_overflow(a, b, &n)
		   : op == '-' ? __builtin_sub_overflow(a, b, &n)
		   : op == '*' ? __builtin_mul_overflow(a, b, &n)
			       : a == INT64_MIN && b == -1;
	if (bad) {
		fail(r, EXPR_OVERFLOW);
		return 0;
	}
	if (op == '/')
		n = a / b;
	else if (op == '%')
		n = a % b;
	return n;
}

static int64_t product(struct reader *r)
{
	int64_t n = primary(r);

	for (char c; r->status == EXPR_OK && ((c = peek(r)) == '*' || c == '/' || c == '%');) {
		r->at++;
		n = combine(r, c, n, primary(r));
	}
	return n;
}

static int64_t sum(struct reader *r)
{
	int64_t n = product(r);

	for (char c; r->status == EXPR_OK && ((c = peek(r)) == '+' || c == '-');) {
		r->at++;
		n = combine(r, c, n, product(r));
	}
	return n;
}

static enum expr_status evaluate(struct reader *r, int64_t *ret)
{
	int64_t n = sum(r);

	if (r->status == EXPR_OK && peek(r) != '\0')
		fail(r, EXPR_SYNTAX);
	if (r->at < r->text.len)
		fail(r, EXPR_SYNTAX);
	*ret = n;
	return r->status;
}

static bool bare_number(struct str text)
{
	text = utf8_trim(text);
	for (size_t i = 0; i < text.len; i++)
		if (!ascii_digit(text.p[i]))
			return false;
	return true;
}

bool expr_fits(struct str text)
{
	struct reader r = { .text = text };
	int64_t n;

	return evaluate(&r, &n) == EXPR_OK && !bare_number(text);
}

enum expr_status expr_eval(
	struct str text, expr_variable_fn *fn, void *data, int64_t *ret, struct str *name)
{
	struct reader r = { .text = text, .variable = fn, .data = data };
	enum expr_status status = evaluate(&r, ret);

	*name = r.name;
	return status;
}

bool expr_padded(struct str text, struct str *inside, size_t *underscores)
{
	size_t k = 0, depth = 0;

	while (k < text.len && text.p[k] == '_')
		k++;
	if (!k || k + 1 >= text.len || text.p[k] != '(' || text.p[text.len - 1] != ')')
		return false;
	/* The parenthesis after the underscores must be closed by the last character. */
	for (size_t i = k; i < text.len; i++) {
		depth += text.p[i] == '(';
		depth -= text.p[i] == ')';
		if (depth == 0 && i + 1 < text.len)
			return false;
	}
	*inside = str_sub(text, k + 1, text.len - k - 2);
	*underscores = k;
	return true;
}
