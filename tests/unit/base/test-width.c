#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/width.h"

static void latin_greek_and_box_drawing_take_one_column(void **state)
{
	static const uint32_t narrow[] = { ' ', 'a', '~', 0xA0, 0xE9, 0x3B1, 0x410, 0x5D0, 0x2026,
		0x2500, 0x25CF, 0x2713, 0x28FF, 0xFF61, 0xFFFD, 0x1D400, 0x10FFFF };

	(void)state;
	for (size_t i = 0; i < sizeof(narrow) / sizeof(*narrow); i++)
		assert_int_equal(width_of(narrow[i]), 1);
}

static void marks_and_invisible_characters_take_none(void **state)
{
	static const uint32_t none[] = { 0x300, 0x36F, 0x483, 0x5BF, 0x64B, 0x93C, 0xE31, 0x1160,
		0x200B, 0x200D, 0x20D0, 0x302A, 0x3099, 0xFE00, 0xFE0F, 0xFE20, 0xFEFF, 0x1D167,
		0xE0001, 0xE0100, 0xE01EF };

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(width_of(none[i]), 0);
}

static void east_asian_text_and_emoji_take_two(void **state)
{
	static const uint32_t wide[] = { 0x1100, 0x115F, 0x231A, 0x26A1, 0x2705, 0x3000, 0x3042,
		0x30A2, 0x4E00, 0x9FFF, 0xAC00, 0xD7A3, 0xF900, 0xFF01, 0xFF60, 0xFFE0, 0x1F1E6,
		0x1F389, 0x1F600, 0x1F680, 0x1F9D1, 0x1FAF8, 0x20000, 0x2FFFD, 0x3FFFD };

	(void)state;
	for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++)
		assert_int_equal(width_of(wide[i]), 2);
}

static void neighbours_of_a_range_are_outside_it(void **state)
{
	(void)state;
	assert_int_equal(width_of(0x2FF), 1);
	assert_int_equal(width_of(0x370), 1);
	assert_int_equal(width_of(0x10FF), 1);
	assert_int_equal(width_of(0xD7A4), 1);
	assert_int_equal(width_of(0xFF00), 1);
	assert_int_equal(width_of(0x1FFFF), 1);
	assert_int_equal(width_of(0x3FFFE), 1);
}

static void a_text_is_as_wide_as_its_characters(void **state)
{
	(void)state;
	assert_int_equal(width_text(S("")), 0);
	assert_int_equal(width_text(S("abc")), 3);
	assert_int_equal(width_text(S("日本")), 4);
	assert_int_equal(width_text(S("e\xcc\x81")), 1);
	assert_int_equal(width_text(S("\xff\xfe")), 2);
}

static void a_cut_never_passes_the_columns(void **state)
{
	unsigned used = 99;

	(void)state;
	assert_int_equal(width_cut(S("abc"), 2, &used).len, 2);
	assert_int_equal(used, 2);
	assert_int_equal(width_cut(S("abc"), 10, &used).len, 3);
	assert_int_equal(used, 3);
	assert_int_equal(width_cut(S("abc"), 0, &used).len, 0);
	assert_int_equal(used, 0);
	/* Half a wide character is none. */
	assert_int_equal(width_cut(S("a日本"), 4, &used).len, 4);
	assert_int_equal(used, 3);
}

static void a_cut_keeps_the_marks_of_its_last_character(void **state)
{
	(void)state;
	assert_int_equal(width_cut(S("e\xcc\x81x"), 1, NULL).len, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latin_greek_and_box_drawing_take_one_column),
		cmocka_unit_test(marks_and_invisible_characters_take_none),
		cmocka_unit_test(east_asian_text_and_emoji_take_two),
		cmocka_unit_test(neighbours_of_a_range_are_outside_it),
		cmocka_unit_test(a_text_is_as_wide_as_its_characters),
		cmocka_unit_test(a_cut_never_passes_the_columns),
		cmocka_unit_test(a_cut_keeps_the_marks_of_its_last_character),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("width", tests, NULL, NULL);
}
