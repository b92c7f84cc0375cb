#include "template/braces.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/near.h"
#include "base/utf8.h"
#include "template/expr.h"
#include "template/words.h"

enum {
	HOPS_MAX = 5,      /* defaults that lead to defaults */
	STEPS_MAX = 20000, /* placeholders resolved for one text: defaults can multiply */
	RESOLVED_MAX = 1 << 20,
};

struct braces {
	struct text text;
	const struct part *parts;
	size_t part_count;
	struct str line; /* the command line a word comes from; line.p is NULL otherwise */
	size_t number;   /* of the word */
	/* Of a guard that is a flag: */
	struct str flag;
	bool negated;
};

static const struct braces *braces_of(const struct text *t)
{
	return container_of(t, struct braces, text);
}

struct where braces_where(const struct text *t, size_t offset, size_t len)
{
	const struct braces *b = braces_of(t);

	if (!b->line.p)
		return place_where_in(t->place, offset, len);
	size_t from = words_locate(b->line, b->number, offset);
	size_t to = len ? words_locate(b->line, b->number, offset + len - 1) + 1 : from + 1;
	return place_where_in(t->place, from, to - from);
}

/* -- resolving -----------------------------------------------------------------------------------
 */

/* What a name stands for. */
struct value {
	enum { VALUE_ABSENT, VALUE_JSON, VALUE_TEXT } kind;
	const json_t *json; /* borrowed */
	struct buf text;
};

#define AUTO_VALUE __attribute__((cleanup(value_done))) struct value

static void value_done(struct value *v)
{
	buf_done(&v->text);
}

/* One resolution: what went wrong is kept here until it is known whether it matters. */
struct resolver {
	const struct scope *scope;
	unsigned hops;
	size_t steps;
	struct buf message, hint;
	bool fatal; /* not a missing value but a chain without end: never taken as literal text */
};

static void resolver_done(struct resolver *rs)
{
	buf_done(&rs->message);
	buf_done(&rs->hint);
}

#define AUTO_RESOLVER __attribute__((cleanup(resolver_done))) struct resolver

static bool PRINTF(2, 3) fail(struct resolver *rs, const char *fmt, ...)
{
	va_list args;

	buf_reset(&rs->message);
	buf_reset(&rs->hint);
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

static void value_write(const struct value *v, struct buf *ret)
{
	if (v->kind == VALUE_TEXT)
		buf_add(ret, buf_str(&v->text));
	else if (v->kind == VALUE_JSON)
		value_text(ret, v->json);
}

static bool value_true(const struct value *v)
{
	if (v->kind == VALUE_TEXT)
		return text_truthy(buf_str(&v->text));
	return v->kind == VALUE_JSON && value_truthy(v->json);
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

static bool resolve_parts(
	struct resolver *rs, const struct part *parts, size_t count, struct buf *ret, size_t *bad);
static bool look_up(struct resolver *rs, struct str name, struct value *ret);

static bool whole_placeholder(const struct part *parts, size_t count)
{
	return count == 1 && parts[0].place;
}

static bool bare_value(const struct placeholder *p)
{
	return p->kind == PLACEHOLDER_VALUE && p->type.kind == TYPE_NONE;
}

/* A default is found late: what it says is resolved where it is used. The exception is one that is
 * exactly {name}: it is bound where it is declared if `name` is bound there already, so that
 * {"model": "{model}"} means the parent's model. */
struct default_hit {
	const struct preset *preset;
	bool generated; /* bound to the number of an enclosing copy */
	int64_t number;
	size_t underscores;
};

static bool find_default(
	const struct scope *s, struct str name, const struct scope *use, struct default_hit *ret)
{
	const struct presets *args = NULL;

	for (const struct scope *at = s; at; at = at->up) {
		if (at->args && !args)
			args = at->args;
		const struct preset *p = presets_find(at->defaults, name);

		if (!p)
			continue;
		*ret = (struct default_hit){ .preset = p };
		if (!whole_placeholder(p->parts, p->part_count) || !bare_value(p->parts[0].place))
			return true;
		struct str inner = p->parts[0].place->name, bare;
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
		struct default_hit inherited;
		if (above && find_default(above, inner, use, &inherited))
			*ret = inherited;
		return true;
	}
	/* The args in force are the innermost ones; their shorthand defaults are the last layer. */
	const struct preset *p = presets_find(args, name);
	*ret = (struct default_hit){ .preset = p };
	return p != NULL;
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
	if (whole_placeholder(p->parts, p->part_count)) {
		const struct placeholder *inner = p->parts[0].place;

		/* Exactly one name: its value comes through whole, so arrays stay arrays. */
		if (bare_value(inner)) {
			ok = look_up(rs, inner->name, ret);
			if (!ok || ret->kind != VALUE_ABSENT) {
				rs->hops--;
				return ok;
			}
		}
		*ret = (struct value){ .kind = VALUE_TEXT };
		ok = resolve_parts(rs, p->parts, 1, &ret->text, NULL);
		if (!ok && !rs->fatal)
			buf_printf(
				&rs->message, ", which the default of '%.*s' needs", STR(p->name));
	} else {
		*ret = (struct value){ .kind = VALUE_TEXT };
		ok = resolve_parts(rs, p->parts, p->part_count, &ret->text, NULL);
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

/* Everything but inline defaults. False only on errors; nothing given is VALUE_ABSENT. */
static bool look_up(struct resolver *rs, struct str name, struct value *ret)
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
	if (!find_default(rs->scope, name, rs->scope, &hit))
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

/* What to write behind a name in order to give it a value of the kind that is wanted; NULL: any. */
static const char array_form[] = ":='[\"x\",\"y\"]'";
static const char index_form[] = "=NUMBER";

static bool missing(struct resolver *rs, struct str name, const char *form)
{
	struct near near = near_to(name);
	size_t underscores;
	struct str bare;

	fail(rs, "no value for '%.*s'", STR(name));
	scope_names(rs->scope, offer_name, &near);
	struct str best = near_best(&near);
	if (best.len)
		buf_printf(&rs->hint, "did you mean '%.*s'?", STR(best));
	else if (repeat_name(name, &bare, &underscores))
		buf_adds(&rs->hint, "it is known inside a node with `repeat`");
	else if (form)
		buf_printf(&rs->hint, "give one with %.*s%s", STR(name), form);
	else
		buf_printf(&rs->hint, "give one with %.*s=VALUE, or a default: {%.*s=…}", STR(name),
			STR(name));
	return false;
}

static bool not_an_array(struct resolver *rs, struct str name, const struct value *v)
{
	fail(rs, "'%.*s' is %s, not an array", STR(name),
		v->kind == VALUE_JSON ? json_kind(v->json) : "a text");
	buf_printf(&rs->hint, "give one with %.*s%s", STR(name), array_form);
	return false;
}

/* A name that is arithmetic when nothing of that name is given: {index-1}. */
static bool can_be_arithmetic(struct str name)
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

	if (!look_up(rs, name, &v) || v.kind == VALUE_ABSENT)
		return false;
	value_write(&v, &text);
	return str_to_int(utf8_trim(buf_str(&text)), ret);
}

/* Why `variable` had no number for it. */
static bool bad_variable(struct resolver *rs, struct str name)
{
	AUTO_VALUE v = { 0 };
	AUTO_BUF text = BUF_INIT;

	if (!look_up(rs, name, &v))
		return false;
	if (v.kind == VALUE_ABSENT)
		return missing(rs, name, index_form);
	value_write(&v, &text);
	return fail(rs, "'%.*s' is '%s', not a whole number", STR(name), buf_cstr(&text));
}

static bool resolve_expr(struct resolver *rs, struct str expr, size_t underscores, struct buf *ret)
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
	return fail(rs, "'%.*s' is no arithmetic", STR(expr));
}

static bool item_index(struct resolver *rs, const struct placeholder *p, uint64_t *ret)
{
	AUTO_VALUE v = { 0 };
	AUTO_BUF text = BUF_INIT;

	if (str_to_uint(p->index, ret))
		return true;
	if (!look_up(rs, p->index, &v))
		return false;
	if (v.kind == VALUE_ABSENT)
		return missing(rs, p->index, index_form);
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

	if (!look_up(rs, p->name, &v))
		return false;
	if (v.kind == VALUE_ABSENT)
		return missing(rs, p->name, array_form);
	if (v.kind != VALUE_JSON || !json_is_array(v.json))
		return not_an_array(rs, p->name, &v);
	if (!item_index(rs, p, &i))
		return false;
	if (i >= json_array_size(v.json)) {
		fail(rs, "'%.*s' is outside the array, which has %zu item%s", STR(p->content),
			json_array_size(v.json), json_array_size(v.json) == 1 ? "" : "s");
		return false;
	}
	value_text(ret, json_array_get(v.json, i));
	return true;
}

static bool resolve_placeholder(struct resolver *rs, const struct placeholder *p, struct buf *ret)
{
	AUTO_VALUE v = { 0 };

	if (p->kind == PLACEHOLDER_EXPR)
		return resolve_expr(rs, p->expr, p->underscores, ret);
	if (p->kind == PLACEHOLDER_ITEM)
		return resolve_item(rs, p, ret);
	if (!look_up(rs, p->name, &v))
		return false;
	switch (p->kind) {
	case PLACEHOLDER_VALUE:
		if (v.kind != VALUE_ABSENT)
			value_write(&v, ret);
		else if (p->type.kind == TYPE_NONE && can_be_arithmetic(p->content))
			return resolve_expr(rs, p->content, 0, ret);
		else
			return missing(rs, p->name, NULL);
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
	case PLACEHOLDER_ITEM:
	case PLACEHOLDER_EXPR:
		break;
	}
	UNREACHABLE("a placeholder of no kind");
}

/* *bad is the part that could not be resolved. */
static bool resolve_parts(
	struct resolver *rs, const struct part *parts, size_t count, struct buf *ret, size_t *bad)
{
	for (size_t i = 0; i < count; i++) {
		if (!parts[i].place) {
			buf_add(ret, parts[i].text);
			continue;
		}
		if (bad)
			*bad = i;
		if (!resolve_placeholder(rs, parts[i].place, ret))
			return false;
		if (ret->len > RESOLVED_MAX && rs->hops)
			return fail_for_good(rs, "the text grows beyond 1 MiB through its defaults",
				"defaults that use each other several times multiply");
	}
	return true;
}

static void complain(const struct resolver *rs, struct where w, struct report *r)
{
	report_error(r, w, "%s", buf_cstr(&rs->message));
	if (rs->hint.len)
		report_hint(r, "%s", buf_cstr(&rs->hint));
}

static struct where part_where(const struct text *t, const struct part *p)
{
	return braces_where(t, (size_t)(p->text.p - t->raw.p), p->text.len);
}

/* ${HOME} is the habit of a shell. */
static void hint_for_shell(struct resolver *rs, const struct braces *b, size_t bad)
{
	const struct part *p = &b->parts[bad];

	if (!bad || !str_ends(p[-1].text, S("$")) || !bare_value(p->place))
		return;
	buf_reset(&rs->hint);
	buf_printf(&rs->hint, "braces always mean a placeholder: in shell text write $%.*s",
		STR(p->place->name));
}

static bool resolve(const struct text *t, const struct scope *s, struct buf *ret, struct report *r)
{
	const struct braces *b = braces_of(t);
	AUTO_RESOLVER rs = { .scope = s };
	size_t bad = 0;

	if (resolve_parts(&rs, b->parts, b->part_count, ret, &bad))
		return true;
	hint_for_shell(&rs, b, bad);
	complain(&rs, part_where(t, &b->parts[bad]), r);
	return false;
}

static bool decide(const struct text *t, const struct scope *s, bool *ret, struct report *r)
{
	const struct braces *b = braces_of(t);
	AUTO_RESOLVER rs = { .scope = s };
	AUTO_VALUE v = { 0 };
	AUTO_BUF text = BUF_INIT;
	size_t bad = 0;
	bool ok;

	if (b->flag.p) {
		ok = look_up(&rs, b->flag, &v);
		if (ok && v.kind == VALUE_ABSENT && !b->negated && can_be_arithmetic(b->flag)) {
			/* {index-1}: a name first, arithmetic when there is no such name. */
			ok = resolve_expr(&rs, b->flag, 0, &text);
			*ret = ok && text_truthy(buf_str(&text));
		} else {
			*ret = value_true(&v) != b->negated;
		}
	} else {
		ok = resolve_parts(&rs, b->parts, b->part_count, &text, &bad);
		*ret = text_truthy(buf_str(&text));
	}
	if (!ok)
		complain(&rs, b->part_count ? part_where(t, &b->parts[bad]) : place_where(t->place),
			r);
	return ok;
}

static void walk(const struct text *t, void (*see)(void *, const struct placeholder *), void *data)
{
	const struct braces *b = braces_of(t);
	struct placeholder flag = { .kind = PLACEHOLDER_CONDITION, .name = b->flag };

	if (b->flag.p)
		see(data, &flag);
	for (size_t i = 0; i < b->part_count; i++)
		if (b->parts[i].place)
			see(data, b->parts[i].place);
}

static const struct text_ops ops = { resolve, decide, walk };

/* -- compiling -----------------------------------------------------------------------------------
 */

struct compiling {
	struct braces *b;
	struct report *r;
};

static bool bad_group(void *data, struct str group, const struct placeholder_mistake *wrong)
{
	struct compiling *c = data;
	size_t from = (size_t)(group.p - c->b->text.raw.p);
	struct str subject = report_quote(c->r, wrong->subject);

	report_error(c->r, braces_where(&c->b->text, from, group.len), "'%.*s' %s%.*s",
		STR(report_quote(c->r, group)), wrong->what, STR(subject));
	if (wrong->example.len)
		report_hint(c->r, "%s{%.*s}", wrong->hint, STR(wrong->example));
	else
		report_hint(c->r, "%s", wrong->hint);
	return false;
}

static struct braces *new_braces(struct arena *a, const struct place *place, struct str raw)
{
	struct braces *b = arena_new(a, struct braces);

	b->text = (struct text){ .ops = &ops, .raw = raw, .place = place };
	return b;
}

/* `text` is the raw text or a part of it. */
static const struct text *compile(
	struct arena *a, struct braces *b, struct str text, enum dialect d, struct report *r)
{
	struct compiling c = { b, r };
	struct part *parts;

	b->part_count = placeholder_cut(a, text, d, &parts, bad_group, &c);
	b->parts = parts;
	return b->part_count == SIZE_MAX ? NULL : &b->text;
}

const struct text *braces_text(struct arena *a, const struct place *place, struct str raw,
	enum dialect d, struct report *r)
{
	return compile(a, new_braces(a, place, raw), raw, d, r);
}

const struct text *braces_word(struct arena *a, const struct place *place, struct str line,
	size_t number, struct str word, enum dialect d, struct report *r)
{
	struct braces *b = new_braces(a, place, word);

	b->line = line;
	b->number = number;
	return compile(a, b, word, d, r);
}

static void refuse_guard(const struct braces *b, struct str trimmed, struct report *r)
{
	const struct part *last = &b->parts[b->part_count - 1];
	bool comparison = false;

	for (size_t i = 0; i < b->part_count; i++)
		for (size_t k = 0; !b->parts[i].place && k < b->parts[i].text.len; k++)
			comparison |= b->parts[i].text.p[k] && strchr("=<>", b->parts[i].text.p[k]);
	report_error(r, place_where(b->text.place),
		"`when` is '%.*s', neither a flag nor a placeholder",
		STR(report_quote(r, trimmed)));
	if (comparison)
		report_hint(r, "there are no comparisons: test one flag");
	else if (b->negated && b->part_count == 2 && last->place && bare_value(last->place))
		report_hint(r, "write !%.*s", STR(last->place->name));
	else
		report_hint(r, "write a name, !name, or one placeholder such as {name?yes:}");
}

const struct text *braces_guard(struct arena *a, const struct place *place, struct str raw,
	enum dialect d, struct report *r)
{
	struct braces *b = new_braces(a, place, raw);
	struct str trimmed = utf8_trim(raw);
	struct str flag = trimmed;

	if (flag.len && flag.p[0] == '!') {
		b->negated = true;
		flag = utf8_trim(str_from(flag, 1));
	}
	if (name_valid(flag)) {
		b->flag = flag;
		return &b->text;
	}
	if (!compile(a, b, trimmed, d, r))
		return NULL;
	if (whole_placeholder(b->parts, b->part_count)) {
		const struct placeholder *p = b->parts[0].place;

		/* Judged by the value, not by its text, and absent is false. */
		if (p->kind == PLACEHOLDER_VALUE)
			b->flag = p->name;
		return &b->text;
	}
	refuse_guard(b, trimmed, r);
	return NULL;
}

/* -- asking --------------------------------------------------------------------------------------
 */

struct mention {
	const struct scope *scope;
	unsigned hops;
	size_t steps;
	bool found;
};

static void see_mention(void *data, const struct placeholder *p)
{
	struct mention *m = data;
	struct default_hit hit;
	struct str bare;
	size_t underscores;

	if (m->found)
		return;
	/* Past the limit the safe answer is yes. */
	if (++m->steps > STEPS_MAX || p->kind == PLACEHOLDER_EXPR ||
		(p->kind == PLACEHOLDER_VALUE && expr_fits(p->content)) ||
		repeat_name(p->name, &bare, &underscores) ||
		(p->index.p && repeat_name(p->index, &bare, &underscores))) {
		m->found = true;
		return;
	}
	if (!m->scope || m->hops > HOPS_MAX || scope_value(m->scope, p->name) ||
		!find_default(m->scope, p->name, m->scope, &hit) || !hit.preset)
		return;
	m->hops++;
	for (size_t i = 0; i < hit.preset->part_count; i++)
		if (hit.preset->parts[i].place)
			see_mention(m, hit.preset->parts[i].place);
	m->hops--;
}

bool braces_mentions_copy(const struct text *t, const struct scope *s)
{
	struct mention m = { .scope = s };

	t->ops->walk(t, see_mention, &m);
	return m.found;
}

const json_t *braces_array(const struct scope *s, struct str name, struct where w, struct report *r)
{
	AUTO_RESOLVER rs = { .scope = s };
	AUTO_VALUE v = { 0 };

	if (look_up(&rs, name, &v)) {
		if (v.kind == VALUE_JSON && json_is_array(v.json))
			return v.json;
		if (v.kind == VALUE_ABSENT)
			missing(&rs, name, array_form);
		else
			not_an_array(&rs, name, &v);
	}
	complain(&rs, w, r);
	return NULL;
}

bool braces_named(
	const struct scope *s, struct str name, struct where w, struct buf *ret, struct report *r)
{
	AUTO_RESOLVER rs = { .scope = s };
	AUTO_VALUE v = { 0 };

	if (look_up(&rs, name, &v)) {
		if (v.kind != VALUE_ABSENT) {
			value_write(&v, ret);
			return true;
		}
		missing(&rs, name, NULL);
	}
	complain(&rs, w, r);
	return false;
}
