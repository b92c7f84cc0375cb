#include "http/decode.h"

#include "unit.h"

static struct arena arena;

static int end(void **state UNUSED)
{
	arena_done(&arena);
	return 0;
}

static void segments_are_decoded_once_and_strictly(void **state UNUSED)
{
	static const char *const bad[] = { "%", "%4", "%zz", "%00", "%2f", "a/b", "%0a", "%7f", ".",
		"..", "%2e", "%2e%2e", "%ff", "%c0%af" };
	struct str s;

	assert_true(decode_text(&arena, S("a%20b%2525+c"), DECODE_SEGMENT, &s));
	assert_str(s, "a b%25+c");
	assert_true(decode_text(&arena, S("..."), DECODE_SEGMENT, &s));
	assert_true(decode_text(&arena, S(""), DECODE_SEGMENT, &s));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(decode_text(&arena, str_of(bad[i]), DECODE_SEGMENT, &s));
}

static void a_path_is_its_segments(void **state UNUSED)
{
	struct str s[HTTP_SEGMENTS_MAX];
	size_t n = 0;

	assert_true(decode_path(&arena, S("/"), s, &n));
	assert_int_equal(n, 1);
	assert_str(s[0], "");
	assert_true(decode_path(&arena, S("/api/v1/"), s, &n));
	assert_int_equal(n, 3);
	assert_str(s[1], "v1");
	assert_str(s[2], "");
	assert_false(decode_path(&arena, S("x"), s, &n));
	assert_false(decode_path(&arena, S(""), s, &n));
	assert_false(decode_path(&arena, S("/a/../b"), s, &n));
}

static void fields_have_names_and_values(void **state UNUSED)
{
	http_field_vec f = { 0 };

	assert_null(decode_fields(&arena, S("a=1&&b&c=x+y%26&a=2&="), DECODE_QUERY, &f));
	assert_int_equal(f.len, 5);
	assert_str(f.at[1].name, "b");
	assert_str(f.at[1].value, "");
	assert_str(f.at[2].value, "x y&");
	assert_str(f.at[3].value, "2");
	f.len = 0;
	assert_non_null(decode_fields(&arena, S("a=%0a"), DECODE_QUERY, &f));
	f.len = 0;
	assert_null(decode_fields(&arena, S("a=%0d%0a"), DECODE_FORM, &f));
	vec_done(&f);
}

static void a_cookie_is_found_by_its_whole_name(void **state UNUSED)
{
	struct str v;

	assert_true(decode_cookie(S("a=1; roux_7=x=y ;b"), S("roux_7"), &v));
	assert_str(v, "x=y");
	assert_false(decode_cookie(S("xroux_7=1; roux_77=2"), S("roux_7"), &v));
	assert_false(decode_cookie(S("roux_7=1; roux_7=2"), S("roux_7"), &v));
	assert_false(decode_cookie(S("roux_7"), S("roux_7"), &v));
	assert_false(decode_cookie(S(""), S("roux_7"), &v));
}

static void check_range(
	const char *text, uint64_t size, enum range_kind kind, uint64_t from, uint64_t to)
{
	uint64_t a = 0, b = 0;

	assert_int_equal(decode_range(str_of(text), size, &a, &b), kind);
	if (kind == RANGE_PART) {
		assert_int_equal(a, from);
		assert_int_equal(b, to);
	}
}

static void one_range_is_understood(void **state UNUSED)
{
	check_range("bytes=0-0", 10, RANGE_PART, 0, 1);
	check_range("bytes=2-", 10, RANGE_PART, 2, 10);
	check_range("bytes=-3", 10, RANGE_PART, 7, 10);
	check_range("bytes=-30", 10, RANGE_PART, 0, 10);
	check_range("bytes=9-18446744073709551615", 10, RANGE_PART, 9, 10);
	check_range("bytes=10-", 10, RANGE_BEYOND, 0, 0);
	check_range("bytes=-0", 10, RANGE_BEYOND, 0, 0);
	check_range("bytes=0-", 0, RANGE_BEYOND, 0, 0);
	check_range("bytes=3-2", 10, RANGE_NONE, 0, 0);
	check_range("bytes=0-1,3-4", 10, RANGE_NONE, 0, 0);
	check_range("bytes=-", 10, RANGE_NONE, 0, 0);
	check_range("bytes=a-b", 10, RANGE_NONE, 0, 0);
	check_range("lines=0-1", 10, RANGE_NONE, 0, 0);
	check_range("bytes=99999999999999999999-", 10, RANGE_NONE, 0, 0);
}

static void lists_are_searched_without_parameters(void **state UNUSED)
{
	assert_true(decode_lists(S("text/html, a/b;q=0.1"), S("a/b")));
	assert_true(decode_lists(S("TEXT/HTML ;q=1"), S("text/html")));
	assert_false(decode_lists(S("text/htmlx"), S("text/html")));
	assert_true(decode_etags(S("\"a\", W/\"b\""), S("\"b\"")));
	assert_true(decode_etags(S("*"), S("\"b\"")));
	assert_false(decode_etags(S(""), S("\"b\"")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_are_decoded_once_and_strictly),
		cmocka_unit_test(a_path_is_its_segments),
		cmocka_unit_test(fields_have_names_and_values),
		cmocka_unit_test(a_cookie_is_found_by_its_whole_name),
		cmocka_unit_test(one_range_is_understood),
		cmocka_unit_test(lists_are_searched_without_parameters),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, end);
}
