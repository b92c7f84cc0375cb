#include "hosts/telegram/rules/inbound.h"

#include "base/utf8.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* A star stands for any text. Goes back to the last star only, so the time is bounded by the
 * product of the lengths. */
static bool fits(struct str pattern, struct str text)
{
	size_t p = 0, t = 0, star = pattern.len, from = 0;

	while (t < text.len) {
		if (p < pattern.len && pattern.p[p] == '*') {
			star = p++;
			from = t;
		} else if (p < pattern.len && lower(pattern.p[p]) == lower(text.p[t])) {
			p++;
			t++;
		} else if (star < pattern.len) {
			p = star + 1;
			t = ++from;
		} else {
			return false;
		}
	}
	while (p < pattern.len && pattern.p[p] == '*')
		p++;
	return p == pattern.len;
}

/* What a selector says about up to two texts. */
struct selection {
	bool any;  /* there is a pattern at all */
	bool fits; /* and one fits */
};

static void look(struct selection *s, struct str pattern, struct str one, struct str other)
{
	pattern = utf8_trim(pattern);
	if (!pattern.len)
		return;
	s->any = true;
	s->fits = s->fits || (one.len && fits(pattern, one)) || (other.len && fits(pattern, other));
}

static void select_by(struct selection *s, const json_t *value, struct str one, struct str other)
{
	if (json_is_string(value))
		look(s, json_str(value), one, other);
	for (size_t i = 0; i < json_array_size(value); i++)
		if (json_is_string(json_array_get(value, i)))
			look(s, json_str(json_array_get(value, i)), one, other);
}

bool handler_takes_file(const json_t *handler, struct str kind, struct str mime)
{
	struct selection s = { 0 };

	select_by(&s, json_object_get(handler, "type"), kind, S(""));
	select_by(&s, json_object_get(handler, "mime"), mime, S(""));
	select_by(&s, json_object_get(handler, "match"), kind, mime);
	return !s.any || s.fits;
}

bool handler_takes_text(const json_t *handler)
{
	struct selection s = { 0 };

	select_by(&s, json_object_get(handler, "type"), S("text"), S(""));
	select_by(&s, json_object_get(handler, "match"), S("text"), S(""));
	return s.fits;
}
