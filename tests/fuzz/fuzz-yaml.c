/* YAML: what is read can be written as JSON and read back, and every value has its place. */
#include "base/utf8.h"
#include "data/big.h"
#include "data/yaml.h"

#include "places.h"

/* A byte of a text is found where it stands, or where an escape or a fold stands for it. */
static void check_bytes(const struct place *p, struct str value)
{
	struct str text = p->doc->source.text;
	size_t last = 0;

	for (size_t at = 0; at < value.len; at += 1 + value.len / 16) {
		struct where in = place_where_in(p, at, 1);

		HOLDS(in.offset + in.length <= text.len && in.offset >= last);
		last = in.offset;
		unsigned char c = (unsigned char)value.p[at];
		if (in.length == 1 && c > 0x20 && c < 0x7f)
			HOLDS(text.p[in.offset] == value.p[at]);
	}
}

/* A number that JSON has no room for is a string that does not stand in the text. */
static bool is_text(const json_t *value)
{
	return json_is_string(value) && !json_is_big(value) &&
	       !str_ends(json_str(value), S("inf")) && !str_ends(json_str(value), S("nan"));
}

static void check_place(const struct place *p, const json_t *value)
{
	struct str text = p->doc->source.text;
	struct where w = place_where(p), k = place_key_where(p);

	HOLDS(w.offset + w.length <= text.len && k.offset + k.length <= text.len);
	if (is_text(value))
		check_bytes(p, json_str(value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct doc doc = { .source = { S("fuzz"), fuzz_str(data, size) } };
	struct arena a = ARENA_INIT;
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;
	unsigned left = 200;

	doc.root = yaml_read(&doc.source, &r);
	HOLDS(!doc.root == (r.errors > 0));
	report_text(&r, REPORT_ALL, &text);
	HOLDS(utf8_valid(buf_str(&text)));
	vec_each (issue, &r.issues)
		HOLDS(issue->line >= 1 && issue->column >= 1);
	if (!doc.root)
		return 0;
	doc.locator = size & 1 ? &yaml_locator : yaml_locator_new(&a);
	struct place root = { .doc = &doc };
	walk_places(&a, &root, doc.root, &left, check_place);

	buf_reset(&text);
	json_write(&text, doc.root, 0);
	struct source written = { S("written"), buf_str(&text) };
	AUTO_JSON *again = json_read(&written, &r);
	/* A number of hundreds of digits is exact here and too large for a reader of doubles. */
	HOLDS(utf8_valid(buf_str(&text)));
	HOLDS(again || str_contains(r.issues.at[r.issues.len - 1].message, S("overflow")));
	doc_done(&doc);
	arena_done(&a);
	return 0;
}
