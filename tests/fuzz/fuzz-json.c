/* JSON: what is read can be written and read back equal, and every value has its place. */
#include <math.h>

#include "base/utf8.h"

#include "places.h"

/* json_equal() tells 1 from 1.0, which JSON does not. */
static bool same(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_number(a) && json_is_number(b)) {
		double x = json_number_value(a), y = json_number_value(b);

		if (json_is_integer(a) && json_is_integer(b))
			return json_integer_value(a) == json_integer_value(b);
		return x == y;
	}
	if (json_typeof(a) != json_typeof(b))
		return false;
	if (json_is_string(a))
		return str_eq(json_str(a), json_str(b));
	if (json_is_array(a)) {
		if (json_array_size(a) != json_array_size(b))
			return false;
		json_array_foreach(a, i, item) if (!same(item, json_array_get(b, i))) return false;
	} else if (json_is_object(a)) {
		if (json_object_size(a) != json_object_size(b))
			return false;
		json_object_foreach((json_t *)a, key, item)
		{
			json_t *other = json_object_get(b, key);

			if (!other || !same(item, other))
				return false;
		}
	}
	return true;
}

/* Between the quotes. */
static void check_byte(struct str text, struct where w, struct where in, struct str s, size_t at)
{
	HOLDS(in.offset > w.offset && in.offset + in.length < w.offset + w.length);
	if ((unsigned char)s.p[at] >= 0x20 && text.p[in.offset] != '\\')
		HOLDS(text.p[in.offset] == s.p[at]);
}

/* The text at a place is the value that stands there. */
static void check_place(const struct place *p, const json_t *value)
{
	struct where w = place_where(p), k = place_key_where(p);
	struct str text = p->doc->source.text;
	AUTO_REPORT r = REPORT_INIT;

	HOLDS(w.offset + w.length <= text.len && k.offset + k.length <= text.len);
	struct source part = { S("part"), str_sub(text, w.offset, w.length) };
	AUTO_JSON *again = json_read(&part, &r);
	HOLDS(again && same(again, value));
	if (json_is_string(value))
		walk_string(p, w, json_str(value), check_byte);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct doc doc = { .source = { S("fuzz"), fuzz_str(data, size) } };
	struct arena a = ARENA_INIT;
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF lines = BUF_INIT;

	doc.root = json_read(&doc.source, &r);
	HOLDS(!doc.root == (r.errors == 1));
	if (!doc.root) {
		report_text(&r, REPORT_ALL, &text);
		HOLDS(utf8_valid(buf_str(&text)));
		HOLDS(r.issues.at[0].line >= 1 && r.issues.at[0].column >= 1);
		return 0;
	}
	struct place root = { .doc = &doc };
	unsigned left = 200;
	walk_places(&a, &root, doc.root, &left, check_place);
	check_strangers(&a, &root, data, size);

	json_write(&text, doc.root, 0);
	json_write(&lines, doc.root, 2);
	HOLDS(utf8_valid(buf_str(&text)));
	struct source once = { S("once"), buf_str(&text) }, twice = { S("twice"), buf_str(&lines) };
	AUTO_JSON *again = json_read(&once, &r);
	AUTO_JSON *indented = json_read(&twice, &r);
	HOLDS(again && same(doc.root, again));
	HOLDS(indented && same(doc.root, indented));
	buf_reset(&lines);
	json_write(&lines, again, 0);
	HOLDS(str_eq(buf_str(&text), buf_str(&lines)));
	doc_done(&doc);
	arena_done(&a);
	return 0;
}
