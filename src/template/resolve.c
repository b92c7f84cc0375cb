#include "template/resolve.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/near.h"
#include "base/utf8.h"
#include "template/expr.h"

enum { RESOLVED_MAX = 1 << 20 };

const char array_form[] = ":='[\"x\",\"y\"]'";
static const char index_form[] = "=NUMBER";

void value_done(struct value *v)
{
	buf_done(&v->text);
}

void resolver_done(struct resolver *rs)
{
	buf_done(&rs->message);
	buf_done(&rs->hint);
}

static bool PRINTF(2, 3) fail(struct resolver *rs, const char *fmt, ...)
{
	va_list args;

	buf_reset(&rs->message);
	buf_reset(&rs->hint);
	rs->lacks = S("");
	va_start(args, fmt);
	buf_vprintf(&rs->message, fmt, args);
	va_end(args);
	return false;
}

static bool fail_for_good(struct resolver *rs, const char *message, const char *hint)
{
	fail(rs, "%s", message);
	buf_adds(&rs->hint, hint);
	rs->fatal = true;
	return false;
}

void value_write(const struct value *v, struct buf *ret)
{
	if (v->kind == VALUE_TEXT)
		buf_add(ret, buf_str(&v->text));
	else if (v->kind == VALUE_JSON)
		template_text(ret, v->json);
}

bool value_true(const struct value *v)
{
	if (v->kind == VALUE_TEXT)
		return template_text_truthy(buf_str(&v->text));
	return v->kind == VALUE_JSON && template_truthy(v->json);
}

static void padded(struct buf *ret, int64_t n, size_t underscores)
{
	char digits[24];
	int len =
		snprintf(digits, sizeof(digits), "%" PRIu64, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
	size_t used = (size_t)len + (n < 0);
	size_t width = underscores ? underscores + 1 : 0;

	if (n < 0)
		buf_addc(ret, '-');
	if (width > used)
		buf_fill(ret, '0', MIN(width - used, (size_t)RESOLVED_MAX));
	buf_adds(ret, digits);
}

/* The args in force are the innermost ones; their shorthand defaults are the last layer. */
static bool in_args(const struct scope *s, struct str name, struct default_hit *ret)
{
	while (s && !s->args)
		s = s->up;
	const struct preset *p = s ? presets_find(s->args, name) : NULL;
	*ret = (struct default_hit){ .preset = p };
	return p != NULL;
}

static bool in_defaults(
	const struct scope *s, struct str name, const struct scope *use, struct default_hit *ret);

/* Whether the default is one name and nothing else. */
static bool is_bare(const struct preset *p, struct str *ret_name)
{
	if (!one_placeholder(p->parts, p->part_count) || !bare_value(p->parts[0].placeholder))
		return false;
	*ret_name = p->parts[0].placeholder->name;
	return true;
}

/* What a name that is handed on means in the recipe around. One that is bound there to a bare name
 * means that of the importer, and so on outward; last, what stands beside it. */
static bool in_around(const struct presets *set, struct str name, const struct scope *above,
	const struct scope *use, struct default_hit *ret)
{
	const struct preset *p = presets_find(set, name);
	struct default_hit inherited;
	struct str inner;

	for (int hops = 0; p && !preset_passes(p); hops++) {
		*ret = (struct default_hit){ .preset = p };
		if (!is_bare(p, &inner) || scope_value(use, inner) || hops == HOPS_MAX)
			return true;
		const struct preset *outer = presets_find(p->around, inner);
		if (outer && !preset_passes(outer)) {
			set = p->around;
			p = outer;
			continue;
		}
		if (above && in_defaults(above, inner, use, &inherited)) {
			*ret = inherited;
			return true;
		}
		const struct preset *beside = presets_find(set, inner);
		if (!beside || preset_passes(beside))
			return true;
		p = beside;
	}
	return false;
}

/* Only what `defaults` say. */
static bool in_defaults(
	const struct scope *s, struct str name, const struct scope *use, struct default_hit *ret)
{
	for (const struct scope *at = s; at; at = at->up) {
		const struct preset *p = presets_find(at->defaults, name);

		if (!p)
			continue;
		*ret = (struct default_hit){ .preset = p };
		struct str inner, bare;
		if (!is_bare(p, &inner))
			return true;
		if (scope_value(use, inner))
			return true;
		const struct scope *copy = scope_repeat(at);
		if (copy && repeat_name(inner, &bare, &ret->underscores)) {
			ret->generated = true;
			ret->number = scope_generated(copy, bare);
			return true;
		}
		/* A repeated node and each of its copies have the same defaults: one declaration.
		 */
		const struct scope *above = at->up;
		while (above && above->defaults == at->defaults)
			above = above->up;
		if (in_around(p->around, inner, above, use, ret))
			return true;
		struct default_hit inherited;
		if (above && in_defaults(above, inner, use, &inherited)) {
			*ret = inherited;
			return true;
		}
		/* A default beside it is nearer than what `args` around it say in shorthand. */
		bool passes = str_eq(inner, name);
		if ((passes || !presets_find(at->defaults, inner)) &&
			in_args(above, inner, &inherited))
			*ret = inherited;
		else if (passes)
			continue; /* passes on what was not given: as if it were not there */
		return true;
	}
	return false;
}

bool default_find(
	const struct scope *s, struct str name, const struct scope *use, struct default_hit *ret)
{
	return in_defaults(s, name, use, ret) || in_args(s, name, ret);
}

static bool resolve_default(struct resolver *rs, const struct preset *p, struct value *ret)
{
	if (!p->part_count) {
		*ret = (struct value){ .kind = VALUE_JSON, .json = p->value };
		return true;
	}
	if (rs->hops == HOPS_MAX)
		return fail_for_good(rs, "defaults lead to defaults more than five times",
			"look for defaults that name each other, or shorten the chain");
	rs->hops++;
	bool ok;
	if (one_placeholder(p->parts, p->part_count)) {
		const struct placeholder *inner = p->parts[0].placeholder;

		/* Exactly one name: its value comes through whole, so arrays stay arrays. */
		if (bare_value(inner)) {
			ok = resolver_look_up(rs, inner->name, ret);
			if (!ok || ret->kind != VALUE_ABSENT) {
				rs->hops--;
				return ok;
			}
		}
		*ret = (struct value){ .kind = VALUE_TEXT };
		ok = resolver_parts(rs, p->parts, 1, &ret->text, NULL);
		if (!ok && !rs->fatal)
			buf_printf(
				&rs->message, ", which the default of '%.*s' needs", STR(p->name));
	} else {
		*ret = (struct value){ .kind = VALUE_TEXT };
		ok = resolver_parts(rs, p->parts, p->part_count, &ret->text, NULL);
		if (!ok && !rs->fatal) {
			/* Text with a part that cannot be resolved is literal: JSON, awk … */
			buf_done(&ret->text);
			*ret = (struct value){ .kind = VALUE_JSON, .json = p->value };
			ok = true;
		}
	}
	rs->hops--;
	return ok;
}

bool resolver_look_up(struct resolver *rs, struct str name, struct value *ret)
{
	const struct scope *copy = scope_repeat(rs->scope);
	struct default_hit hit;
	size_t underscores;
	struct str bare;

	*ret = (struct value){ 0 };
	if (++rs->steps > STEPS_MAX)
		return fail_for_good(rs, "too many placeholders have to be resolved for one text",
			"defaults that use each other several times multiply");
	if (copy && repeat_name(name, &bare, &underscores)) {
		ret->kind = VALUE_TEXT;
		padded(&ret->text, scope_generated(copy, bare), underscores);
		return true;
	}
	const json_t *given = scope_value(rs->scope, name);
	if (given) {
		*ret = (struct value){ .kind = VALUE_JSON, .json = given };
		return true;
	}
	if (!default_find(rs->scope, name, rs->scope, &hit))
		return true;
	if (hit.generated) {
		ret->kind = VALUE_TEXT;
		padded(&ret->text, hit.number, hit.underscores);
		return true;
	}
	return resolve_default(rs, hit.preset, ret);
}

static void offer_name(void *near, struct str name)
{
	near_offer(near, name);
}

bool resolver_missing(struct resolver *rs, struct str name, const char *form)
{
	struct near near = near_to(name);
	size_t underscores;
	struct str bare;

	fail(rs, "no value for '%.*s'", STR(name));
	rs->lacks = name;
	scope_names(rs->scope, offer_name, &near);
	struct str best = near_best(&near);
	if (best.len && !str_eq(best, name))
		buf_printf(&rs->hint, "there is one for '%.*s': is one of the two misspelt?",
			STR(best));
	else if (repeat_name(name, &bare, &underscores))
		buf_adds(&rs->hint, "it is known inside a node with `repeat`");
	else if (form)
		buf_printf(&rs->hint, "give one with %.*s%s", STR(name), form);
	else
		buf_printf(&rs->hint, "give one with %.*s=VALUE, or a default: {%.*s=…}", STR(name),
			STR(name));
	return false;
}

bool resolver_no_array(struct resolver *rs, struct str name, const struct value *v)
{
	fail(rs, "'%.*s' is %s, not an array", STR(name),
		v->kind == VALUE_JSON ? json_kind(v->json) : "a string");
	buf_printf(&rs->hint, "give one with %.*s%s", STR(name), array_form);
	return false;
}

bool name_is_arithmetic(struct str name)
{
	size_t underscores;
	struct str bare;

	return expr_fits(name) && !repeat_name(name, &bare, &underscores);
}

static bool variable(void *data, struct str name, int64_t *ret)
{
	struct resolver *rs = data;
	AUTO_VALUE v = { 0 };
	AUTO_BUF text = BUF_INIT;

	if (!resolver_look_up(rs, name, &v) || v.kind == VALUE_ABSENT)
		return false;
	value_write(&v, &text);
	return str_to_int(utf8_trim(buf_str(&text)), ret);
}

/* Why `variable` had no number for it. */
static bool bad_variable(struct resolver *rs, struct str name)
{
	AUTO_VALUE v = { 0 };
	AUTO_BUF text = BUF_INIT;

	if (!resolver_look_up(rs, name, &v))
		return false;
	if (v.kind == VALUE_ABSENT)
		return resolver_missing(rs, name, index_form);
	value_write(&v, &text);
	return fail(rs, "'%.*s' is '%s', not a whole number", STR(name), buf_cstr(&text));
}

bool resolver_expr(struct resolver *rs, struct str expr, size_t underscores, struct buf *ret)
{
	struct str name;
	int64_t n;

	switch (expr_eval(expr, variable, rs, &n, &name)) {
	case EXPR_OK:
		padded(ret, n, underscores);
		return true;
	case EXPR_VARIABLE:
		return !rs->fatal && bad_variable(rs, name);
	case EXPR_ZERO:
		return fail(rs, "'%.*s' divides by zero", STR(expr));
	case EXPR_OVERFLOW:
		return fail(rs, "'%.*s' goes beyond 64 bits", STR(expr));
	case EXPR_SYNTAX:
		break;
	}
	return fail(rs, "'%.*s' is not arithmetic", STR(expr));
}

static bool item_index(struct resolver *rs, const struct placeholder *p, uint64_t *ret)
{
	AUTO_VALUE v = { 0 };
	AUTO_BUF text = BUF_INIT;

	if (str_to_uint(p->index, ret))
		return true;
	if (!resolver_look_up(rs, p->index, &v))
		return false;
	if (v.kind == VALUE_ABSENT)
		return resolver_missing(rs, p->index, index_form);
	value_write(&v, &text);
	if (str_to_uint(buf_str(&text), ret))
		return true;
	return fail(rs, "'%.*s' is '%s', not an index, in '%.*s'", STR(p->index), buf_cstr(&text),
		STR(p->content));
}

static bool resolve_item(struct resolver *rs, const struct placeholder *p, struct buf *ret)
{
	AUTO_VALUE v = { 0 };
	uint64_t i;

	if (!resolver_look_up(rs, p->name, &v))
		return false;
	if (v.kind == VALUE_ABSENT)
		return resolver_missing(rs, p->name, array_form);
	if (v.kind != VALUE_JSON || !json_is_array(v.json))
		return resolver_no_array(rs, p->name, &v);
	if (!item_index(rs, p, &i))
		return false;
	if (i >= json_array_size(v.json)) {
		fail(rs, "'%.*s' is outside the array, which has %zu item%s", STR(p->content),
			json_array_size(v.json), json_array_size(v.json) == 1 ? "" : "s");
		return false;
	}
	template_text(ret, json_array_get(v.json, i));
	return true;
}

static bool resolve_placeholder(struct resolver *rs, const struct placeholder *p, struct buf *ret)
{
	AUTO_VALUE v = { 0 };

	if (p->kind == PLACEHOLDER_EXPR)
		return resolver_expr(rs, p->expr, p->underscores, ret);
	if (p->kind == PLACEHOLDER_ITEM)
		return resolve_item(rs, p, ret);
	if (!resolver_look_up(rs, p->name, &v))
		return false;
	switch (p->kind) {
	case PLACEHOLDER_VALUE:
		if (v.kind != VALUE_ABSENT)
			value_write(&v, ret);
		else if (p->type.kind == TYPE_NONE && name_is_arithmetic(p->content))
			return resolver_expr(rs, p->content, 0, ret);
		else
			return resolver_missing(rs, p->name, NULL);
		return true;
	case PLACEHOLDER_DEFAULT:
		if (v.kind == VALUE_ABSENT)
			buf_add(ret, p->text);
		else
			value_write(&v, ret);
		return true;
	case PLACEHOLDER_FALLBACK:
		if (value_true(&v))
			value_write(&v, ret);
		else
			buf_add(ret, p->text);
		return true;
	case PLACEHOLDER_CONDITION:
		buf_add(ret, value_true(&v) != p->negated ? p->text : p->other);
		return true;
	case PLACEHOLDER_SPREAD:
		return fail(rs, "'{%.*s}' stands for several words", STR(p->content));
	case PLACEHOLDER_ITEM:
	case PLACEHOLDER_EXPR:
		break;
	}
	UNREACHABLE("a placeholder of no kind");
}

bool resolver_parts(
	struct resolver *rs, const struct part *parts, size_t count, struct buf *ret, size_t *bad)
{
	for (size_t i = 0; i < count; i++) {
		if (!parts[i].placeholder) {
			buf_add(ret, parts[i].text);
			continue;
		}
		if (bad)
			*bad = i;
		if (!resolve_placeholder(rs, parts[i].placeholder, ret))
			return false;
		if (ret->len > RESOLVED_MAX && rs->hops)
			return fail_for_good(rs, "the text grows beyond 1 MiB through its defaults",
				"defaults that use each other several times multiply");
	}
	return true;
}

void resolver_complain(const struct resolver *rs, struct where w, struct report *r)
{
	report_error(r, w, "%s", buf_cstr(&rs->message));
	if (rs->lacks.len)
		report_field(r, rs->lacks);
	if (rs->hint.len)
		report_hint(r, "%s", buf_cstr(&rs->hint));
}
