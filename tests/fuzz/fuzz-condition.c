/* Conditions. Input: the condition, 0x1e, the variables as JSON. */
#include "base/utf8.h"
#include "steps/language/condition.h"
#include "steps/language/token.h"
#include "steps/language/value.h"

#include "fuzz.h"

/* The tokens lie in the text, in order, with nothing but white space between them. */
static void cut(struct str text)
{
	size_t at = 0;
	struct token t;

	for (t = token_next(text, 0); t.kind != TOKEN_END; t = token_next(text, at)) {
		HOLDS(t.length > 0 && t.offset >= at && t.offset + t.length <= text.len);
		HOLDS(step_value_trim(str_sub(text, at, t.offset - at)).len == 0);
		HOLDS(t.kind != TOKEN_REFERENCE || t.reference.offset == t.offset);
		at = t.offset + t.length;
	}
	HOLDS(step_value_trim(str_from(text, at)).len == 0 && t.offset == text.len);
}

static enum condition decide(struct str text, const struct place *place, const json_t *vars)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF shown = BUF_INIT;
	enum condition is = condition_decide(text, place, vars, &r);

	HOLDS(r.errors == (is >= CONDITION_UNDEFINED) && r.issues.len == r.errors);
	report_text(&r, REPORT_ALL, &shown);
	HOLDS(utf8_valid(buf_str(&shown)));
	return is;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = fuzz_str(data, size);
	struct str text = fuzz_first(&rest);
	struct doc doc = { .source = { S("fuzz"), text }, .plain = true };
	struct place place = { .doc = &doc };
	AUTO_REPORT r = REPORT_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *given = step_value_from_json(rest, S("vars"), &ignored);
	const json_t *vars = json_is_object(given) ? given : NULL;
	double number;

	cut(text);
	bool valid = condition_check(text, &place, &r);
	HOLDS(r.errors == !valid);
	enum condition with = decide(text, &place, vars), without = decide(text, NULL, NULL);
	/* What is no expression is never decided; without variables nothing else is bad. */
	HOLDS(valid || with >= CONDITION_UNDEFINED);
	HOLDS(!valid || without != CONDITION_BAD);
	/* A reference is a value: what it holds changes no structure. */
	if (valid && with == CONDITION_BAD)
		HOLDS(str_contains(text, S("{{")));
	/* Negating decides the other way round. */
	if (valid && step_value_trim(text).len && text.len < 4096) {
		AUTO_BUF negated = BUF_INIT;

		buf_printf(&negated, "not (");
		buf_add(&negated, text);
		buf_addc(&negated, ')');
		enum condition other = decide(buf_str(&negated), NULL, vars);
		if (with < CONDITION_UNDEFINED && other != CONDITION_BAD)
			HOLDS(other == (with == CONDITION_TRUE ? CONDITION_FALSE : CONDITION_TRUE));
	}
	(void)token_number(text, &number);
	return 0;
}
