#include "template/placeholder.h"

#include <string.h>

#include "base/utf8.h"
#include "base/vec.h"
#include "template/expr.h"

static bool arithmetic(struct str content, struct placeholder *p)
{
	p->expr = content;
	if (!expr_padded(content, &p->expr, &p->underscores) && !expr_fits(content))
		return false;
	if (p->underscores && !expr_fits(p->expr)) {
		/* {_(5)} is as good as {(5)}. */
		uint64_t ignored;

		if (!str_to_uint(utf8_trim(p->expr), &ignored))
			return false;
	}
	p->kind = PLACEHOLDER_EXPR;
	return true;
}

static bool refuse(struct placeholder_mistake *wrong, const char *what, const char *hint)
{
	*wrong = (struct placeholder_mistake){ .what = what, .hint = hint };
	return false;
}

static bool condition(struct str rest, struct placeholder *p, struct placeholder_mistake *wrong)
{
	size_t colon = str_find(rest, ':', 0);

	if (colon == rest.len)
		return refuse(wrong, "is a condition without its ':' part",
			"write {name?then:else}; the else part may be empty");
	p->kind = PLACEHOLDER_CONDITION;
	p->text = str_sub(rest, 1, colon - 1);
	p->other = str_from(rest, colon + 1);
	return true;
}

static bool item(struct str rest, struct placeholder *p, struct placeholder_mistake *wrong)
{
	size_t close = str_find(rest, ']', 0);
	uint64_t number;

	if (close == rest.len)
		return refuse(wrong, "is an array item without its ]",
			"write {items[0]} or {items[index]}");
	if (close + 1 < rest.len)
		return refuse(wrong, "has something behind its ]",
			rest.p[close + 1] == '=' ? "an array item takes no default"
						 : "write {items[0]} or {items[index]}");
	p->index = str_sub(rest, 1, close - 1);
	if (str_eq(p->index, S("*"))) {
		/* It declares its name an array. */
		p->kind = PLACEHOLDER_SPREAD;
		p->type.kind = TYPE_ARRAY;
		p->index = (struct str){ 0 };
		return true;
	}
	p->kind = PLACEHOLDER_ITEM;
	if (name_valid(p->index) || str_to_uint(p->index, &number))
		return true;
	return refuse(wrong, "is an array item with an index that is neither a number nor a name",
		"write {items[0]} or {items[index]}; arithmetic is not possible inside [ ]");
}

static bool typed(struct str rest, struct placeholder *p, struct placeholder_mistake *wrong)
{
	size_t close = str_starts(rest, S(":enum(")) ? str_find(rest, ')', 0) : 0;
	size_t equals = str_find(rest, '=', close == rest.len ? 0 : close);
	struct str type = str_sub(rest, 1, equals - 1);

	if (!type_parse(type, &p->type)) {
		struct str before = str_sub(type, 0, str_find(type, '?', 0));

		if (before.len < type.len && type_parse(before, &p->type))
			return refuse(wrong, "has a type and more than a default",
				"a typed placeholder takes a default only: {name:int=5}");
		refuse(wrong,
			type.len ? "has a type that does not exist: " : "has no type behind its :",
			"types are string, path, int, number, bool, array and enum(a,b)");
		wrong->subject = type;
		return false;
	}
	if (equals < rest.len) {
		p->kind = PLACEHOLDER_DEFAULT;
		p->text = str_from(rest, equals + 1);
	}
	return true;
}

static bool parse_named(
	struct str content, size_t from, struct placeholder *p, struct placeholder_mistake *wrong)
{
	struct str rest = str_from(content, from + p->name.len);

	if (p->negated && !(rest.len && rest.p[0] == '?' && !str_starts(rest, S("??"))))
		return refuse(wrong, "negates, but is not a condition", "write {!name?then:else}");
	if (!rest.len)
		return true;
	if (rest.p[0] == '=') {
		p->kind = PLACEHOLDER_DEFAULT;
		p->text = str_from(rest, 1);
		return true;
	}
	if (str_starts(rest, S("??"))) {
		p->kind = PLACEHOLDER_FALLBACK;
		p->text = str_from(rest, 2);
		return true;
	}
	if (rest.p[0] == '?')
		return condition(rest, p, wrong);
	if (rest.p[0] == '[')
		return item(rest, p, wrong);
	if (rest.p[0] == ':')
		return typed(rest, p, wrong);
	return arithmetic(content, p);
}

/* -- what the author may have meant --------------------------------------------------------------
 */

static bool made_of(struct str s, const char *others, bool beyond_ascii)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !ascii_digit(c) &&
			!(c && strchr(others, c)) && !(beyond_ascii && (unsigned char)c >= 0x80))
			return false;
	}
	return true;
}

static bool is_dotted(struct str s)
{
	size_t dot = str_find(s, '.', 0);

	return dot < s.len && name_valid(str_sub(s, 0, dot)) && name_length(str_from(s, dot + 1));
}

static bool is_length(struct str s)
{
	return is_dotted(s) && str_ends(s, S(".length"));
}

static bool is_arithmetic(struct str s)
{
	uint64_t ignored;

	return made_of(s, "_+-*/%() ", false) &&
	       (!made_of(s, "_- ", false) || s.p[0] == '-' || str_to_uint(s, &ignored));
}

static bool is_name(struct str s)
{
	return made_of(s, "_-", true);
}

static bool is_anything(struct str s)
{
	return s.len > 0;
}

/* Hints for a group that is of no form at all; the first that fits is given. */
static const struct {
	bool (*fits)(struct str content);
	const char *hint;
} guesses[] = {
	{ is_length, "an array's length is known only to `repeat`" },
	{ is_dotted, "there is no way into an object; pass the member as a value of its own" },
	{ is_arithmetic,
		"arithmetic has whole numbers, index, prev, next, repeat, ( ) and + - * / %" },
	{ is_name, "a name begins with a letter or _ and continues with letters, digits, _ and -" },
	{ is_anything,
		"braces always mean a placeholder; pass such text as a value, which is never "
		"read for them" },
};

static void guess(struct str content, struct placeholder_mistake *wrong)
{
	struct str trimmed = utf8_trim(content);
	struct placeholder_mistake ignored;
	struct placeholder p;
	size_t i = 0;

	wrong->what = "is not a placeholder";
	if (trimmed.len && trimmed.len < content.len &&
		placeholder_parse(trimmed, DIALECT_NOW, &p, &ignored)) {
		wrong->hint = "no spaces inside the braces: ";
		wrong->example = trimmed;
		return;
	}
	while (!guesses[i].fits(content))
		i++;
	wrong->hint = guesses[i].hint;
}

bool placeholder_parse(struct str content, enum dialect dialect, struct placeholder *ret,
	struct placeholder_mistake *wrong)
{
	struct placeholder p = { .content = content };
	size_t from = content.len && content.p[0] == '!' ? 1 : 0;

	*wrong = (struct placeholder_mistake){ 0 };
	p.negated = from == 1;
	p.name = str_sub(content, from, name_length(str_from(content, from)));
	if (!(p.name.len ? parse_named(content, from, &p, wrong) : arithmetic(content, &p))) {
		if (!wrong->what)
			guess(content, wrong);
		return false;
	}
	bool old = p.kind == PLACEHOLDER_EXPR || p.kind == PLACEHOLDER_VALUE ||
		   p.kind == PLACEHOLDER_DEFAULT;
	if (dialect == DIALECT_0_9 && (!old || p.type.kind != TYPE_NONE))
		return refuse(wrong, "is a form that the 0.9 dialect does not have",
			"it has {name}, {name=default} and arithmetic");
	*ret = p;
	return true;
}

bool brace_group(struct str text, size_t from, size_t *begin, size_t *end)
{
	for (size_t open = str_find(text, '{', from); open < text.len;
		open = str_find(text, '{', open + 1)) {
		size_t close = open + 1;

		while (close < text.len && text.p[close] != '{' && text.p[close] != '}')
			close++;
		if (close < text.len && text.p[close] == '}' && close > open + 1) {
			*begin = open;
			*end = close + 1;
			return true;
		}
	}
	return false;
}

size_t placeholder_cut(struct arena *a, struct str text, enum dialect dialect, struct part **ret,
	placeholder_bad_fn *bad, void *data)
{
	VEC(struct part) parts = { 0 };
	size_t at = 0, begin, end;
	size_t count = 0;
	bool give_up = false;

	while (brace_group(text, at, &begin, &end)) {
		struct str group = str_sub(text, begin, end - begin);
		struct placeholder p;
		struct placeholder_mistake wrong;

		if (begin > at)
			vec_push(&parts, (struct part){ str_sub(text, at, begin - at), NULL });
		at = end;
		if (placeholder_parse(str_sub(group, 1, group.len - 2), dialect, &p, &wrong)) {
			struct placeholder *kept = arena_new(a, struct placeholder);

			*kept = p;
			vec_push(&parts, (struct part){ group, kept });
		} else if (bad) {
			give_up |= !bad(data, group, &wrong);
			vec_push(&parts, (struct part){ group, NULL });
		} else {
			parts.len = 0;
			at = 0;
			break;
		}
	}
	if (at < text.len)
		vec_push(&parts, (struct part){ str_from(text, at), NULL });
	count = give_up ? SIZE_MAX : parts.len;
	*ret = arena_array(a, struct part, parts.len);
	if (parts.len)
		memcpy(*ret, parts.at, parts.len * sizeof(**ret));
	vec_done(&parts);
	return count;
}

bool repeat_name(struct str name, struct str *bare, size_t *underscores)
{
	size_t k = 0;

	while (k < name.len && name.p[k] == '_')
		k++;
	*bare = str_from(name, k);
	*underscores = k;
	return str_eq(*bare, S("index")) || str_eq(*bare, S("prev")) || str_eq(*bare, S("next")) ||
	       str_eq(*bare, S("repeat"));
}
