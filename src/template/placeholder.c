#include "template/placeholder.h"

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

static bool condition(struct str rest, struct placeholder *p, const char **why, const char **hint)
{
	size_t colon = str_find(rest, ':', 0);

	if (colon == rest.len) {
		*why = "a condition without its ':' part";
		*hint = "write {name?then:else}; the else part may be empty";
		return false;
	}
	p->kind = PLACEHOLDER_CONDITION;
	p->text = str_sub(rest, 1, colon - 1);
	p->other = str_from(rest, colon + 1);
	return true;
}

static bool item(struct str rest, struct placeholder *p, const char **why, const char **hint)
{
	uint64_t number;

	p->kind = PLACEHOLDER_ITEM;
	p->index = rest.len > 2 ? str_sub(rest, 1, rest.len - 2) : S("");
	if (rest.p[rest.len - 1] == ']' && (name_valid(p->index) || str_to_uint(p->index, &number)))
		return true;
	*why = "an array item with an index that is neither a number nor a name";
	*hint = "write {items[0]} or {items[index]}; arithmetic is not possible inside [ ]";
	return false;
}

static bool typed(struct str rest, struct placeholder *p, const char **why, const char **hint)
{
	size_t close = str_starts(rest, S(":enum(")) ? str_find(rest, ')', 0) : 0;
	size_t equals = str_find(rest, '=', close == rest.len ? 0 : close);

	if (!type_parse(str_sub(rest, 1, equals - 1), &p->type)) {
		*why = "a type that does not exist";
		*hint = "types are string, path, int, number, bool, array and enum(a,b)";
		return false;
	}
	if (equals < rest.len) {
		p->kind = PLACEHOLDER_DEFAULT;
		p->text = str_from(rest, equals + 1);
	}
	return true;
}

static const char braces_hint[] =
	"braces always mean a placeholder; pass such text as a value, which is never read for them";

static bool parse_named(
	struct str content, size_t from, struct placeholder *p, const char **why, const char **hint)
{
	struct str rest = str_from(content, from + p->name.len);

	if (p->negated && !(rest.len && rest.p[0] == '?' && !str_starts(rest, S("??")))) {
		*why = "a '!' that belongs to no condition";
		*hint = "write {!name?then:else}";
		return false;
	}
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
		return condition(rest, p, why, hint);
	if (rest.p[0] == '[')
		return item(rest, p, why, hint);
	if (rest.p[0] == ':')
		return typed(rest, p, why, hint);
	if (arithmetic(content, p))
		return true;
	*why = "not a placeholder";
	*hint = str_starts(rest, S(".length")) ? "an array's length is known only to `repeat`"
					       : braces_hint;
	return false;
}

bool placeholder_parse(struct str content, enum dialect dialect, struct placeholder *ret,
	const char **why, const char **hint)
{
	struct placeholder p = { .content = content };
	size_t from = content.len && content.p[0] == '!' ? 1 : 0;

	p.negated = from == 1;
	p.name = str_sub(content, from, name_length(str_from(content, from)));
	*why = "not a placeholder";
	*hint = braces_hint;
	bool fits =
		p.name.len ? parse_named(content, from, &p, why, hint) : arithmetic(content, &p);
	if (!fits)
		return false;
	bool old = p.kind == PLACEHOLDER_EXPR || p.kind == PLACEHOLDER_VALUE ||
		   p.kind == PLACEHOLDER_DEFAULT;
	if (dialect == DIALECT_0_9 && (!old || p.type.kind != TYPE_NONE)) {
		*why = "a form that the 0.9 dialect does not have";
		*hint = "it has {name}, {name=default} and arithmetic";
		return false;
	}
	*ret = p;
	return true;
}

/* The next brace group at or after `from`: one or more characters that are no braces. */
static bool next_group(struct str text, size_t from, size_t *begin, size_t *end)
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

	while (next_group(text, at, &begin, &end)) {
		struct str group = str_sub(text, begin, end - begin);
		struct placeholder p;
		const char *why, *hint;

		if (begin > at)
			vec_push(&parts, (struct part){ str_sub(text, at, begin - at), NULL, at });
		at = end;
		if (placeholder_parse(str_sub(group, 1, group.len - 2), dialect, &p, &why, &hint)) {
			struct placeholder *kept = arena_new(a, struct placeholder);

			*kept = p;
			vec_push(&parts, (struct part){ group, kept, begin });
		} else if (bad) {
			give_up |= !bad(data, group, begin, why, hint);
			vec_push(&parts, (struct part){ group, NULL, begin });
		} else {
			parts.len = 0;
			at = 0;
			break;
		}
	}
	if (at < text.len)
		vec_push(&parts, (struct part){ str_from(text, at), NULL, at });
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
