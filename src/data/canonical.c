#include "data/canonical.h"

#include <stdlib.h>

#include "base/number.h"
#include "base/vec.h"

struct member {
	struct str key;
	const json_t *value;
};

/* UTF-8 sorts as code points do. UTF-16 differs in one thing: what is above U+FFFF is written with
 * surrogates (D800 …), so it comes before U+E000 to U+FFFF, whose first byte is EE or EF. Later
 * bytes of a character are never that high. */
static int rank(char byte)
{
	int c = (unsigned char)byte;

	return c == 0xEE || c == 0xEF ? c + 0x100 : c;
}

static int by_utf16(const void *left, const void *right)
{
	struct str a = ((const struct member *)left)->key;
	struct str b = ((const struct member *)right)->key;

	for (size_t i = 0; i < a.len && i < b.len; i++)
		if (a.p[i] != b.p[i])
			return rank(a.p[i]) - rank(b.p[i]);
	return (a.len > b.len) - (a.len < b.len);
}

static void add_object(struct buf *b, const json_t *object)
{
	VEC(struct member) members = { 0 };
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
		vec_push(&members, (struct member){ str_of(key), value });
	if (members.len)
		qsort(members.at, members.len, sizeof(*members.at), by_utf16);
	buf_addc(b, '{');
	for (size_t i = 0; i < members.len; i++) {
		if (i)
			buf_addc(b, ',');
		json_write_str_exact(b, members.at[i].key);
		buf_addc(b, ':');
		json_canonical(b, members.at[i].value);
	}
	buf_addc(b, '}');
	vec_done(&members);
}

static void add_array(struct buf *b, const json_t *array)
{
	buf_addc(b, '[');
	for (size_t i = 0; i < json_array_size(array); i++) {
		if (i)
			buf_addc(b, ',');
		json_canonical(b, json_array_get(array, i));
	}
	buf_addc(b, ']');
}

void json_canonical(struct buf *b, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		add_object(b, value);
		break;
	case JSON_ARRAY:
		add_array(b, value);
		break;
	case JSON_STRING:
		json_write_str_exact(b, json_str(value));
		break;
	case JSON_INTEGER:
	case JSON_REAL:
		number_text(b, json_number_value(value));
		break;
	case JSON_TRUE:
		buf_adds(b, "true");
		break;
	case JSON_FALSE:
		buf_adds(b, "false");
		break;
	case JSON_NULL:
		buf_adds(b, "null");
		break;
	}
}
