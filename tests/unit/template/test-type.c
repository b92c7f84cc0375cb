#include "template/type.h"

#include "unit.h"

/* `value` is JSON text; what it becomes under `type` as JSON text, or NULL for "refused". */
static void assert_becomes(const char *type, const char *value, const char *want)
{
	struct source source = { S("t"), str_of(value) };
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;
	AUTO_JSON *given = json_read(&source, &r);
	struct type t = { 0 };

	assert_non_null(given);
	assert_true(type_parse(str_of(type), &t));
	AUTO_JSON *got = type_normalise(&t, given);
	if (!got != !want)
		fail_msg("%s as %s: %s", value, type, got ? "was taken" : "was refused");
	if (got) {
		json_write(&b, got, 0);
		assert_str(buf_str(&b), want);
	}
}

static void texts_take_anything_unchanged(void **state UNUSED)
{
	assert_becomes("string", "\" a \"", "\" a \"");
	assert_becomes("path", "\"~/x \"", "\"~/x \"");
	assert_becomes("string", "5", "\"5\"");
	assert_becomes("string", "0.10", "\"0.1\"");
	assert_becomes("string", "true", "\"true\"");
	assert_becomes("string", "[1,\"x\",null]", "\"[1,\\\"x\\\",null]\"");
	assert_becomes("string", "{\"a\":1}", "\"{\\\"a\\\":1}\"");
}

static void whole_numbers_stay_as_written(void **state UNUSED)
{
	assert_becomes("int", "5", "5");
	assert_becomes("int", "\" -007 \"", "\"-007\"");
	assert_becomes("int", "\"99999999999999999999999\"", "\"99999999999999999999999\"");
	assert_becomes("int", "5.5", NULL);
	assert_becomes("int", "\"+5\"", NULL);
	assert_becomes("int", "\"5.0\"", NULL);
	assert_becomes("int", "\"1e3\"", NULL);
	assert_becomes("int", "\"\"", NULL);
	assert_becomes("int", "\"-\"", NULL);
	assert_becomes("int", "true", NULL);
	assert_becomes("int", "[]", NULL);
}

static void numbers_may_have_a_fraction(void **state UNUSED)
{
	assert_becomes("number", "2.50", "2.5");
	assert_becomes("number", "1e5", "100000");
	assert_becomes("number", "\"-.5\"", "\"-.5\"");
	assert_becomes("number", "\" 1.50 \"", "\"1.50\"");
	assert_becomes("number", "\"1.\"", NULL);
	assert_becomes("number", "\"1e5\"", NULL);
	assert_becomes("number", "\"+1\"", NULL);
	assert_becomes("number", "\"NaN\"", NULL);
	assert_becomes("number", "\"\"", NULL);
}

static void truth_has_six_spellings(void **state UNUSED)
{
	assert_becomes("bool", "true", "true");
	assert_becomes("bool", "\" YES \"", "true");
	assert_becomes("bool", "\"1\"", "true");
	assert_becomes("bool", "\"False\"", "false");
	assert_becomes("bool", "\"0\"", "false");
	assert_becomes("bool", "\"no\"", "false");
	assert_becomes("bool", "1", NULL);
	assert_becomes("bool", "0", NULL);
	assert_becomes("bool", "\"on\"", NULL);
	assert_becomes("bool", "\"\"", NULL);
}

static void an_enum_takes_its_members_only(void **state UNUSED)
{
	assert_becomes("enum(check, fix)", "\"fix\"", "\"fix\"");
	assert_becomes("enum(check, fix)", "\"Fix\"", NULL);
	assert_becomes("enum(check, fix)", "\" fix\"", NULL);
	assert_becomes("enum(check, fix)", "\"\"", NULL);
	assert_becomes("enum(1,2)", "2", "\"2\"");
	assert_becomes("enum()", "\"anything\"", "\"anything\"");
	assert_becomes("enum(a,,b)", "\"\"", NULL);
}

static void arrays_may_come_as_json_text(void **state UNUSED)
{
	assert_becomes("array", "[1,[2]]", "[1,[2]]");
	assert_becomes("array", "\" [\\\"a\\\"] \"", "[\"a\"]");
	assert_becomes("array", "\"a,b\"", NULL);
	assert_becomes("array", "\"{}\"", NULL);
	assert_becomes("array", "\"\"", NULL);
	assert_becomes("array", "{}", NULL);
}

static void null_is_taken_by_every_type(void **state UNUSED)
{
	static const char *const types[] = { "string", "path", "int", "number", "bool", "array",
		"enum(a)" };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		assert_becomes(types[i], "null", "null");
}

static void declarations_have_four_forms(void **state UNUSED)
{
	struct declaration d;

	assert_true(declaration_parse(S("a"), &d));
	assert_null(d.fallback.p);
	assert_int_equal(d.type.kind, TYPE_NONE);
	assert_true(declaration_parse(S("a-b:int"), &d));
	assert_str(d.name, "a-b");
	assert_int_equal(d.type.kind, TYPE_INT);
	assert_true(declaration_parse(S("lang=ru=x"), &d));
	assert_str(d.fallback, "ru=x");
	assert_true(declaration_parse(S("e="), &d));
	assert_non_null(d.fallback.p);
	assert_str(d.fallback, "");
	assert_true(declaration_parse(S("m:enum(a=1,b)=b"), &d));
	assert_str(d.type.members, "a=1,b");
	assert_str(d.fallback, "b");
	assert_true(declaration_parse(S("x:date=1"), &d));
	assert_true(d.unknown_type);
	assert_str(d.fallback, "1");
}

static void blanks_in_declarations_mean_nothing(void **state UNUSED)
{
	struct declaration d;
	AUTO_BUF written = BUF_INIT;

	assert_true(declaration_parse(S("m : enum( a , b ) = b"), &d));
	assert_str(d.name, "m");
	assert_int_equal(d.type.kind, TYPE_ENUM);
	assert_str(type_member(&d.type, 1), "b");
	assert_str(d.fallback, "b");
	declaration_write(&d, &written);
	assert_string_equal(buf_cstr(&written), "m:enum(a,b)");
	assert_true(declaration_parse(S("n: int"), &d));
	assert_int_equal(d.type.kind, TYPE_INT);
	assert_null(d.fallback.p);
	assert_true(declaration_parse(S("t= x y"), &d));
	assert_str(d.fallback, "x y");
	assert_false(declaration_parse(S("n int"), &d));
}

static void other_declarations_are_refused(void **state UNUSED)
{
	static const char *const bad[] = { "", "1a", "a b", "=x", ":int", "-a", "a.b", "\xc3\xa9" };
	struct declaration d;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(declaration_parse(str_of(bad[i]), &d));
}

static void what_is_expected_can_be_said(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;
	struct type t;

	assert_true(type_parse(S("enum(check, fix)"), &t));
	type_describe(&t, &b);
	assert_str(buf_str(&b), "one of check, fix");
	assert_str(type_member(&t, 1), "fix");
	assert_null(type_member(&t, 2).p);
	assert_string_equal(type_name(TYPE_BOOL), "bool");
}

static void values_have_one_text_form(void **state UNUSED)
{
	static const struct {
		const char *json, *text;
	} forms[] = { { "\"a b\"", "a b" }, { "true", "true" }, { "false", "false" },
		{ "12", "12" }, { "1.0", "1" }, { "0.1", "0.1" }, { "1e-7", "1e-7" },
		{ "null", "" }, { "[\"x\",1,null]", "[\"x\",1,null]" },
		{ "{\"a\":{}}", "{\"a\":{}}" } };

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct source source = { S("t"), str_of(forms[i].json) };
		AUTO_REPORT r = REPORT_INIT;
		AUTO_BUF b = BUF_INIT;
		AUTO_JSON *value = json_read(&source, &r);

		template_text(&b, value);
		assert_str(buf_str(&b), forms[i].text);
	}
}

static void few_things_are_false(void **state UNUSED)
{
	static const char *const falsy[] = { "null", "false", "0", "0.0", "-0.0", "\"\"", "\" \"",
		"\"0\"", "\" False \"", "\"NO\"", "[]", "\"\\u00a0no\"" };
	static const char *const truthy[] = { "true", "1", "-1", "0.1", "\"off\"", "\"null\"",
		"\"0.0\"", "\"00\"", "[0]", "{}", "\"x\"" };

	for (size_t i = 0; i < ARRAY_SIZE(falsy) + ARRAY_SIZE(truthy); i++) {
		bool want = i >= ARRAY_SIZE(falsy);
		const char *text = want ? truthy[i - ARRAY_SIZE(falsy)] : falsy[i];
		struct source source = { S("t"), str_of(text) };
		AUTO_REPORT r = REPORT_INIT;
		AUTO_JSON *value = json_read(&source, &r);

		if (template_truthy(value) != want)
			fail_msg("%s", text);
	}
}

static void names_begin_with_a_letter(void **state UNUSED)
{
	assert_int_equal(name_length(S("ab-1_c.d")), 6);
	assert_int_equal(name_length(S("1a")), 0);
	assert_int_equal(name_length(S("")), 0);
	assert_true(name_valid(S("_")));
	assert_false(name_valid(S("-a")));
	assert_false(name_valid(S("a ")));
	assert_false(name_valid(S("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_take_anything_unchanged),
		cmocka_unit_test(whole_numbers_stay_as_written),
		cmocka_unit_test(numbers_may_have_a_fraction),
		cmocka_unit_test(truth_has_six_spellings),
		cmocka_unit_test(an_enum_takes_its_members_only),
		cmocka_unit_test(arrays_may_come_as_json_text),
		cmocka_unit_test(null_is_taken_by_every_type),
		cmocka_unit_test(declarations_have_four_forms),
		cmocka_unit_test(blanks_in_declarations_mean_nothing),
		cmocka_unit_test(other_declarations_are_refused),
		cmocka_unit_test(what_is_expected_can_be_said),
		cmocka_unit_test(values_have_one_text_form),
		cmocka_unit_test(few_things_are_false),
		cmocka_unit_test(names_begin_with_a_letter),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("type", tests, NULL, NULL);
}
