#include "data/json-plain.h"

enum { DIGITS_MAX = 18 };

static bool take_char(struct str *rest, char c)
{
	if (!rest->len || *rest->p != c)
		return false;
	*rest = str_from(*rest, 1);
	return true;
}

static bool take_word(struct str *rest, struct str word)
{
	if (!str_starts(*rest, word))
		return false;
	*rest = str_from(*rest, word.len);
	return true;
}

static bool take_string(struct str *rest, struct str *ret)
{
	size_t n = 1;

	if (!rest->len || *rest->p != '"')
		return false;
	for (; n < rest->len && rest->p[n] != '"'; n++)
		if (rest->p[n] == '\\' || rest->p[n] < ' ' || rest->p[n] > '~')
			return false;
	if (n == rest->len)
		return false;
	*ret = str_sub(*rest, 1, n - 1);
	*rest = str_from(*rest, n + 1);
	return true;
}

static bool take_number(struct str *rest, uint64_t *ret)
{
	size_t n = 0;

	*ret = 0;
	for (; n < rest->len && n <= DIGITS_MAX && rest->p[n] >= '0' && rest->p[n] <= '9'; n++)
		*ret = *ret * 10 + (uint64_t)(rest->p[n] - '0');
	/* A number has no zero before it; what follows a fraction or an exponent is refused by the
	 * caller, who wants a comma or the end. */
	if (!n || n > DIGITS_MAX || (n > 1 && *rest->p == '0'))
		return false;
	*rest = str_from(*rest, n);
	return true;
}

static bool take_value(struct str *rest, const struct plain_member *m, void *to)
{
	void *slot = (char *)to + m->at;

	switch (m->type) {
	case PLAIN_STRING:
		if (take_string(rest, slot))
			return true;
		*(struct str *)slot = (struct str){ 0 };
		return take_word(rest, S("null"));
	case PLAIN_NUMBER:
		return take_number(rest, slot);
	case PLAIN_FLAG:
		*(bool *)slot = true;
		return take_word(rest, S("true"));
	case PLAIN_OBJECT:
		if (*(bool *)slot)
			return false; /* of two of the same name the second counts alone */
		*(bool *)slot = true;
		return json_plain_take(rest, m->object, to);
	}
	return false;
}

/* Members mostly come in the order of the table: it is looked through from the one that is next. */
static const struct plain_member *find(
	const struct plain_object *object, struct str name, size_t next)
{
	for (size_t i = 0; i < object->count; i++, next++) {
		if (next == object->count)
			next = 0;
		if (str_eq(object->members[next].name, name))
			return &object->members[next];
	}
	return NULL;
}

bool json_plain_take(struct str *rest, const struct plain_object *object, void *to)
{
	struct str name;
	size_t next = 0;

	if (!take_char(rest, '{'))
		return false;
	do {
		if (!take_string(rest, &name) || !take_char(rest, ':'))
			return false;
		const struct plain_member *m = find(object, name, next);
		if (!m || !take_value(rest, m, to))
			return false;
		next = (size_t)(m - object->members) + 1;
	} while (take_char(rest, ','));
	return take_char(rest, '}');
}
