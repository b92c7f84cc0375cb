#include "steps/language/condition.h"

#include "data/big.h"
#include "steps/language/text.h"
#include "steps/language/token.h"
#include "steps/language/value.h"

enum { DEPTH_MAX = 200 }; /* parentheses in parentheses */

/* Parses and decides in one go: both sides of `and` and `or` are looked at anyway. */
struct parser {
	struct str text;
	const struct place *place;
	const json_t *vars;
	bool syntax_only;
	struct report *r;
	struct token token; /* the one that is looked at */
	size_t last_end;    /* of the one before it */
	unsigned depth;
	size_t grown; /* bytes that references put into texts */
	enum condition failure;
};

/* One side of a comparison. */
struct operand {
	struct str text;  /* borrowed, or */
	struct buf built; /* made here */
	json_t *made;
};

#define AUTO_OPERAND __attribute__((cleanup(operand_done))) struct operand

static void operand_done(struct operand *o)
{
	buf_done(&o->built);
	json_decref(o->made);
}

static struct str token_text(const struct parser *p)
{
	return str_sub(p->text, p->token.offset, p->token.length);
}

static void advance(struct parser *p)
{
	p->last_end = p->token.offset + p->token.length;
	p->token = token_next(p->text, p->last_end);
}

/* -- what is wrong -------------------------------------------------------------------------------
 */

static const char a_value[] = "a value";
static const char an_operator[] = "a comparison, `and`, `or` or the end";

struct habit {
	const char *found, *hint;
};

static const char no_membership[] =
	"there is no such operator: compare with ==, join comparisons with `or`, or decide in a "
	"bash step and test its output";
static const char no_arithmetic[] = "there is no arithmetic: compute it in a bash step";
static const char no_lists[] = "there are no lists: join comparisons with `or`";
static const char plain_quotes[] = "put strings in plain quotes: 'text' or \"text\"";
static const char name_in_braces[] =
	"a variable is {{name}}, with nothing else between the braces: no white space, filters or "
	"indexes";

/* What people write because other languages have it. */
static const struct habit habits[] = {
	{ "&&", "write `and`" },
	{ "&", "write `and`" },
	{ "||", "write `or`" },
	{ "|", "write `or`" },
	{ "!", "write `not`" },
	{ "!!", "write `not`" },
	{ "=", "write `==`" },
	{ "is", "write `==`" },
	{ "eq", "write `==`" },
	{ "ne", "write `!=`" },
	{ "in", no_membership },
	{ "contains", no_membership },
	{ "matches", no_membership },
	{ "startswith", no_membership },
	{ "endswith", no_membership },
	{ "~", no_membership },
	{ "+", no_arithmetic },
	{ "-", no_arithmetic },
	{ "*", no_arithmetic },
	{ "/", no_arithmetic },
	{ "%", no_arithmetic },
	{ "[", no_lists },
	{ "[[", no_lists },
	{ "]", no_lists },
	{ ",", no_lists },
	{ "{", name_in_braces },
	{ "{{", name_in_braces },
	{ "}", name_in_braces },
	{ "}}", name_in_braces },
	{ "$", name_in_braces },
	{ "`", plain_quotes },
	{ "“", plain_quotes },
	{ "”", plain_quotes },
	{ "‘", plain_quotes },
	{ "’", plain_quotes },
};

static const char *habit_hint(struct str found)
{
	static const char *const keywords[] = { "and", "or", "not" };
	static const char *const hints[] = { "keywords are lower case: write `and`",
		"keywords are lower case: write `or`", "keywords are lower case: write `not`" };

	for (size_t i = 0; i < ARRAY_SIZE(habits); i++)
		if (str_eq_nocase(found, str_of(habits[i].found)))
			return habits[i].hint;
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		if (str_eq_nocase(found, str_of(keywords[i])))
			return hints[i];
	return NULL;
}

/* What to do instead of what stands here. */
static void hint_instead(struct parser *p, const char *expected)
{
	struct token t = p->token;
	bool value = t.kind == TOKEN_WORD || t.kind == TOKEN_QUOTED || t.kind == TOKEN_REFERENCE;
	struct str text = token_text(p);
	const char *habit = t.kind == TOKEN_STRANGE || (t.kind == TOKEN_WORD && expected != a_value)
				    ? habit_hint(text)
				    : NULL;

	if (t.kind == TOKEN_END && p->depth)
		report_hint(p->r,
			expected == a_value ? "a value and a ) are missing" : "a ) is missing");
	else if (habit)
		report_hint(p->r, "%s", habit);
	else if (t.kind == TOKEN_NOT && expected != a_value)
		report_hint(p->r, "`not` stands before what it negates: not {{a}} == 'x'");
	else if (t.kind == TOKEN_CLOSE && expected != a_value)
		report_hint(p->r, "there is no ( for it");
	else if (t.kind == TOKEN_COMPARE && expected != a_value)
		report_hint(p->r, "comparisons do not chain: join them with `and`");
	else if (t.kind == TOKEN_COMPARE && str_eq(text, S(">")))
		report_hint(p->r, "`is not equal` is written !=");
	else if (value && t.kind == TOKEN_WORD && strchr("+-", text.p[0]))
		report_hint(p->r, "%s", no_arithmetic);
	else if (value && t.offset == p->last_end)
		report_hint(p->r, "put the whole string in quotes, references too: '{{a}}-b'");
	else if (value)
		report_hint(p->r, "put a comparison, `and` or `or` between two values; a string of "
				  "several words needs quotes");
	else if (expected == a_value)
		report_hint(p->r, "a value is {{name}}, 'text', a number, true or false");
}

/* Returns false. */
static bool unexpected(struct parser *p, const char *expected)
{
	struct token t = p->token;
	struct str text = report_quote(p->r, p->text), found = report_quote(p->r, token_text(p));

	p->failure = CONDITION_BAD;
	if (t.kind == TOKEN_UNCLOSED) {
		report_error(p->r, reference_where(p->place, t.offset, 1),
			"a quote is never closed, in the condition \"%.*s\"", STR(text));
		return report_hint(p->r,
			"close it with another %c; inside a string write it as \\%c",
			p->text.p[t.offset], p->text.p[t.offset]);
	}
	if (t.kind == TOKEN_END)
		report_error(p->r, reference_where(p->place, p->last_end, 1),
			"%s is expected at the end of the condition \"%.*s\"",
			expected == a_value ? a_value : ")", STR(text));
	else
		report_error(p->r, reference_where(p->place, t.offset, t.length),
			"found `%.*s`, expected %s, in the condition \"%.*s\"", STR(found),
			expected, STR(text));
	hint_instead(p, expected);
	return false;
}

static bool too_deep(struct parser *p)
{
	p->failure = CONDITION_BAD;
	report_error(p->r, reference_where(p->place, p->token.offset, 1),
		"more than %d parentheses in one another, in the condition \"%.*s\"", DEPTH_MAX,
		STR(report_quote(p->r, p->text)));
	return report_hint(p->r, "decide a part of it in a step before");
}

/* -- values --------------------------------------------------------------------------------------
 */

static const json_t *look_up(struct parser *p, const struct reference *ref, json_t **made)
{
	const json_t *found = reference_find(ref, p->vars, made, p->place, p->r);

	if (!found)
		p->failure = CONDITION_UNDEFINED;
	return found;
}

static bool reference_operand(struct parser *p, struct operand *ret)
{
	const struct reference *ref = &p->token.reference;
	const json_t *value = look_up(p, ref, &ret->made);

	if (!value)
		return false;
	if (json_is_string(value) && !json_is_big(value)) {
		ret->text = json_str(value);
		return true;
	}
	if (!json_is_null(value) && !json_is_object(value) && !json_is_array(value)) {
		step_value_render(&ret->built, value);
		ret->text = buf_str(&ret->built);
		return true;
	}
	struct where w = reference_where(p->place, ref->offset, ref->length);
	struct str path = report_quote(p->r, ref->path), text = report_quote(p->r, p->text);
	if (json_is_null(value)) {
		p->failure = CONDITION_UNDEFINED;
		report_error(p->r, w,
			"{{%.*s}} is undefined: it is null, in the condition \"%.*s\"", STR(path),
			STR(text));
		return report_hint(
			p->r, "in quotes it is a string: '{{%.*s}}' == 'None'", STR(path));
	}
	p->failure = CONDITION_BAD;
	report_error(p->r, w, "{{%.*s}} is %s, which no condition can test: \"%.*s\"", STR(path),
		step_value_kind(value), STR(text));
	return report_hint(p->r,
		json_is_object(value) ? "test one of its keys: {{%.*s.key}}"
				      : "count or search it in a bash step: jq, grep ({{%.*s}})",
		STR(path));
}

/* Adds the text of a reference inside quotes. */
static bool insert(struct parser *p, const struct reference *ref, struct buf *ret)
{
	AUTO_JSON *made = NULL;

	if (p->syntax_only)
		return true;
	const json_t *value = look_up(p, ref, &made);
	if (!value)
		return false;
	size_t before = ret->len;
	step_value_render(ret, value);
	p->grown += ret->len - before;
	if (p->grown <= STEP_TEXT_MAX)
		return true;
	p->failure = CONDITION_BAD;
	return report_error(p->r, reference_where(p->place, ref->offset, ref->length),
		"its strings grow beyond %d MiB, in the condition \"%.*s\"", STEP_TEXT_MAX >> 20,
		STR(report_quote(p->r, p->text)));
}

/* A backslash undoes a quote or a backslash behind it; elsewhere it is one. */
static bool quoted_operand(struct parser *p, struct operand *ret)
{
	size_t at = p->token.offset + 1, end = p->token.offset + p->token.length - 1;
	struct str inner = str_sub(p->text, 0, end);
	struct reference ref;

	while (at < end) {
		char c = inner.p[at];

		if (reference_at(inner, at, &ref)) {
			if (!insert(p, &ref, &ret->built))
				return false;
			at += ref.length;
			continue;
		}
		if (c == '\\' && at + 1 < end && strchr("'\"\\", inner.p[at + 1]) &&
			inner.p[at + 1])
			c = inner.p[++at];
		buf_addc(&ret->built, c);
		at++;
	}
	ret->text = buf_str(&ret->built);
	return true;
}

static struct str word_value(struct str word)
{
	if (str_eq_nocase(word, S("true")))
		return S("true");
	return str_eq_nocase(word, S("false")) ? S("false") : word;
}

static bool either(struct parser *p, bool *ret);

static bool group(struct parser *p, bool *ret)
{
	if (p->depth == DEPTH_MAX)
		return too_deep(p);
	p->depth++;
	advance(p);
	if (!either(p, ret))
		return false;
	if (p->token.kind != TOKEN_CLOSE)
		return unexpected(p, "a comparison, `and`, `or` or )");
	p->depth--;
	return true;
}

static bool operand(struct parser *p, struct operand *ret)
{
	bool truth = false;

	switch (p->token.kind) {
	case TOKEN_OPEN:
		if (!group(p, &truth))
			return false;
		ret->text = truth ? S("true") : S("false");
		break;
	case TOKEN_QUOTED:
		if (!quoted_operand(p, ret))
			return false;
		break;
	case TOKEN_WORD:
		ret->text = word_value(token_text(p));
		break;
	case TOKEN_REFERENCE:
		if (!p->syntax_only && !reference_operand(p, ret))
			return false;
		break;
	case TOKEN_END:
	case TOKEN_CLOSE:
	case TOKEN_COMPARE:
	case TOKEN_AND:
	case TOKEN_OR:
	case TOKEN_NOT:
	case TOKEN_UNCLOSED:
	case TOKEN_STRANGE:
		return unexpected(p, a_value);
	}
	advance(p);
	return true;
}

/* -- expressions ---------------------------------------------------------------------------------
 */

static bool truthy(struct str text)
{
	static const struct str no[] = { { "", 0 }, { "0", 1 }, { "false", 5 }, { "False", 5 },
		{ "none", 4 }, { "None", 4 } };

	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (str_eq(text, no[i]))
			return false;
	return true;
}

/* As numbers when both are; else by code point, which is the order of their bytes. */
static bool compare(struct str left, struct str op, struct str right)
{
	double a, b;
	bool equal, less;

	if (token_number(left, &a) && token_number(right, &b)) {
		equal = a == b;
		less = a < b;
		if (a != a || b != b)
			return str_eq(op, S("!="));
	} else {
		int order = str_cmp(left, right);

		equal = order == 0;
		less = order < 0;
	}
	if (op.p[0] == '=')
		return equal;
	if (op.p[0] == '!')
		return !equal;
	bool strict = op.len == 1;
	return op.p[0] == '<' ? less || (equal && !strict)
			      : (!less && !equal) || (equal && !strict);
}

static bool comparison(struct parser *p, bool *ret)
{
	AUTO_OPERAND left = { 0 };
	AUTO_OPERAND right = { 0 };

	if (!operand(p, &left))
		return false;
	if (p->token.kind != TOKEN_COMPARE) {
		*ret = truthy(left.text);
		return true;
	}
	struct str op = token_text(p);
	advance(p);
	if (!operand(p, &right))
		return false;
	*ret = compare(left.text, op, right.text);
	return true;
}

static bool negation(struct parser *p, bool *ret)
{
	bool negated = false;

	for (; p->token.kind == TOKEN_NOT; advance(p))
		negated = !negated;
	if (!comparison(p, ret))
		return false;
	*ret = *ret != negated;
	return true;
}

static bool both(struct parser *p, bool *ret)
{
	bool right;

	if (!negation(p, ret))
		return false;
	while (p->token.kind == TOKEN_AND) {
		advance(p);
		if (!negation(p, &right))
			return false;
		*ret = *ret && right;
	}
	return true;
}

static bool either(struct parser *p, bool *ret)
{
	bool right;

	if (!both(p, ret))
		return false;
	while (p->token.kind == TOKEN_OR) {
		advance(p);
		if (!both(p, &right))
			return false;
		*ret = *ret || right;
	}
	return true;
}

static bool whole(struct parser *p, bool *ret)
{
	p->token = token_next(p->text, 0);
	*ret = true;
	if (p->token.kind == TOKEN_END)
		return true;
	if (!either(p, ret))
		return false;
	return p->token.kind == TOKEN_END || unexpected(p, an_operator);
}

enum condition condition_decide(
	struct str text, const struct place *place, const json_t *vars, struct report *r)
{
	struct parser p = { .text = text, .place = place, .vars = vars, .r = r };
	bool truth;

	if (!whole(&p, &truth))
		return p.failure;
	return truth ? CONDITION_TRUE : CONDITION_FALSE;
}

bool condition_check(struct str text, const struct place *place, struct report *r)
{
	struct parser p = { .text = text, .place = place, .syntax_only = true, .r = r };
	bool ignored;

	return whole(&p, &ignored);
}
