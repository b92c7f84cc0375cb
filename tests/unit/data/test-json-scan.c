#include "data/json-scan.h"

#include "unit.h"

static void strings_end_at_their_quote(void **state UNUSED)
{
	assert_int_equal(json_scan_string(S("\"a\" b"), 0), 3);
	assert_int_equal(json_scan_string(S("x\"\\\"\""), 1), 5);
	assert_int_equal(json_scan_string(S("\"\\u00e9\xC3\xA9\""), 0), 10);
	assert_int_equal(json_scan_string(S("\"a"), 0), 0);
	assert_int_equal(json_scan_string(S("\"a\n\""), 0), 0);
	assert_int_equal(json_scan_string(S("\"\\x\""), 0), 0);
	assert_int_equal(json_scan_string(S("\"\\u12g4\""), 0), 0);
	assert_int_equal(json_scan_string(S("\"\\"), 0), 0);
	assert_int_equal(json_scan_string(S("\"\xff\""), 0), 0);
	assert_int_equal(json_scan_string(S("a"), 0), 0);
	assert_int_equal(json_scan_string(S(""), 0), 0);
}

static void numbers_follow_the_grammar(void **state UNUSED)
{
	assert_int_equal(json_scan_number(S("-0"), 0), 2);
	assert_int_equal(json_scan_number(S("12.50e+3,"), 0), 8);
	assert_int_equal(json_scan_number(S("01"), 0), 0);
	assert_int_equal(json_scan_number(S("1."), 0), 0);
	assert_int_equal(json_scan_number(S("1e"), 0), 0);
	assert_int_equal(json_scan_number(S("-"), 0), 0);
	assert_int_equal(json_scan_number(S("+1"), 0), 0);
	assert_int_equal(json_scan_number(S(""), 0), 0);
}

static void values_are_whole(void **state UNUSED)
{
	assert_int_equal(json_scan_value(S("{\"a\": [1, {}] }, 2"), 0), 15);
	assert_int_equal(json_scan_value(S("[]]"), 0), 2);
	assert_int_equal(json_scan_value(S("null "), 0), 4);
	assert_int_equal(json_scan_value(S("\"a]\"]"), 0), 4);
	assert_int_equal(json_scan_value(S("[1,]"), 0), 0);
	assert_int_equal(json_scan_value(S("{\"a\" 1}"), 0), 0);
	assert_int_equal(json_scan_value(S("[1"), 0), 0);
	assert_int_equal(json_scan_value(S(" 1"), 0), 0);
	assert_int_equal(json_scan_value(S("]"), 0), 0);
}

static void escapes_are_undone(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	json_scan_decode(S("\"a\\n\\u00e9\\ud83d\\ude00\\/\" rest"), 0, &b);
	assert_str(buf_str(&b), "a\n\xC3\xA9\xF0\x9F\x98\x80/");
	assert_int_equal(json_scan_escape(S("\\ud83d\\ude00"), 0, NULL), 12);
	assert_int_equal(json_scan_escape(S("\\ud83dx"), 0, NULL), 6);
	assert_int_equal(json_scan_escape(S("\\q"), 0, NULL), 0);
}

static void numbers_are_found_outside_of_strings(void **state UNUSED)
{
	struct str t = S("{\"a 1\": [-2, \"\\\"3\"], \"b\": 4e5}"), number;
	size_t at = 0;

	assert_true(json_scan_next_number(t, &at, &number));
	assert_str(number, "-2");
	assert_true(json_scan_next_number(t, &at, &number));
	assert_str(number, "4e5");
	assert_false(json_scan_next_number(t, &at, &number));
}

static void objects_and_arrays_are_found_in_any_text(void **state UNUSED)
{
	struct str t = S("see [this] and {\"a\": [1]} or [2");
	struct json_finder f;
	size_t begin, end;

	json_finder_init(&f, t);
	assert_true(json_finder_next(&f, 0, &begin, &end));
	assert_str(str_sub(t, begin, end - begin), "{\"a\": [1]}");
	assert_false(json_finder_next(&f, end, &begin, &end));
	json_finder_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_end_at_their_quote),
		cmocka_unit_test(numbers_follow_the_grammar),
		cmocka_unit_test(values_are_whole),
		cmocka_unit_test(escapes_are_undone),
		cmocka_unit_test(numbers_are_found_outside_of_strings),
		cmocka_unit_test(objects_and_arrays_are_found_in_any_text),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("json-scan", tests, NULL, NULL);
}
