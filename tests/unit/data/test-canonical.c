#include "data/canonical.h"

#include "unit.h"

static void assert_canonical(const char *text, const char *want)
{
	const struct source source = { S("test.json"), str_of(text) };
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *value = json_read(&source, &r);
	AUTO_BUF got = BUF_INIT;

	assert_non_null(value);
	json_canonical(&got, value);
	assert_str(buf_str(&got), want);
}

static void blanks_are_dropped_and_members_sorted(void **state UNUSED)
{
	assert_canonical(" { } ", "{}");
	assert_canonical("[ ]", "[]");
	assert_canonical("{\"b\" : [1, {\"z\": 1, \"a\": 2}],\n\t\"a\": null }",
		"{\"a\":null,\"b\":[1,{\"a\":2,\"z\":1}]}");
	assert_canonical("{\"b\":1,\"B\":2,\"ab\":3,\"a\":4,\"\":5,\"10\":6,\"9\":7}",
		"{\"\":5,\"10\":6,\"9\":7,\"B\":2,\"a\":4,\"ab\":3,\"b\":1}");
	assert_canonical("[true, false, null, \"x\"]", "[true,false,null,\"x\"]");
}

static void of_duplicates_the_last_counts(void **state UNUSED)
{
	assert_canonical("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}");
}

/* U+1F600 is D83D DE00 in UTF-16, so it comes before U+E000 and U+FF21 but behind U+D7FF. */
static void members_are_sorted_by_utf16(void **state UNUSED)
{
	assert_canonical(
		"{\"\xEF\xBC\xA1\":1,\"\xF0\x9F\x98\x80\":2,\"\xEE\x80\x80\":3,\"\xED\x9F\xBF\":4,"
		"\"z\":5,\"\xC3\xA9\":6,\"\xF0\x9F\x98\x80\xEF\xBC\xA1\":7,\"\xF4\x8F\xBF\xBF\":8}",
		"{\"z\":5,\"\xC3\xA9\":6,\"\xED\x9F\xBF\":4,\"\xF0\x9F\x98\x80\":2,"
		"\"\xF0\x9F\x98\x80\xEF\xBC\xA1\":7,\"\xF4\x8F\xBF\xBF\":8,\"\xEE\x80\x80\":3,"
		"\"\xEF\xBC\xA1\":1}");
}

static void strings_are_escaped_as_ecmascript_does(void **state UNUSED)
{
	assert_canonical("\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001F\\u007f\\/\\\"\\\\\"",
		"\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\x7f/\\\"\\\\\"");
	assert_canonical(
		"\"\\u00e9\\u2028\\ud83d\\ude00\"", "\"\xC3\xA9\xE2\x80\xA8\xF0\x9F\x98\x80\"");
	assert_canonical("{\"a\\n\\u00e9\":1}", "{\"a\\n\xC3\xA9\":1}");
}

static void numbers_are_spelled_as_ecmascript_does(void **state UNUSED)
{
	assert_canonical("[1.0, 1e2, -0, -0.0, 0.10, 1E-7, 1e21, 5e-324]",
		"[1,100,0,0,0.1,1e-7,1e+21,5e-324]");
	assert_canonical("[9007199254740991, 9007199254740993, -9007199254740993]",
		"[9007199254740991,9007199254740992,-9007199254740992]");
	assert_canonical("[9223372036854775807, 1234567890123456789]",
		"[9223372036854776000,1234567890123456800]");
	assert_canonical("[18446744073709551616, 123456789012345678901234567890]",
		"[18446744073709552000,1.2345678901234568e+29]");
	assert_canonical("1.7976931348623157e308", "1.7976931348623157e+308");
}

static void deep_values_are_written(void **state UNUSED)
{
	enum { DEPTH = 1000 };
	AUTO_BUF text = BUF_INIT;

	buf_fill(&text, '[', DEPTH);
	buf_fill(&text, ']', DEPTH);
	assert_canonical(buf_cstr(&text), buf_cstr(&text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks_are_dropped_and_members_sorted),
		cmocka_unit_test(of_duplicates_the_last_counts),
		cmocka_unit_test(members_are_sorted_by_utf16),
		cmocka_unit_test(strings_are_escaped_as_ecmascript_does),
		cmocka_unit_test(numbers_are_spelled_as_ecmascript_does),
		cmocka_unit_test(deep_values_are_written),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("canonical", tests, NULL, NULL);
}
