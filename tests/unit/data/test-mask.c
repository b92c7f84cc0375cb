#include "data/mask.h"

#include "unit.h"

static struct mask *mask_with(const char *values)
{
	struct mask *m = mask_open();
	AUTO_JSON *all = json_loads(values, 0, NULL);

	assert_non_null(all);
	mask_add(m, all);
	return m;
}

static void assert_masked(const char *secrets, const char *text, const char *want)
{
	struct mask *m = mask_with(secrets);
	struct arena a = ARENA_INIT;

	assert_str(mask_text(m, str_of(text), &a), want);
	arena_done(&a);
	mask_free(m);
}

static void each_secret_becomes_three_stars(void **state UNUSED)
{
	assert_masked("[\"word\"]", "a word, a sword, no wor", "a ***, a s***, no wor");
	assert_masked("[\"word\"]", "wordword", "******");
	assert_masked("[\"word\"]", "", "");
	assert_masked("[]", "word", "word");
	assert_masked("[12345, true]", "12345 true", "*** true");
}

static void short_texts_are_left(void **state UNUSED)
{
	assert_masked("[\"abc\", \"\"]", "abc", "abc");
}

static void the_longer_one_wins(void **state UNUSED)
{
	assert_masked("[\"word\", \"password\"]", "password word pass", "*** *** pass");
	assert_masked("[\"abcdef\", \"bcde\"]", "abcdef abcde", "*** a***");
}

/* The end of the second would be shown if the first one only were replaced. */
static void what_overlaps_is_one(void **state UNUSED)
{
	assert_masked("[\"abcd\", \"cdef\"]", "abcdef", "***");
	assert_masked("[\"abcd\", \"cdef\", \"xabcdefgh\"]", "abcdef xabcdefgh", "*** ***");
	assert_masked("[\"aaaa\"]", "aaaaaaa b", "*** b");
}

static void it_is_found_as_json_and_trimmed(void **state UNUSED)
{
	assert_masked("[\"say \\\"x\\\"\\n\"]", "{\"a\":\"say \\\"x\\\"\"}", "{\"a\":\"***\"}");
	assert_masked("{\"a\": {\"b\": [\"deep-down\"]}}", "deep-down", "***");
}

static void it_is_found_in_a_command_as_people_read_it(void **state UNUSED)
{
	assert_masked("[\"it's me\"]", "say 'it'\\''s me'", "say '***'");
	assert_masked("[\"a\\tb'c\"]", "say $'x a\\tb\\'c'", "say $'x ***'");
}

static void one_may_be_added_later(void **state UNUSED)
{
	struct mask *m = mask_with("[\"abcd\"]");
	struct arena a = ARENA_INIT;

	assert_str(mask_text(m, S("xxabcd"), &a), "xx***");
	mask_add_text(m, S("zabcd"));
	mask_add_text(m, S("yxxabcdy"));
	mask_add_text(m, S("xabcd"));
	assert_str(mask_text(m, S("yxxabcd yxxabcdy zabcd"), &a), "yx*** *** ***");
	arena_done(&a);
	mask_free(m);
}

static void documents_are_masked_in_every_string(void **state UNUSED)
{
	struct mask *m = mask_with("[\"word\"]");
	AUTO_JSON *doc = json_loads("{\"a\":[\"sword\",1,null],\"b\":{\"c\":\"word\"}}", 0, NULL);
	AUTO_JSON *masked = mask_json(m, doc);
	AUTO_BUF text = BUF_INIT;

	json_write(&text, masked, 0);
	assert_str(buf_str(&text), "{\"a\":[\"s***\",1,null],\"b\":{\"c\":\"***\"}}");
	mask_free(m);
}

/* 20,000 secrets with one beginning, and texts that are nothing but that beginning: comparing them
 * one by one would take minutes. */
static void many_secrets_cost_no_more_than_one(void **state UNUSED)
{
	struct mask *m = mask_open();
	struct arena a = ARENA_INIT;
	AUTO_BUF text = BUF_INIT;

	for (int i = 0; i < 20000; i++)
		mask_add_text(m, arena_printf(&a, "a-common-beginning-of-tokens-%05d", i));
	mask_add_text(m, arena_printf(&a, "%0100000d", 1));
	/* The zeros begin with one more token. */
	for (int i = 0; i < 200000; i++)
		buf_adds(&text, i % 1000 ? "a-common-beginning-of-tokens-"
					 : "a-common-beginning-of-tokens-12345");
	buf_fill(&text, '0', 4000000);
	struct str masked = mask_text(m, buf_str(&text), &a);
	assert_int_equal(text.len - masked.len, 201 * 31);
	arena_done(&a);
	mask_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_secret_becomes_three_stars),
		cmocka_unit_test(short_texts_are_left),
		cmocka_unit_test(the_longer_one_wins),
		cmocka_unit_test(what_overlaps_is_one),
		cmocka_unit_test(it_is_found_as_json_and_trimmed),
		cmocka_unit_test(it_is_found_in_a_command_as_people_read_it),
		cmocka_unit_test(one_may_be_added_later),
		cmocka_unit_test(documents_are_masked_in_every_string),
		cmocka_unit_test(many_secrets_cost_no_more_than_one),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("mask", tests, NULL, NULL);
}
