#include "unit.h"

static void equality_is_by_bytes_and_length(void **state UNUSED)
{
	assert_true(str_eq(S(""), S("")));
	assert_true(str_eq((struct str){ NULL, 0 }, S("")));
	assert_true(str_eq(S("a\0b"), S("a\0b")));
	assert_false(str_eq(S("a\0b"), S("a\0c")));
	assert_false(str_eq(S("a"), S("ab")));
}

static void order_is_by_bytes_then_length(void **state UNUSED)
{
	assert_int_equal(str_cmp(S("abc"), S("abc")), 0);
	assert_true(str_cmp(S("ab"), S("abc")) < 0);
	assert_true(str_cmp(S("b"), S("abc")) > 0);
	assert_true(str_cmp(S("\xc3\xa9"), S("z")) > 0);
	assert_true(str_cmp((struct str){ NULL, 0 }, S("a")) < 0);
}

static void a_null_pointer_is_the_empty_string(void **state UNUSED)
{
	assert_str(str_of(NULL), "");
}

static void beginnings_ends_and_parts_are_found(void **state UNUSED)
{
	assert_true(str_starts(S("template"), S("temp")));
	assert_true(str_starts(S("x"), S("")));
	assert_false(str_starts(S("te"), S("temp")));
	assert_true(str_ends(S("a.length"), S(".length")));
	assert_false(str_ends(S("length"), S(".length")));
	assert_true(str_contains(S("one two"), S("e t")));
	assert_true(str_contains(S("one"), S("")));
	assert_false(str_contains(S("one"), S("one ")));
}

static void find_says_the_length_when_there_is_none(void **state UNUSED)
{
	assert_int_equal(str_find(S("a.b.c"), '.', 0), 1);
	assert_int_equal(str_find(S("a.b.c"), '.', 2), 3);
	assert_int_equal(str_find(S("a.b.c"), '.', 4), 5);
	assert_int_equal(str_find(S("abc"), 'x', 0), 3);
	assert_int_equal(str_find(S("abc"), 'a', 99), 3);
	assert_int_equal(str_find(S("a\0b"), '\0', 0), 1);
}

static void trim_takes_white_space_at_both_ends_only(void **state UNUSED)
{
	assert_str(str_trim(S(" \t\r\n\v\fa b \n")), "a b");
	assert_str(str_trim(S(" \n ")), "");
	assert_str(str_trim(S("")), "");
}

static void case_is_ignored_for_ascii_letters_only(void **state UNUSED)
{
	assert_true(str_eq_nocase(S("YeS"), S("yEs")));
	assert_false(str_eq_nocase(S("yes"), S("yes ")));
	assert_false(str_eq_nocase(S("@"), S("`")));
	assert_false(str_eq_nocase(S("\xc3\x89"), S("\xc3\xa9")));
}

static void whole_numbers_are_read_up_to_their_limits(void **state UNUSED)
{
	int64_t n = 7;
	uint64_t u = 7;

	assert_true(str_to_int(S("0"), &n));
	assert_int_equal(n, 0);
	assert_true(str_to_int(S("-0"), &n));
	assert_int_equal(n, 0);
	assert_true(str_to_int(S("007"), &n));
	assert_int_equal(n, 7);
	assert_true(str_to_int(S("9223372036854775807"), &n));
	assert_true(n == INT64_MAX);
	assert_true(str_to_int(S("-9223372036854775808"), &n));
	assert_true(n == INT64_MIN);
	assert_true(str_to_uint(S("18446744073709551615"), &u));
	assert_true(u == UINT64_MAX);
}

static void what_is_no_whole_number_is_refused_and_changes_nothing(void **state UNUSED)
{
	static const char *const bad[] = { "", "-", "+1", " 1", "1 ", "1.0", "1e3", "0x10", "--1",
		"9223372036854775808", "-9223372036854775809", "99999999999999999999",
		"1\xc2\xa0" };
	int64_t n = 42;
	uint64_t u = 42;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_false(str_to_int(str_of(bad[i]), &n));
		assert_int_equal(n, 42);
	}
	assert_false(str_to_int(S("1\0"), &n));
	assert_false(str_to_uint(S("-1"), &u));
	assert_false(str_to_uint(S("18446744073709551616"), &u));
	assert_int_equal(u, 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equality_is_by_bytes_and_length),
		cmocka_unit_test(order_is_by_bytes_then_length),
		cmocka_unit_test(a_null_pointer_is_the_empty_string),
		cmocka_unit_test(beginnings_ends_and_parts_are_found),
		cmocka_unit_test(find_says_the_length_when_there_is_none),
		cmocka_unit_test(trim_takes_white_space_at_both_ends_only),
		cmocka_unit_test(case_is_ignored_for_ascii_letters_only),
		cmocka_unit_test(whole_numbers_are_read_up_to_their_limits),
		cmocka_unit_test(what_is_no_whole_number_is_refused_and_changes_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
