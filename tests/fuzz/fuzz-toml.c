/* TOML: what is read stands where the locator says, in both styles. */
#include "base/utf8.h"
#include "data/toml.h"

#include "places.h"

/* The text of a leaf, read alone, is the same leaf. */
static void check_leaf(struct str text, const json_t *value)
{
	AUTO_BUF line = BUF_INIT;
	AUTO_REPORT r = REPORT_INIT;

	buf_adds(&line, "a = ");
	buf_add(&line, text);
	struct source source = { S("leaf"), buf_str(&line) };
	AUTO_JSON *again = toml_read(&source, TOML_PLAIN, &r);
	HOLDS(again && json_equal(json_object_get(again, "a"), value));
}

/* Where nothing is escaped, the byte itself. */
static void check_byte(struct str text, struct where w, struct where in, struct str s, size_t at)
{
	if (in.length == 1 && in.offset > w.offset && s.p[at] != '\n' && w.length == s.len + 2)
		HOLDS(text.p[in.offset] == s.p[at]);
}

static void check_place(const struct place *p, const json_t *value)
{
	struct where w = place_where(p), k = place_key_where(p);
	struct str text = p->doc->source.text;

	HOLDS(w.offset + w.length <= text.len && k.offset + k.length <= text.len);
	HOLDS(!p->up || (w.length && k.length));
	if (json_is_object(value) || json_is_array(value))
		return;
	check_leaf(str_sub(text, w.offset, w.length), value);
	if (json_is_string(value))
		walk_string(p, w, json_str(value), check_byte);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct doc doc = { .source = { S("fuzz"), fuzz_str(data, size) },
		.locator = &toml_locator };
	struct place root = { .doc = &doc };
	struct arena a = ARENA_INIT;
	AUTO_REPORT r = REPORT_INIT;
	AUTO_REPORT tagged_report = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;
	AUTO_JSON *tagged = toml_read(&doc.source, TOML_TAGGED, &tagged_report);
	unsigned left = 100;

	doc.root = toml_read(&doc.source, TOML_PLAIN, &r);
	HOLDS(!doc.root == (r.errors == 1) && r.issues.len == r.errors);
	HOLDS(!doc.root || tagged); /* not the other way: a key may hold NUL */
	if (doc.root) {
		HOLDS(json_object_size(doc.root) == json_object_size(tagged));
		json_write(&text, doc.root, 0);
		walk_places(&a, &root, doc.root, &left, check_place);
	} else {
		report_text(&r, REPORT_ALL, &text);
		HOLDS(r.issues.at[0].line >= 1 && r.issues.at[0].column >= 1);
		HOLDS(r.issues.at[0].hint.len);
	}
	HOLDS(utf8_valid(buf_str(&text)));
	check_strangers(&a, &root, data, size);
	doc_done(&doc);
	arena_done(&a);
	return 0;
}
