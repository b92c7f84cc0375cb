/* Placeholders: parsing, arithmetic, and resolving a text with defaults, values and copies around
 * it. Input: the text, then pairs of a default's name and text, each ended by 0x1e. */
#include "base/utf8.h"
#include "template/braces.h"
#include "template/expr.h"
#include "template/words.h"

#include "fuzz.h"

static bool inside(struct str part, struct str whole)
{
	return !part.len || (part.p >= whole.p && part.p + part.len <= whole.p + whole.len);
}

static void parse(struct str content)
{
	for (enum dialect d = DIALECT_NOW; d <= DIALECT_0_9; d++) {
		struct placeholder_mistake wrong = { 0 };
		struct placeholder p;

		if (!placeholder_parse(content, d, &p, &wrong)) {
			HOLDS(wrong.what);
			continue;
		}
		HOLDS(str_eq(p.content, content));
		HOLDS(inside(p.name, content) && inside(p.text, content) &&
			inside(p.other, content) && inside(p.index, content) &&
			inside(p.expr, content));
		HOLDS(p.kind == PLACEHOLDER_EXPR || name_valid(p.name));
		HOLDS(p.kind != PLACEHOLDER_EXPR || p.underscores || expr_fits(content));
	}
}

static bool three(void *data, struct str name, int64_t *ret)
{
	(void)data;
	HOLDS(name_valid(name));
	*ret = 3;
	return true;
}

static void arithmetic(struct str text)
{
	struct str name;
	int64_t n;
	enum expr_status status = expr_eval(text, three, NULL, &n, &name);

	HOLDS(status != EXPR_VARIABLE);
	HOLDS(status != EXPR_OK || !text.len || utf8_trim(text).len);
	if (expr_fits(text))
		HOLDS(status != EXPR_SYNTAX);
	bool fits = expr_fits(text);
	HOLDS(fits == expr_fits(text));
}

static void cut(struct arena *a, struct str text)
{
	struct part *parts;
	size_t count = placeholder_cut(a, text, DIALECT_NOW, &parts, NULL, NULL), at = 0;

	for (size_t i = 0; i < count; i++) {
		HOLDS(parts[i].text.p == text.p + at && parts[i].text.len > 0);
		at += parts[i].text.len;
	}
	HOLDS(at == text.len);
}

static void resolve(struct arena *a, struct str text, const struct scope *s)
{
	struct doc doc = { .source = { S("fuzz"), text }, .plain = true };
	struct place place = { .doc = &doc };
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF out = BUF_INIT;
	AUTO_BUF shown = BUF_INIT;
	bool truth;

	const struct text *t = braces_text(a, &place, text, DIALECT_NOW, &r);
	HOLDS(!t == (r.errors > 0));
	if (t && !text_resolve(t, s, &out, &r))
		HOLDS(r.errors == 1);
	if (t)
		(void)braces_mentions_copy(t, s);
	report_reset(&r);
	/* A blank guard is decided before anybody compiles it. */
	t = utf8_trim(text).len ? braces_guard(a, &place, text, DIALECT_NOW, &r) : NULL;
	if (t && !text_decide(t, s, &truth, &r))
		HOLDS(r.errors == 1);
	report_reset(&r);
	struct word *words;
	size_t count = words_split(a, text, &words);
	for (size_t i = 0; i < count && i < 16; i++) {
		t = braces_word(a, &place, text, i, words[i].text, DIALECT_NOW, &r);
		buf_reset(&out);
		if (t)
			(void)text_resolve(t, s, &out, &r);
	}
	report_sort(&r);
	report_text(&r, REPORT_ALL, &shown);
	HOLDS(utf8_valid(buf_str(&shown)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = ARENA_INIT;
	struct str rest = fuzz_str(data, size);
	struct str text = fuzz_first(&rest);
	struct preset presets[8];
	json_t *texts[8];
	size_t count = 0;
	json_t *values = json_pack(
		"{s:s, s:[s,i,n], s:b, s:i}", "v", "value {w}", "xs", "x", 1, "f", 1, "n", 0);

	/* Templates are valid UTF-8 by the time they get here. */
	if (!utf8_valid(text))
		goto done;
	parse(text);
	arithmetic(text);
	cut(&a, text);
	while (rest.len && count < 8) {
		struct str name = fuzz_first(&rest), value = fuzz_first(&rest);

		if (!name_valid(name) || !utf8_valid(value))
			continue;
		texts[count] = json_from_str(value);
		preset_compile(&a, name, texts[count], DIALECT_NOW, &presets[count]);
		count++;
	}
	struct presets defaults = { presets, count };
	struct scope root = { .values = values };
	struct scope node = { .up = &root, .defaults = &defaults };
	struct scope copy = {
		.up = &node, .defaults = &defaults, .repeats = true, .index = 1, .count = 3
	};
	resolve(&a, text, &root);
	resolve(&a, text, &node);
	resolve(&a, text, &copy);
	while (count)
		json_decref(texts[--count]);
done:
	json_decref(values);
	arena_done(&a);
	return 0;
}
