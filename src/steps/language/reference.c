#include "steps/language/reference.h"

#include "base/near.h"
#include "base/utf8.h"
#include "data/big.h"
#include "steps/language/letters.h"
#include "steps/language/value.h"

/* -- finding them in a text ----------------------------------------------------------------------
 */

/* The length of the part that begins at `at`; 0: none does. */
static size_t part_length(struct str text, size_t at)
{
	size_t end = at;
	uint32_t c;

	while (end < text.len) {
		size_t n = utf8_decode(text, end, &c);

		if (c != '_' && !letter_or_digit(c))
			break;
		end += n;
	}
	return end - at;
}

/* Parts with dots between them. */
static size_t path_length(struct str text, size_t at)
{
	size_t end = at, n = part_length(text, at);

	while (n) {
		end += n;
		if (end == text.len || text.p[end] != '.')
			break;
		n = part_length(text, end + 1);
		end += n != 0; /* a last dot is not part of it */
	}
	return end - at;
}

static bool matches(struct str text, size_t begin, bool spaced, struct reference *ret)
{
	size_t from = begin + 2;

	if (!str_starts(str_from(text, begin), S("{{")))
		return false;
	if (spaced)
		from = step_value_skip_blank(text, from);
	size_t len = path_length(text, from), end = from + len;
	if (!len)
		return false;
	if (spaced)
		end = step_value_skip_blank(text, end);
	if (!str_starts(str_from(text, end), S("}}")))
		return false;
	*ret = (struct reference){ begin, end + 2 - begin, str_sub(text, from, len) };
	return !spaced || ret->length > len + 4;
}

static bool next(struct str text, size_t *at, bool spaced, struct reference *ret)
{
	for (size_t i = str_find(text, '{', *at); i < text.len; i = str_find(text, '{', i + 1)) {
		if (!matches(text, i, spaced, ret))
			continue;
		*at = i + ret->length;
		return true;
	}
	*at = text.len;
	return false;
}

bool reference_next(struct str text, size_t *at, struct reference *ret)
{
	return next(text, at, false, ret);
}

bool reference_at(struct str text, size_t at, struct reference *ret)
{
	return matches(text, at, false, ret);
}

bool reference_spaced(struct str text, size_t *at, struct reference *ret)
{
	return next(text, at, true, ret);
}

bool reference_only(struct str text, struct reference *ret)
{
	struct str whole = step_value_trim(text);

	if (!whole.len || !matches(whole, 0, false, ret) || ret->length != whole.len)
		return false;
	ret->offset = (size_t)(whole.p - text.p);
	return true;
}

struct str reference_variable(const struct reference *ref)
{
	return str_sub(ref->path, 0, str_find(ref->path, '.', 0));
}

struct where reference_where(const struct place *place, size_t offset, size_t len)
{
	return place ? place_where_in(place, offset, len) : (struct where){ 0 };
}

/* -- what they stand for -------------------------------------------------------------------------
 */

enum {
	NAMES_SHOWN = 8,
	NAMES_SEEN = 1000, /* of a huge mapping the first are enough */
};

struct candidate {
	struct str name;
	size_t distance;
};

static size_t distance(struct str wanted, struct str name)
{
	struct near n = near_to(wanted);

	near_offer(&n, name);
	return n.distance;
}

/* Keeps the nearest names, equally near ones in their order. */
static void keep(struct candidate *names, size_t *count, struct candidate c)
{
	size_t i = *count;

	if (i < NAMES_SHOWN)
		++*count;
	else if (names[--i].distance <= c.distance)
		return;
	for (; i > 0 && names[i - 1].distance > c.distance; i--)
		names[i] = names[i - 1];
	names[i] = c;
}

/* "did you mean 'count'? there are count, state, …", nearest first. */
static void hint_names(struct report *r, const json_t *mapping, struct str wanted)
{
	struct candidate names[NAMES_SHOWN] = { 0 };
	struct near near = near_to(wanted);
	AUTO_BUF hint = BUF_INIT;
	size_t count = 0, seen = 0, all = mapping ? json_object_size(mapping) : 0;

	if (!all) {
		report_hint(r, "nothing is available here");
		return;
	}
	for (void *at = json_object_iter((json_t *)mapping); at && seen < NAMES_SEEN;
		at = json_object_iter_next((json_t *)mapping, at), seen++) {
		struct str name = { json_object_iter_key(at), json_object_iter_key_len(at) };

		keep(names, &count, (struct candidate){ name, distance(wanted, name) });
	}
	near_offer(&near, names[0].name);
	struct str best = near_best(&near);
	if (best.len)
		buf_printf(&hint, "did you mean '%.*s'? ", STR(best));
	buf_adds(&hint, "available: ");
	for (size_t i = 0; i < count; i++)
		buf_printf(&hint, "%s%.*s", i ? ", " : "", STR(report_quote(r, names[i].name)));
	if (all > count)
		buf_printf(&hint, " and %zu more", all - count);
	report_hint(r, "%s", buf_cstr(&hint));
}

struct walk {
	const struct reference *ref;
	const struct place *place;
	struct report *r;
};

static struct where where_of(const struct walk *w)
{
	return reference_where(w->place, w->ref->offset, w->ref->length);
}

static void complain_missing(
	const struct walk *w, const json_t *mapping, struct str before, struct str key)
{
	struct str path = report_quote(w->r, w->ref->path), name = report_quote(w->r, key);

	if (before.len)
		report_error(w->r, where_of(w), "{{%.*s}} is undefined: '%.*s' has no key '%.*s'",
			STR(path), STR(report_quote(w->r, before)), STR(name));
	else if (key.len < w->ref->path.len)
		report_error(w->r, where_of(w), "{{%.*s}} is undefined: no variable '%.*s'",
			STR(path), STR(name));
	else
		report_error(w->r, where_of(w), "{{%.*s}} is undefined", STR(path));
	hint_names(w->r, mapping, key);
}

static void complain_no_mapping(const struct walk *w, const json_t *value, struct str before)
{
	struct str path = report_quote(w->r, w->ref->path);

	report_error(w->r, where_of(w), "{{%.*s}} is undefined: '%.*s' is %s, not a mapping",
		STR(path), STR(report_quote(w->r, before)), step_value_kind(value));
	if (json_is_array(value))
		report_hint(w->r, "elements of a list cannot be addressed: use `foreach`, or jq "
				  "in a bash step");
	else if (json_is_string(value) && !json_is_big(value))
		report_hint(w->r, "the text is not a JSON object, so it has no keys");
	else
		report_hint(w->r, "write {{%.*s}}", STR(report_quote(w->r, before)));
}

const json_t *reference_find(const struct reference *ref, const json_t *vars, json_t **made,
	const struct place *place, struct report *r)
{
	struct walk w = { ref, place, r };
	const json_t *value = vars;
	struct str path = ref->path;

	for (size_t from = 0; from <= path.len;) {
		size_t dot = str_find(path, '.', from);
		struct str key = str_sub(path, from, dot - from);
		struct str before = str_sub(path, 0, from ? from - 1 : 0);

		if (from && json_is_string(value) && !json_is_big(value)) {
			json_t *inside = step_value_in_text(json_str(value));

			if (inside) {
				json_decref(*made);
				value = *made = inside;
			}
		}
		if (from && !json_is_object(value)) {
			complain_no_mapping(&w, value, before);
			return NULL;
		}
		const json_t *found = value ? json_object_getn(value, key.p, key.len) : NULL;
		if (!found) {
			complain_missing(&w, value, before, key);
			return NULL;
		}
		value = found;
		from = dot + 1;
	}
	return value;
}
