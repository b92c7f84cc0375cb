#include "data/mask.h"

#include "data/big.h"

#include "unit.h"

static struct mask *mask_with(const char *values)
{
	struct mask *m = mask_open();
	AUTO_JSON *all = json_loads(values, 0, NULL);
	json_t *value;
	size_t i;

	assert_non_null(all);
	if (json_is_object(all))
		mask_add(m, all);
	json_array_foreach(all, i, value) mask_add(m, value);
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

static void a_number_beyond_64_bits_is_hidden_as_its_digits(void **state UNUSED)
{
	AUTO_JSON *values = json_array();
	AUTO_BUF text = BUF_INIT;
	struct mask *m = mask_open();
	struct arena a = ARENA_INIT;

	json_array_append_new(values, json_big(S("12345678901234567890")));
	json_array_append_new(values, json_big(S("98765432109876543210")));
	mask_add(m, json_array_get(values, 0));
	assert_str(mask_text(m, S("x12345678901234567890"), &a), "x***");
	AUTO_JSON *masked = mask_json(m, values);
	json_write(&text, masked, 0);
	assert_str(buf_str(&text), "[\"***\",98765432109876543210]");
	arena_done(&a);
	mask_free(m);
}

static void a_number_is_hidden_as_json_and_as_step_recipes_write_it(void **state UNUSED)
{
	assert_masked("[1234567e12]", "1234567000000000000 1.234567e+18", "*** ***");
	assert_masked("[-1.5e-7]", "-1.5e-7 -1.5e-07 1.5e-07", "*** *** 1.5e-07");
	assert_masked("[{\"a\":[123456.0]}]", "123456 123456.0", "*** ***");
	assert_masked("[123456]", "123456.0", "***.0");
}

static void short_texts_are_left(void **state UNUSED)
{
	assert_masked("[\"abc\", \"\"]", "abc", "abc");
}

static void what_was_added_can_be_asked_for(void **state UNUSED)
{
	struct mask *m = mask_with("[\"first\"]");
	size_t before = mask_count(m);

	mask_add_text(m, S("second"));
	mask_add_text(m, S("first"));
	AUTO_JSON *added = mask_texts(m, before);
	assert_int_equal(json_array_size(added), 1);
	assert_str(json_str(json_array_get(added, 0)), "second");
	mask_free(m);
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

static void each_line_is_a_secret(void **state UNUSED)
{
	const char *secrets = "[\"first-line\\n  second-line\\r\\nshort\\n\"]";

	assert_masked(secrets, "first-line\n  second-line\r\nshort\n.", "***.");
	assert_masked(secrets, "[0] first-line\n[0]   second-line\r\n[0] short\n",
		"[0] ***\n[0]   ***\r\n[0] short\n");
}

static void assert_part(const char *secrets, const char *text, unsigned cut, const char *want)
{
	struct mask *m = mask_with(secrets);
	struct arena a = ARENA_INIT;

	assert_str(mask_part(m, str_of(text), cut, &a), want);
	arena_done(&a);
	mask_free(m);
}

static void pieces_at_cut_edges_are_hidden(void **state UNUSED)
{
	const char *secrets = "[\"password\", \"word-of-honour\"]";

	assert_part(secrets, "sword is wrong", MASK_CUT_FRONT, "*** is wrong");
	assert_part(secrets, "sword is wrong", 0, "sword is wrong");
	assert_part(secrets, "ord is wrong", MASK_CUT_FRONT, "ord is wrong");
	assert_part(secrets, "honour password pass", MASK_CUT_FRONT | MASK_CUT_BACK, "*** *** ***");
	assert_part(secrets, "it is word-of-hon", MASK_CUT_BACK, "it is ***");
	assert_part(secrets, "it is password", MASK_CUT_BACK, "it is ***");
	assert_part(secrets, "password-of-hon", MASK_CUT_BACK, "***");
	assert_part(secrets, "password", MASK_CUT_FRONT, "***");
	assert_part("[\"aaaaab\"]", "aab", MASK_CUT_FRONT, "aab");
	assert_part("[\"aaaaab\"]", "aaab", MASK_CUT_FRONT, "***");
	assert_part("[\"aaaaaa\"]", "aaaaa", MASK_CUT_FRONT, "***");
	assert_part(secrets, "", MASK_CUT_FRONT | MASK_CUT_BACK, "");
}

/* However a text is cut into pieces, it is shown as it is shown whole. */
static void a_text_in_pieces_is_masked_as_a_whole(void **state UNUSED)
{
	static const char *const texts[] = { "the password is word", "passpassword-of-honour, swor",
		"abcdef abc aaaaaaaaab", "password", "abcdXcdefYpassword",
		"first-line\nsecond-line\nthird-line", "first-line\nsecond-line\nno", "" };
	struct mask *m =
		mask_with("[\"password\", \"word-of-honour\", \"abcd\", \"cdef\", \"aaaa\", "
			  "\"abcdXcdefYpassword!\", \"first-line\\nsecond-line\\nthird-line\"]");

	for (size_t t = 0; t < ARRAY_SIZE(texts); t++) {
		struct str text = str_of(texts[t]);

		for (size_t each = 1; each <= text.len + 1; each++) {
			struct arena a = ARENA_INIT;
			AUTO_BUF kept = BUF_INIT;
			AUTO_BUF shown = BUF_INIT;

			for (size_t at = 0; at < text.len; at += each)
				buf_add(&shown, mask_piece(m, &kept,
							str_sub(text, at, MIN(each, text.len - at)),
							false, &a));
			buf_add(&shown, mask_piece(m, &kept, S(""), true, &a));
			assert_int_equal(kept.len, 0);
			assert_str(buf_str(&shown), mask_text(m, text, &a).p);
			arena_done(&a);
		}
	}
	mask_free(m);
}

static void what_cannot_be_a_secret_is_shown_at_once(void **state UNUSED)
{
	struct mask *m = mask_with("[\"password\"]");
	struct arena a = ARENA_INIT;
	AUTO_BUF kept = BUF_INIT;

	assert_str(mask_piece(m, &kept, S("name: "), false, &a), "name: ");
	assert_str(mask_piece(m, &kept, S("a pass"), false, &a), "a ");
	assert_str(mask_piece(m, &kept, S("age\n"), false, &a), "passage\n");
	arena_done(&a);
	mask_free(m);
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

static void it_is_found_as_json_in_a_command(void **state UNUSED)
{
	static const char secret[] = "[\"it's-a\\\"quote\"]";

	assert_masked(secret, "say '{\"k\":\"it'\\''s-a\\\"quote\"}'", "say '{\"k\":\"***\"}'");
	assert_masked(
		secret, "say $'\\t{\"k\":\"it\\'s-a\\\\\"quote\"}'", "say $'\\t{\"k\":\"***\"}'");
}

static void it_is_found_as_step_recipes_write_it_in_a_list(void **state UNUSED)
{
	static const char secret[] = "[\"it's p\xc3\xa4ss\"]";

	assert_masked(secret, "[\"it's p\\u00e4ss\"]", "[\"***\"]");
	assert_masked(secret, "say '[\"it'\\''s p\\u00e4ss\"]'", "say '[\"***\"]'");
	assert_masked(secret, "say $'\\t[\"it\\'s p\\\\u00e4ss\"]'", "say $'\\t[\"***\"]'");
}

static void an_object_or_an_array_is_hidden_as_a_whole(void **state UNUSED)
{
	static const char secrets[] = "[{\"name\":[1,2.0],\"b\":\"\xc3\xa9\"},[\"ab\"],[],{}]";
	struct mask *m = mask_with(secrets);
	AUTO_JSON *value = json_loads("{\"b\":[\"ab\",[\"ab\"]],\"name\":1}", 0, NULL);
	AUTO_JSON *same = json_loads("[\"ab\"]", 0, NULL);
	AUTO_BUF text = BUF_INIT;

	assert_masked(secrets, "x {\"name\":[1,2],\"b\":\"\xc3\xa9\"} [] {}", "x *** [] {}");
	assert_masked(secrets, "{\"name\": [1, 2.0], \"b\": \"\\u00e9\"}", "***");
	assert_masked(secrets, "say '{\"name\": [1, 2.0], \"b\": \"\\u00e9\"}'", "say '***'");
	assert_masked(secrets, "name b [1,2] [\"ab\"]", "name b [1,2] ***");
	AUTO_JSON *shown = mask_value(m, same);
	assert_str(json_str(shown), MASKED);
	AUTO_JSON *other = mask_value(m, value);
	json_write(&text, other, 0);
	assert_str(buf_str(&text), "{\"b\":[\"ab\",\"***\"],\"name\":1}");
	mask_free(m);
}

static void a_text_that_is_json_is_hidden_in_parts(void **state UNUSED)
{
	static const char secret[] = "[\" {\\\"user\\\": \\\"alice\\\", \\\"l\\\": [77777, "
				     "\\\"[\\\\\\\"deep\\\\\\\"]\\\"]}\\n\"]";

	assert_masked(secret, "alice user 77777 deep", "*** user *** ***");
	assert_masked(secret, "{\"user\":\"alice\",\"l\":[77777,\"[\\\"deep\\\"]\"]}", "***");
	assert_masked("[\"{no json, but some\"]", "no json, but some", "no json, but some");
}

static void what_is_cut_is_hidden_before_three_dots(void **state UNUSED)
{
	assert_masked("[\"abcdefgh\"]", "x abcdef… abc… abcdefgh…", "x ***… abc… ***…");
	assert_masked("[\"abcdefgh\",\"cdefx\"]", "abcdef…", "***…");
	assert_masked("[\"ab…cdef\"]", "ab…cdef ab… ab…cde…", "*** ab… ***…");
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
	struct mask *m = mask_with("[\"word\",73315]");
	AUTO_JSON *doc = json_loads(
		"{\"a\":[\"sword\",1,null,173315,73315],\"b\":{\"c\":\"word\"}}", 0, NULL);
	AUTO_JSON *masked = mask_json(m, doc);
	AUTO_BUF text = BUF_INIT;

	json_write(&text, masked, 0);
	assert_str(
		buf_str(&text), "{\"a\":[\"s***\",1,null,173315,\"***\"],\"b\":{\"c\":\"***\"}}");
	mask_free(m);
}

static void names_are_masked_in_values(void **state UNUSED)
{
	struct mask *m = mask_with("[\"word\",\"pass\"]");
	AUTO_JSON *doc = json_loads("{\"word\":{\"a word\":1},\"pass\":\"word\"}", 0, NULL);
	AUTO_JSON *document = mask_json(m, doc);
	AUTO_JSON *value = mask_value(m, doc);
	AUTO_BUF text = BUF_INIT;

	json_write(&text, document, 0);
	assert_str(buf_str(&text), "{\"word\":{\"a word\":1},\"pass\":\"***\"}");
	buf_reset(&text);
	json_write(&text, value, 0);
	assert_str(buf_str(&text), "{\"***\":{\"a ***\":1},\"****\":\"***\"}");
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
		cmocka_unit_test(a_number_beyond_64_bits_is_hidden_as_its_digits),
		cmocka_unit_test(a_number_is_hidden_as_json_and_as_step_recipes_write_it),
		cmocka_unit_test(short_texts_are_left),
		cmocka_unit_test(the_longer_one_wins),
		cmocka_unit_test(what_overlaps_is_one),
		cmocka_unit_test(each_line_is_a_secret),
		cmocka_unit_test(pieces_at_cut_edges_are_hidden),
		cmocka_unit_test(a_text_in_pieces_is_masked_as_a_whole),
		cmocka_unit_test(what_cannot_be_a_secret_is_shown_at_once),
		cmocka_unit_test(it_is_found_as_json_and_trimmed),
		cmocka_unit_test(it_is_found_in_a_command_as_people_read_it),
		cmocka_unit_test(it_is_found_as_json_in_a_command),
		cmocka_unit_test(it_is_found_as_step_recipes_write_it_in_a_list),
		cmocka_unit_test(an_object_or_an_array_is_hidden_as_a_whole),
		cmocka_unit_test(a_text_that_is_json_is_hidden_in_parts),
		cmocka_unit_test(what_is_cut_is_hidden_before_three_dots),
		cmocka_unit_test(one_may_be_added_later),
		cmocka_unit_test(what_was_added_can_be_asked_for),
		cmocka_unit_test(documents_are_masked_in_every_string),
		cmocka_unit_test(names_are_masked_in_values),
		cmocka_unit_test(many_secrets_cost_no_more_than_one),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("mask", tests, NULL, NULL);
}
