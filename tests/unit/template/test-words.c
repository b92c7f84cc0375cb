#include "template/words.h"

#include "base/buf.h"

#include "unit.h"

/* The words between bars; a word with a quoted part is followed by Q. */
static void assert_words(struct str line, struct str want)
{
	struct arena a = ARENA_INIT;
	AUTO_BUF got = BUF_INIT;
	struct word *words;
	size_t n = words_split(&a, line, &words);

	for (size_t i = 0; i < n; i++) {
		buf_addc(&got, '|');
		buf_add(&got, words[i].text);
		if (words[i].quoted)
			buf_adds(&got, "|Q");
	}
	assert_bytes(buf_str(&got), want);
	arena_done(&a);
}

static void blanks_end_words(void **state UNUSED)
{
	assert_words(S(""), S(""));
	assert_words(S(" \t\n "), S(""));
	assert_words(S("a"), S("|a"));
	assert_words(S("  a  b\tc\n"), S("|a|b|c"));
	assert_words(S("a\xc2\xa0z\xe3\x80\x80y"), S("|a|z|y"));
	assert_words(S("a\xc2\x85z\xe2\x80\x8bz"), S("|a\xc2\x85z\xe2\x80\x8bz"));
}

static void quotes_protect_everything_but_their_end(void **state UNUSED)
{
	assert_words(S("'a b' \"c d\""), S("|a b|Q|c d|Q"));
	assert_words(S("'a\\' b"), S("|a\\|Q|b"));
	assert_words(S("'\"' \"'\""), S("|\"|Q|'|Q"));
	assert_words(S("''"), S("||Q"));
	assert_words(S("a '' \"\""), S("|a||Q||Q"));
	assert_words(S("a'b'\"c\"d e"), S("|abcd|Q|e"));
	assert_words(S("--x=''"), S("|--x=|Q"));
}

static void a_quote_that_is_never_closed_takes_the_rest(void **state UNUSED)
{
	assert_words(S("a 'b c"), S("|a|b c|Q"));
	assert_words(S("a \"b \\\" c"), S("|a|b \" c|Q"));
	assert_words(S("'"), S("||Q"));
}

static void a_backslash_makes_the_next_character_literal(void **state UNUSED)
{
	assert_words(S("a\\ b"), S("|a b"));
	assert_words(S("\\n \\' \\\" \\\\"), S("|n|'|\"|\\"));
	assert_words(S("\"a\\nb\\\"\""), S("|anb\"|Q"));
	assert_words(S("a\\"), S("|a\\"));
	assert_words(S("\\"), S("|\\"));
	assert_words(S("\"\\"), S("|\\|Q"));
	assert_words(S("\\\xc3\xa9 \\\xe3\x80\x80x"), S("|\xc3\xa9|\xe3\x80\x80x"));
	assert_words(S("\\{a\\}"), S("|{a}"));
}

static void nothing_else_is_special(void **state UNUSED)
{
	assert_words(S("$x * ? | & ; < > # ~ `y`"), S("|$x|*|?|||&|;|<|>|#|~|`y`"));
	assert_words(S("{a='x y'} {a=b c}"), S("|{a=x y}|Q|{a=b|c}"));
	assert_words(S("a\0b c"), S("|a\0b|c"));
	assert_words(S("\xff \xfe"), S("|\xff|\xfe"));
}

static void every_byte_of_a_word_is_found_in_its_line(void **state UNUSED)
{
	static const char *const lines[] = { "a bc", " 'x y'z \\q \"\\\"w\" ",
		"--o={f=\xc3\xa9} '' e", "a\\", "'open \xe2\x82\xac", "\\\xc3\xa9" };

	for (size_t l = 0; l < ARRAY_SIZE(lines); l++) {
		struct str line = str_of(lines[l]);
		struct arena a = ARENA_INIT;
		struct word *words;
		size_t n = words_split(&a, line, &words), last = 0;

		for (size_t w = 0; w < n; w++) {
			for (size_t at = 0; at < words[w].text.len; at++) {
				size_t found = words_locate(line, w, at);

				assert_true(found < line.len);
				assert_int_equal(line.p[found], words[w].text.p[at]);
				assert_true(found >= last);
				last = found;
			}
		}
		/* Past the end of a word, or of all words: still in the line. */
		for (size_t w = 0; w < n + 2; w++)
			assert_true(words_locate(line, w, 1000) <= line.len);
		arena_done(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks_end_words),
		cmocka_unit_test(quotes_protect_everything_but_their_end),
		cmocka_unit_test(a_quote_that_is_never_closed_takes_the_rest),
		cmocka_unit_test(a_backslash_makes_the_next_character_literal),
		cmocka_unit_test(nothing_else_is_special),
		cmocka_unit_test(every_byte_of_a_word_is_found_in_its_line),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
