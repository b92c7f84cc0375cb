#include "base/utf8.h"

#include "unit.h"

static void characters_of_every_length_are_decoded(void **state UNUSED)
{
	static const struct {
		const char *bytes;
		uint32_t c;
	} good[] = { { "a", 'a' }, { "\x7f", 0x7f }, { "\xc2\x80", 0x80 }, { "\xdf\xbf", 0x7ff },
		{ "\xe0\xa0\x80", 0x800 }, { "\xed\x9f\xbf", 0xD7FF }, { "\xee\x80\x80", 0xE000 },
		{ "\xef\xbf\xbf", 0xFFFF }, { "\xf0\x90\x80\x80", 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 0x10FFFF } };
	AUTO_BUF again = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct str s = str_of(good[i].bytes);
		uint32_t c;

		assert_int_equal(utf8_decode(s, 0, &c), s.len);
		assert_int_equal(c, good[i].c);
		assert_true(utf8_valid(s));
		buf_reset(&again);
		utf8_add(&again, c);
		assert_bytes(buf_str(&again), s);
	}
}

static void what_is_no_character_counts_one_byte(void **state UNUSED)
{
	static const char *const bad[] = { "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2",
		"\xe0\x80\x80", "\xe0\xa0", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80",
		"\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xfe", "\xff", "\xc3(",
		"\xe2\x82(" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct str s = str_of(bad[i]);
		uint32_t c;

		assert_int_equal(utf8_decode(s, 0, &c), 1);
		assert_int_equal(c, UTF8_INVALID);
		assert_false(utf8_valid(s));
		assert_int_equal(utf8_find_invalid(s), 0);
	}
}

static void the_first_invalid_byte_is_found(void **state UNUSED)
{
	assert_int_equal(utf8_find_invalid(S("a\xc3\xa9\xff b")), 3);
	assert_int_equal(utf8_find_invalid(S("a\0b")), 3);
	assert_int_equal(utf8_find_invalid(S("")), 0);
}

static void counting_and_cutting_go_by_characters(void **state UNUSED)
{
	assert_int_equal(utf8_count(S("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff")), 5);
	assert_str(utf8_head(S("\xc3\xa9\xc3\xa9\xc3\xa9"), 2), "\xc3\xa9\xc3\xa9");
	assert_str(utf8_head(S("ab"), 9), "ab");
	assert_str(utf8_head(S("ab"), 0), "");
	assert_str(utf8_head(S("\xff\xff"), 1), "\xff");
}

static void no_cut_goes_through_a_character(void **state UNUSED)
{
	struct str s = S("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");

	for (size_t max = 0; max <= s.len + 1; max++) {
		assert_true(utf8_valid(utf8_cut(s, max)));
		assert_true(utf8_cut(s, max).len <= max);
		assert_true(utf8_cut(s, max).len + 3 >= MIN(max, s.len));
		assert_true(utf8_valid(utf8_tail(s, max)));
		assert_true(utf8_tail(s, max).len <= max);
		assert_true(utf8_tail(s, max).len + 3 >= MIN(max, s.len));
	}
	/* Where there is no text, a cut is only a cut. */
	assert_int_equal(utf8_cut(S("\x80\x80\x80\x80\x80\x80"), 5).len, 5);
}

static void blanks_are_those_of_the_template_language(void **state UNUSED)
{
	static const uint32_t blank[] = { 9, 10, 11, 12, 13, 32, 0xA0, 0x1680, 0x2000, 0x2005,
		0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF };
	static const uint32_t other[] = { 0, 8, 14, 31, 33, 0x85, 0x180E, 0x1FFF, 0x200B, 0x2060,
		0x2FFF, UTF8_INVALID };

	for (size_t i = 0; i < ARRAY_SIZE(blank); i++)
		assert_true(utf8_blank(blank[i]));
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		assert_false(utf8_blank(other[i]));
	assert_str(utf8_trim(S("\xc2\xa0 a\xe3\x80\x80z\t\xef\xbb\xbf")), "a\xe3\x80\x80z");
	assert_str(utf8_trim(S(" \xe2\x80\xa8")), "");
	assert_str(utf8_trim(S("\xff ")), "\xff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_of_every_length_are_decoded),
		cmocka_unit_test(what_is_no_character_counts_one_byte),
		cmocka_unit_test(the_first_invalid_byte_is_found),
		cmocka_unit_test(counting_and_cutting_go_by_characters),
		cmocka_unit_test(no_cut_goes_through_a_character),
		cmocka_unit_test(blanks_are_those_of_the_template_language),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
