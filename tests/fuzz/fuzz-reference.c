/* `{{…}}`: finding references and replacing them. Input: the text, 0x1e, the variables as JSON. */
#include "base/utf8.h"
#include "steps/language/reference.h"
#include "steps/language/text.h"
#include "steps/language/value.h"

#include "fuzz.h"

/* Each lies in the text, in order, and is found again wherever one begins to look. */
static void find(struct str text)
{
	size_t at = 0, last = 0;
	struct reference ref, again;

	while (reference_next(text, &at, &ref)) {
		struct str whole = str_sub(text, ref.offset, ref.length);

		HOLDS(ref.offset >= last && at == ref.offset + ref.length && at <= text.len);
		HOLDS(str_starts(whole, S("{{")) && str_ends(whole, S("}}")));
		HOLDS(ref.path.len + 4 == ref.length && ref.path.p == whole.p + 2);
		HOLDS(utf8_valid(ref.path) && !str_contains(ref.path, S("..")));
		HOLDS(reference_variable(&ref).len > 0);
		HOLDS(reference_at(text, ref.offset, &again) && again.length == ref.length);
		HOLDS(reference_only(whole, &again) && str_eq(again.path, ref.path));
		last = at;
	}
	HOLDS(at == text.len);
	for (at = 0; reference_spaced(text, &at, &ref);)
		HOLDS(!reference_at(text, ref.offset, &again) && ref.path.len + 4 < ref.length);
}

static void resolve(const struct text *t, const struct scope *s)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF out = BUF_INIT;
	AUTO_BUF shown = BUF_INIT;
	struct reference ref;
	size_t at = 0;

	bool ok = text_resolve(t, s, &out, &r);
	HOLDS(r.errors == !ok && r.issues.len == r.errors);
	if (ok && !reference_next(t->raw, &at, &ref))
		HOLDS(str_eq(buf_str(&out), t->raw));
	report_text(&r, REPORT_ALL, &shown);
	HOLDS(utf8_valid(buf_str(&shown)));
	report_reset(&r);
	AUTO_JSON *value = t->ops->value(t, s, &r);
	HOLDS(!value == !ok && r.errors == !ok);
	if (value && !reference_only(t->raw, &ref))
		HOLDS(str_eq(json_str(value), buf_str(&out)));
	if (value) {
		/* The text of the value is the resolved text, but for white space around it. */
		AUTO_BUF text = BUF_INIT;

		step_value_render(&text, value);
		HOLDS(str_contains(buf_str(&out), buf_str(&text)));
	}
	report_reset(&r);
	AUTO_JSON *list = step_text_list(t, s, &r);
	HOLDS(!list == (r.errors == 1) && (!list || json_is_array(list)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = ARENA_INIT;
	struct str rest = fuzz_str(data, size);
	struct str text = fuzz_first(&rest);
	struct doc doc = { .source = { S("fuzz"), text }, .plain = true };
	struct place place = { .doc = &doc };
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *vars = step_value_from_json(rest, S("vars"), &ignored);
	struct scope none = { 0 }, s = { .vars = json_is_object(vars) ? vars : NULL };

	find(text);
	resolve(step_text(&a, text, &place), &s);
	resolve(step_text(&a, text, NULL), &none);
	/* What is read renders to something that reads back, unless it is one text. */
	if (json_is_object(vars) || json_is_array(vars)) {
		AUTO_BUF rendered = BUF_INIT;

		step_value_render(&rendered, vars);
		AUTO_JSON *again = step_value_from_json(buf_str(&rendered), S("again"), &ignored);
		HOLDS(again && json_equal(vars, again));
	}
	arena_done(&a);
	return 0;
}
