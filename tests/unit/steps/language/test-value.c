#include "steps/language/value.h"

#include <math.h>

#include "data/big.h"
#include "steps/language/letters.h"

#include "unit.h"

static json_t *json(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	assert_non_null(value);
	return value;
}

static void assert_renders(json_t *value, const char *want)
{
	AUTO_BUF got = BUF_INIT;

	step_value_render(&got, value);
	assert_str(buf_str(&got), want);
	json_decref(value);
}

static void scalars_read_as_the_table_says(void **state UNUSED)
{
	assert_renders(json("\"x \\\"y\\\"\""), "x \"y\"");
	assert_renders(json("true"), "true");
	assert_renders(json("false"), "false");
	assert_renders(json("null"), "None");
	assert_renders(json("42"), "42");
	assert_renders(json("-9223372036854775808"), "-9223372036854775808");
	assert_renders(json("\"\""), "");
}

static void a_string_stays_byte_for_byte(void **state UNUSED)
{
	AUTO_BUF got = BUF_INIT;
	AUTO_JSON *value = json_from_str(S("a\0\xff\n"));

	step_value_render(&got, value);
	assert_bytes(buf_str(&got), S("a\0\xff\n"));
}

static void lists_and_mappings_are_json_on_one_line(void **state UNUSED)
{
	assert_renders(json("[1,\"two\",true,null,2.5]"), "[1, \"two\", true, null, 2.5]");
	assert_renders(json("{\"b\":1,\"a\":{\"c\":[]},\"d\":{}}"),
		"{\"b\": 1, \"a\": {\"c\": []}, \"d\": {}}");
	assert_renders(json("[1e-5,1e16,2.0,-0.0]"), "[1e-05, 1e+16, 2.0, -0.0]");
	assert_renders(json("[\"a\\\"b\",\"c\\\\d\",\"e\\nf\",\"g\\th\\r\\b\\f/\"]"),
		"[\"a\\\"b\", \"c\\\\d\", \"e\\nf\", \"g\\th\\r\\b\\f/\"]");
}

static void quoted_texts_are_ascii(void **state UNUSED)
{
	assert_renders(json("[\"é日😀\"]"), "[\"\\u00e9\\u65e5\\ud83d\\ude00\"]");
	assert_renders(json("{\"é\":1}"), "{\"\\u00e9\": 1}");
	assert_renders(json("[\"\\u0000\\u001f\\u007f\"]"), "[\"\\u0000\\u001f\\u007f\"]");
	json_t *list = json_array();
	(void)json_array_append_new(list, json_from_str(S("a\xff\xc3(")));
	assert_renders(list, "[\"a\\ufffd\\ufffd(\"]");
}

static void big_numbers_are_bare_digits(void **state UNUSED)
{
	json_t *list = json_array();

	assert_renders(json_big(S("12345678901234567890")), "12345678901234567890");
	(void)json_array_append_new(list, json_big(S("-98765432109876543210")));
	assert_renders(list, "[-98765432109876543210]");
}

/* Reads `text` and renders it again. */
static void assert_reads(struct str text, const char *want)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF got = BUF_INIT;
	json_t *value = step_value_from_json(text, S("out"), &r);

	if (!value)
		fail_msg("'%.*s' was refused", STR(text));
	assert_int_equal(r.errors, 0);
	step_value_render(&got, value);
	assert_str(buf_str(&got), want);
	json_decref(value);
}

static void assert_refused(struct str text)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_null(step_value_from_json(text, S("out"), &r));
	assert_int_equal(r.errors, 1);
}

static void one_json_value_is_read(void **state UNUSED)
{
	assert_reads(S(" {\"a\": [1, 2]}\n"), "{\"a\": [1, 2]}");
	assert_reads(S("42\n"), "42");
	assert_reads(S("\"x\""), "x");
	assert_reads(S("null"), "None");
	assert_reads(S("\n\n true \t\r\n"), "true");
	assert_reads(S("\x0b\xc2\xa0[]\xe3\x80\x80"), "[]");
	assert_reads(S("{\"a\":1,\"a\":2}"), "{\"a\": 2}");
}

static void anything_else_is_refused(void **state UNUSED)
{
	assert_refused(S(""));
	assert_refused(S(" \n"));
	assert_refused(S("{} x"));
	assert_refused(S("{}\n{}"));
	assert_refused(S("1 2"));
	assert_refused(S("log line\n{\"a\": 1}"));
	assert_refused(S("{'a': 1}"));
	assert_refused(S("[1,]"));
	assert_refused(S("NaN"));
	assert_refused(S("[Infinity]"));
	assert_refused(S("-Infinity"));
	assert_refused(S("01"));
	assert_refused(S("\"\xff\""));
	assert_refused(S("[1]\0"));
}

static void a_number_beyond_doubles_is_infinite(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *value = step_value_from_json(S("[1e999, -1E400, 1e9]"), S("out"), &r);
	AUTO_BUF text = BUF_INIT;

	json_write(&text, value, 0);
	assert_str(buf_str(&text), "[\"inf\",\"-inf\",1000000000]");
}

static void a_mistake_has_its_line(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_null(step_value_from_json(S("\n\n[1,\n oops]\n"), S("out"), &r));
	assert_str(r.issues.at[0].file, "out");
	assert_int_equal(r.issues.at[0].line, 4);
	assert_int_equal(r.issues.at[0].column, 2);
}

static void nesting_has_a_limit(void **state UNUSED)
{
	AUTO_BUF deep = BUF_INIT;

	buf_fill(&deep, '[', 100000);
	buf_fill(&deep, ']', 100000);
	assert_refused(buf_str(&deep));
}

static void large_integers_stay_exact(void **state UNUSED)
{
	assert_reads(S("12345678901234567890"), "12345678901234567890");
	assert_reads(S("[9223372036854775807, 9223372036854775808, -9223372036854775809]"),
		"[9223372036854775807, 9223372036854775808, -9223372036854775809]");
	assert_reads(S("{\"a\\\"1\": {\"12345678901234567890\": 98765432109876543210}}"),
		"{\"a\\\"1\": {\"12345678901234567890\": 98765432109876543210}}");
	/* What is no whole number, or in quotes, is left alone. */
	assert_reads(S("[12345678901234567890.0, 12345678901234567890123e1, "
		       "\"12345678901234567890\", 12345678901234567890]"),
		"[1.2345678901234567e+19, 1.2345678901234569e+23, \"12345678901234567890\", "
		"12345678901234567890]");
	/* Nobody can forge one with the mark of another. */
	assert_reads(S("[\"\xee\x80\x80"
		       "0:77\", 12345678901234567890]"),
		"[\"\\ue0000:77\", 12345678901234567890]");
}

static void text_that_is_json_is_found(void **state UNUSED)
{
	static const char *const yes[] = { "{\"a\":1}", " [1]\n", "{}", "[]" };
	static const char *const no[] = { "", "x", "42", "\"{}\"", "{", "[1}", "{} []", "true" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		AUTO_JSON *value = step_value_in_text(str_of(yes[i]));

		assert_non_null(value);
	}
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		assert_null(step_value_in_text(str_of(no[i])));
}

static void letters_are_those_of_all_scripts(void **state UNUSED)
{
	static const uint32_t yes[] = { 'a', 'Z', '0', '9', 0xAA, 0xB2, 0xE9, 0x416, 0x5D0, 0x661,
		0x905, 0x2160, 0x3042, 0x65E5, 0xAC00, 0x1D400, 0x20000 };
	static const uint32_t no[] = { 0, ' ', '_', '.', '-', '{', '}', 0x7F, 0xA0, 0xD7, 0xF7,
		0x301, 0x93C, 0x2014, 0x20AC, 0x3000, 0xFEFF, 0xFFFD, 0x1F600, 0x10FFFF,
		0xFFFFFFFF };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (!letter_or_digit(yes[i]))
			fail_msg("U+%04X is a letter or digit", yes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (letter_or_digit(no[i]))
			fail_msg("U+%04X is none", no[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalars_read_as_the_table_says),
		cmocka_unit_test(a_string_stays_byte_for_byte),
		cmocka_unit_test(lists_and_mappings_are_json_on_one_line),
		cmocka_unit_test(quoted_texts_are_ascii),
		cmocka_unit_test(big_numbers_are_bare_digits),
		cmocka_unit_test(one_json_value_is_read),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(a_number_beyond_doubles_is_infinite),
		cmocka_unit_test(a_mistake_has_its_line),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(large_integers_stay_exact),
		cmocka_unit_test(text_that_is_json_is_found),
		cmocka_unit_test(letters_are_those_of_all_scripts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("value", tests, NULL, NULL);
}
