#include "base/utf8.h"
#include "hosts/telegram/text/unicode.h"
#include "unit.h"

static void letters_and_digits_are_those_of_all_scripts(void **state)
{
	static const uint32_t yes[] = { 'a', 'Z', '0', 0xE9, 0x436, 0x5D0, 0x4E00, 0x3042, 0x661,
		0xBD, 0x1D400 };
	static const uint32_t no[] = { ' ', '_', '*', 0x300, 0x2014, 0x3002, 0x1F600, 0xE000,
		UTF8_INVALID };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		assert_true(unicode_alnum(yes[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		assert_false(unicode_alnum(no[i]));
}

static void a_length_is_in_units_of_utf16(void **state)
{
	(void)state;
	assert_int_equal(unicode_units(S("")), 0);
	assert_int_equal(unicode_units(S("aé日😀")), 5);
}

/* Clusters of a text, a bar between them. */
static struct str clusters(struct arena *a, struct str s)
{
	struct str all = S("");

	for (size_t i = 0, next; i < s.len; i = next) {
		next = grapheme_next(s, i);
		all = arena_printf(
			a, "%.*s%s%.*s", STR(all), i ? "|" : "", STR(str_sub(s, i, next - i)));
	}
	return all;
}

static void a_cluster_is_what_a_reader_takes_for_one_character(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	assert_str(clusters(&a, S("ab")), "a|b");
	assert_str(clusters(&a, S("e\xcc\x81x")), "e\xcc\x81|x");
	assert_str(clusters(&a, S("👩‍💻👩‍💻")), "👩‍💻|👩‍💻");
	assert_str(clusters(&a, S("👍🏽!")), "👍🏽|!");
	assert_str(clusters(&a, S("🇫🇷🇩🇪🇪")), "🇫🇷|🇩🇪|🇪");
	assert_str(clusters(&a, S("1️⃣2")), "1️⃣|2");
	assert_str(clusters(&a, S("각각")), "각|각");
	assert_str(clusters(&a, S("\r\n\n")), "\r\n|\n");
	assert_str(clusters(&a, S("नि")), "नि");
	/* A joiner joins pictures only. */
	assert_str(clusters(&a, S("a\xe2\x80\x8d"
				  "b")),
		"a\xe2\x80\x8d|b");
	arena_done(&a);
}

static void widths_are_those_of_a_screen(void **state)
{
	(void)state;
	assert_int_equal(unicode_width(S("abc")), 3);
	assert_int_equal(unicode_width(S("日本")), 4);
	assert_int_equal(unicode_width(S("👩‍💻")), 2);
	assert_int_equal(unicode_width(S("🇫🇷")), 2);
	assert_int_equal(unicode_width(S("1️⃣")), 2);
	assert_int_equal(unicode_width(S("❤️ ok")), 5);
	assert_int_equal(unicode_width(S("e\xcc\x81")), 1);
	assert_int_equal(unicode_width(S("©")), 1);
	assert_int_equal(unicode_width(S("©️")), 2);
	assert_int_equal(unicode_width(S("\xff")), 1);
}

static void a_cut_keeps_clusters_whole(void **state)
{
	(void)state;
	assert_str(unicode_cut(S("ab👩‍💻"), 6), "ab");
	assert_str(unicode_cut(S("ab👩‍💻"), 7), "ab👩‍💻");
	assert_str(unicode_cut(S("abc"), 2), "ab");
	assert_str(unicode_cut(S("e\xcc\x81"), 1), "");
}

static void what_is_not_text_becomes_the_replacement_character(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	assert_str(unicode_clean(&a, S("a\xff\0b")), "a\xef\xbf\xbd\xef\xbf\xbd"
						     "b");
	assert_str(unicode_clean(&a, S("é")), "é");
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_and_digits_are_those_of_all_scripts),
		cmocka_unit_test(a_length_is_in_units_of_utf16),
		cmocka_unit_test(a_cluster_is_what_a_reader_takes_for_one_character),
		cmocka_unit_test(widths_are_those_of_a_screen),
		cmocka_unit_test(a_cut_keeps_clusters_whole),
		cmocka_unit_test(what_is_not_text_becomes_the_replacement_character),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("unicode", tests, NULL, NULL);
}
