#include "template/braces.h"

#include <string.h>

#include "base/utf8.h"
#include "template/expr.h"
#include "template/resolve.h"
#include "template/words.h"

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

static struct where part_where(const struct text *t, const struct part *p)
{
	return braces_where(t, (size_t)(p->text.p - t->raw.p), p->text.len);
}

/* ${HOME} is the habit of a shell. */
static void hint_for_shell(struct resolver *rs, const struct braces *b, size_t bad)
{
	const struct part *p = &b->parts[bad];

	if (!bad || !str_ends(p[-1].text, S("$")) || !bare_value(p->placeholder))
		return;
	buf_reset(&rs->hint);
	buf_printf(&rs->hint, "braces always mean a placeholder: in shell text write $%.*s",
		STR(p->placeholder->name));
}

static bool resolve(const struct text *t, const struct scope *s, struct buf *ret, struct report *r)
{
	const struct braces *b = braces_of(t);
	AUTO_RESOLVER rs = { .scope = s };
	size_t bad = 0;

	if (resolver_parts(&rs, b->parts, b->part_count, ret, &bad))
		return true;
	hint_for_shell(&rs, b, bad);
	resolver_complain(&rs, part_where(t, &b->parts[bad]), r);
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
		ok = resolver_look_up(&rs, b->flag, &v);
		if (ok && v.kind == VALUE_ABSENT && !b->negated && name_is_arithmetic(b->flag)) {
			/* {index-1}: a name first, arithmetic when there is no such name. */
			ok = resolver_expr(&rs, b->flag, 0, &text);
			*ret = ok && template_text_truthy(buf_str(&text));
		} else {
			*ret = value_true(&v) != b->negated;
		}
	} else {
		ok = resolver_parts(&rs, b->parts, b->part_count, &text, &bad);
		*ret = template_text_truthy(buf_str(&text));
	}
	if (!ok)
		resolver_complain(&rs,
			b->part_count ? part_where(t, &b->parts[bad]) : place_where(t->place), r);
	return ok;
}

static void walk(const struct text *t, void (*see)(void *, const struct placeholder *), void *data)
{
	const struct braces *b = braces_of(t);
	struct placeholder flag = { .kind = PLACEHOLDER_CONDITION, .name = b->flag };

	if (b->flag.p)
		see(data, &flag);
	for (size_t i = 0; i < b->part_count; i++)
		if (b->parts[i].placeholder)
			see(data, b->parts[i].placeholder);
}

static const struct text_ops ops = { .resolve = resolve, .decide = decide, .walk = walk };

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

/* It stands for several words, so it cannot be a part of one. */
static bool refuse_spread(const struct braces *b, const struct part *p, struct report *r)
{
	report_error(r, part_where(&b->text, p), "'%.*s' %s", STR(report_quote(r, p->text)),
		b->line.p ? "is a part of a longer word" : "stands outside a command line");
	return report_hint(r, "it becomes one word for each item and has to be a whole word");
}

/* `text` is the raw text or a part of it. */
static const struct text *compile(
	struct arena *a, struct braces *b, struct str text, enum dialect d, struct report *r)
{
	struct compiling c = { b, r };
	struct part *parts;

	b->part_count = placeholder_cut(a, text, d, &parts, bad_group, &c);
	b->parts = parts;
	if (b->part_count == SIZE_MAX)
		return NULL;
	bool word = b->line.p && b->part_count == 1, ok = true;
	for (size_t i = 0; i < b->part_count && !word; i++)
		if (parts[i].placeholder && parts[i].placeholder->kind == PLACEHOLDER_SPREAD)
			ok = refuse_spread(b, &parts[i], r);
	return ok ? &b->text : NULL;
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
		for (size_t k = 0; !b->parts[i].placeholder && k < b->parts[i].text.len; k++)
			comparison |= b->parts[i].text.p[k] && strchr("=<>", b->parts[i].text.p[k]);
	report_error(r, place_where(b->text.place),
		"`when` is '%.*s', neither a flag nor a placeholder",
		STR(report_quote(r, trimmed)));
	if (comparison)
		report_hint(r, "there are no comparisons: test one flag");
	else if (b->negated && b->part_count == 2 && last->placeholder &&
		 bare_value(last->placeholder))
		report_hint(r, "write !%.*s", STR(last->placeholder->name));
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
	if (one_placeholder(b->parts, b->part_count)) {
		const struct placeholder *p = b->parts[0].placeholder;

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
		!default_find(m->scope, p->name, m->scope, &hit) || !hit.preset)
		return;
	m->hops++;
	for (size_t i = 0; i < hit.preset->part_count; i++)
		if (hit.preset->parts[i].placeholder)
			see_mention(m, hit.preset->parts[i].placeholder);
	m->hops--;
}

bool braces_mentions_copy(const struct text *t, const struct scope *s)
{
	struct mention m = { .scope = s };

	t->ops->walk(t, see_mention, &m);
	return m.found;
}

const struct placeholder *braces_spread(const struct text *t)
{
	const struct braces *b = t->ops == &ops ? braces_of(t) : NULL;
	const struct placeholder *p =
		b && one_placeholder(b->parts, b->part_count) ? b->parts[0].placeholder : NULL;

	return p && p->kind == PLACEHOLDER_SPREAD ? p : NULL;
}

const json_t *braces_array(const struct scope *s, struct str name)
{
	AUTO_RESOLVER rs = { .scope = s };
	AUTO_VALUE v = { 0 };
	bool found = resolver_look_up(&rs, name, &v);

	return found && v.kind == VALUE_JSON && json_is_array(v.json) ? v.json : NULL;
}

bool braces_no_array(const struct scope *s, struct str name, struct where w, struct report *r)
{
	AUTO_RESOLVER rs = { .scope = s };
	AUTO_VALUE v = { 0 };

	if (resolver_look_up(&rs, name, &v)) {
		if (v.kind == VALUE_ABSENT)
			resolver_missing(&rs, name, array_form);
		else
			resolver_no_array(&rs, name, &v);
	}
	resolver_complain(&rs, w, r);
	return false;
}

bool braces_named(
	const struct scope *s, struct str name, struct where w, struct buf *ret, struct report *r)
{
	AUTO_RESOLVER rs = { .scope = s };
	AUTO_VALUE v = { 0 };

	if (resolver_look_up(&rs, name, &v)) {
		if (v.kind != VALUE_ABSENT) {
			value_write(&v, ret);
			return true;
		}
		resolver_missing(&rs, name, NULL);
	}
	resolver_complain(&rs, w, r);
	return false;
}
