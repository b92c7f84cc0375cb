#include "graph/settings.h"

#include <inttypes.h>
#include <math.h>

#include "base/number.h"
#include "base/utf8.h"
#include "template/braces.h"

/* Far beyond any life time, and safe to add to a clock. The limit of attempts
 * is the same. */
static const double setting_max = 9e15;

static const char *expected(enum setting_kind kind)
{
	return kind == SETTING_MS ? "a number of milliseconds, 0 or more, or a string such as 5s"
				  : "a whole number of attempts, 1 or more";
}

static bool fits(double n, enum setting_kind kind, uint64_t *ret)
{
	if (!isfinite(n) || n < 0)
		return false;
	if (kind == SETTING_ATTEMPTS && (n < 1 || n != floor(n)))
		return false;
	*ret = (uint64_t)ceil(MIN(n, setting_max));
	return true;
}

static bool parse(struct str text, enum setting_kind kind, uint64_t *ret)
{
	double n;

	text = utf8_trim(text);
	if (!text.len) {
		*ret = kind == SETTING_MS ? 0 : 1;
		return true;
	}
	if (kind == SETTING_MS && number_duration(text, &n))
		return fits(n, kind, ret);
	return number_plain(text, &n) && fits(n, kind, ret);
}

static bool refuse(struct report *r, const struct place *place, const char *field,
	enum setting_kind kind, struct str found)
{
	report_error(r, place_where(place), "`%s` is '%.*s', expected %s", field,
		STR(report_quote(r, found)), expected(kind));
	return report_hint(r,
		kind == SETTING_MS ? "for five seconds write \"%s\": 5000"
				   : "for three attempts in all write \"%s\": 3",
		field);
}

bool setting_read(struct arena *a, const struct place *place, const char *field,
	const json_t *value, enum setting_kind kind, enum dialect d, struct setting *ret,
	struct report *r)
{
	struct setting s = { .place = place };
	AUTO_BUF found = BUF_INIT;

	if (json_is_number(value)) {
		if (!fits(json_number_value(value), kind, &s.value)) {
			json_write(&found, value, 0);
			return refuse(r, place, field, kind, buf_str(&found));
		}
	} else if (str_find(json_str(value), '{', 0) == json_string_length(value)) {
		if (!parse(json_str(value), kind, &s.value))
			return refuse(r, place, field, kind, json_str(value));
	} else {
		s.text = braces_text(a, place, json_str(value), d, r);
		if (!s.text)
			return false;
	}
	*ret = s;
	return true;
}

bool setting_resolve(const struct setting *setting, const char *field, enum setting_kind kind,
	const struct scope *s, uint64_t *ret, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	if (!setting->text) {
		*ret = setting->value;
		return true;
	}
	if (!text_resolve(setting->text, s, &text, r))
		return false;
	return parse(buf_str(&text), kind, ret) ||
	       refuse(r, setting->place, field, kind, buf_str(&text));
}

/* {name.length} or name.length */
static bool length_of(struct str text, struct str *name)
{
	if (text.len > 2 && text.p[0] == '{' && text.p[text.len - 1] == '}')
		text = str_sub(text, 1, text.len - 2);
	if (!str_ends(text, S(".length")))
		return false;
	*name = str_sub(text, 0, text.len - S(".length").len);
	return name_valid(*name);
}

/* Copies are counted from 0 with 64 bits and a sign. */
static bool count_of(const json_t *value, uint64_t *ret)
{
	if (json_is_string(value))
		return str_to_uint(utf8_trim(json_str(value)), ret) && *ret > 0 &&
		       *ret <= INT64_MAX;
	if (json_is_integer(value)) {
		*ret = (uint64_t)json_integer_value(value);
		return json_integer_value(value) > 0;
	}
	double n = json_real_value(value);
	*ret = n >= 1 && n < 0x1p63 && n == floor(n) ? (uint64_t)n : 0;
	return *ret > 0;
}

bool count_read(struct arena *a, const struct place *place, const json_t *value, struct count *ret,
	struct report *r)
{
	struct count c = { .place = place };
	AUTO_BUF found = BUF_INIT;

	struct str name;

	if (json_is_string(value) && length_of(utf8_trim(json_str(value)), &name))
		c.array = arena_str(a, name);
	if (c.array.len || count_of(value, &c.number)) {
		*ret = c;
		return true;
	}
	template_text(&found, value);
	report_error(r, place_where(place),
		"`repeat` is '%.*s', expected a whole number from 1, or {items.length}",
		STR(report_quote(r, buf_str(&found))));
	if (json_is_string(value) && str_contains(json_str(value), S("{")))
		return report_hint(
			r, "a count comes from an array: pass one and write {items.length}");
	if (found.len > 18 && strspn(buf_cstr(&found), "0123456789") == found.len)
		return report_hint(r, "there can be %" PRId64 " copies at most", INT64_MAX);
	return report_hint(r, "for eight copies write \"repeat\": 8");
}

bool count_resolve(
	const struct count *count, const struct scope *s, uint64_t *ret, struct report *r)
{
	if (count->number) {
		*ret = count->number;
		return true;
	}
	const json_t *array = braces_array(s, count->array);
	if (!array)
		return braces_no_array(s, count->array, place_where(count->place), r);
	if (!json_array_size(array))
		return report_error(r, place_where(count->place),
			"`repeat` wants the length of '%.*s', which is empty", STR(count->array));
	*ret = json_array_size(array);
	return true;
}
