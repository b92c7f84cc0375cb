#include "steps/language/text.h"

#include "data/big.h"
#include "steps/language/condition.h"
#include "steps/language/reference.h"
#include "steps/language/value.h"

/* A text that is JSON is looked into at every dot; once is enough for all references of one text.
 * *read has those that were. */
static const json_t *find(const struct reference *ref, const json_t *vars, json_t **read,
	json_t **made, const struct place *place, struct report *r)
{
	struct str name = reference_variable(ref);
	const json_t *value =
		name.len < ref->path.len ? json_object_getn(vars, name.p, name.len) : NULL;

	if (!json_is_string(value) || json_is_big(value))
		return reference_find(ref, vars, made, place, r);
	if (!json_object_getn(*read, name.p, name.len)) {
		json_t *inside = step_value_in_text(json_str(value));

		if (!inside)
			return reference_find(ref, vars, made, place, r);
		*read = *read ? *read : json_object();
		json_object_setn_new_nocheck(*read, name.p, name.len, inside);
	}
	return reference_find(ref, *read, made, place, r);
}

bool step_text_substitute(struct str raw, const struct place *place, const json_t *vars,
	struct buf *ret, struct report *r)
{
	size_t at = 0, copied = 0, before = ret->len;
	struct reference ref;
	AUTO_JSON *read = NULL;

	while (reference_next(raw, &at, &ref)) {
		AUTO_JSON *made = NULL;
		const json_t *value = find(&ref, vars, &read, &made, place, r);

		if (!value)
			return false;
		buf_add(ret, str_sub(raw, copied, ref.offset - copied));
		step_value_render(ret, value);
		copied = at;
		if (ret->len - before <= STEP_TEXT_MAX)
			continue;
		report_error(r, reference_where(place, ref.offset, ref.length),
			"with {{%.*s}} the text grows beyond %d MiB",
			STR(report_quote(r, ref.path)), STEP_TEXT_MAX >> 20);
		return report_hint(r, "pass large values through a file");
	}
	buf_add(ret, str_from(raw, copied));
	return true;
}

static bool resolve(const struct text *t, const struct scope *s, struct buf *ret, struct report *r)
{
	return step_text_substitute(t->raw, t->place, scope_vars(s), ret, r);
}

static bool decide(const struct text *t, const struct scope *s, bool *ret, struct report *r)
{
	enum condition is = condition_decide(t->raw, t->place, scope_vars(s), r);

	if (is != CONDITION_TRUE && is != CONDITION_FALSE)
		return false;
	*ret = is == CONDITION_TRUE;
	return true;
}

static json_t *value(const struct text *t, const struct scope *s, struct report *r)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_JSON *made = NULL;
	struct reference ref;

	if (reference_only(t->raw, &ref)) {
		const json_t *found = reference_find(&ref, scope_vars(s), &made, t->place, r);

		return json_incref((json_t *)found);
	}
	if (!resolve(t, s, &text, r))
		return NULL;
	return json_from_str(buf_str(&text));
}

/* References are not placeholders: reference_next() finds them. */
static void walk(const struct text *t, void (*see)(void *, const struct placeholder *), void *data)
{
	(void)t;
	(void)see;
	(void)data;
}

static const struct text_ops ops = {
	.resolve = resolve, .decide = decide, .value = value, .walk = walk
};

const struct text *step_text(struct arena *a, struct str raw, const struct place *place)
{
	struct text *t = arena_new(a, struct text);

	*t = (struct text){ .ops = &ops, .raw = raw, .place = place };
	return t;
}

json_t *step_text_list(const struct text *t, const struct scope *s, struct report *r)
{
	struct where w = { 0 };
	struct reference ref;

	if (!reference_only(t->raw, &ref)) {
		w = reference_where(t->place, 0, t->raw.len);
		report_error(r, w, "'%.*s' is not exactly one reference to a list",
			STR(report_quote(r, t->raw)));
		report_hint(r, "write {{name}} and nothing else");
		return NULL;
	}
	AUTO_JSON *found = value(t, s, r);
	if (!found || json_is_array(found))
		return TAKE(found);
	AUTO_JSON *inside = json_is_string(found) && !json_is_big(found)
				    ? step_value_in_text(json_str(found))
				    : NULL;
	if (json_is_array(inside))
		return TAKE(inside);
	w = reference_where(t->place, ref.offset, ref.length);
	report_error(r, w, "{{%.*s}} is %s, not a list", STR(report_quote(r, ref.path)),
		step_value_kind(inside ? inside : found));
	report_hint(r, "a list, or text that is a JSON array, is wanted here");
	return NULL;
}
