#include "app/agents/screen.h"

#include "unit.h"

static void a_screen_shows_what_a_terminal_would(void **state UNUSED)
{
	static const struct {
		const char *bytes, *shown;
	} cases[] = {
		{ "", "" },
		{ "one\r\ntwo", "one\ntwo\n" },
		{ "one\ntwo", "one\n   two\n" },
		{ "abc\rX", "Xbc\n" },
		{ "ab\b\bX", "Xb\n" },
		{ "a\tb", "a       b\n" },
		{ "\x1b[31mred\x1b[0m", "red\n" },
		{ "\x1b[3;5Hhere\x1b[Htop", "top\n    here\n" },
		{ "word\x1b[1Cword", "word word\n" },
		{ "abcdef\x1b[3D\x1b[K", "abc\n" },
		{ "abcdef\x1b[4G\x1b[1K", "    ef\n" },
		{ "abcdef\x1b[1;2H\x1b[2P", "adef\n" },
		{ "abcdef\x1b[1;2H\x1b[2@", "a  bcdef\n" },
		{ "abcdef\x1b[1;2H\x1b[3X", "a   ef\n" },
		{ "a\r\nb\r\nc\x1b[1;1H\x1b[M", "b\nc\n" },
		{ "a\r\nb\x1b[1;1H\x1b[Lx", "x\na\nb\n" },
		{ "old\x1b[2J\x1b[Hnew", "new\n" },
		{ "old\x1b[?1049h\x1b[Hnew\x1b[?1049l", "new\n" },
		{ "\x1b]0;title\x07text", "text\n" },
		{ "\x1b]0;title\x1b\\text", "text\n" },
		{ "\x1bP1$r0m\x1b\\text", "text\n" },
		{ "\x1b(Btext\x1b[?25l", "text\n" },
		{ "\xe2\x97\x8f ready", "\xe2\x97\x8f ready\n" },
		{ "\xff\xfex", "\xef\xbf\xbd\xef\xbf\xbdx\n" },
		{ "a\x1b[999;999Hb\x1b[1;1Hc", "c" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_BUF whole = BUF_INIT;
		AUTO_BUF pieces = BUF_INIT;
		struct str bytes = str_of(cases[i].bytes);
		struct screen s;

		screen_init(&s);
		screen_feed(&s, bytes);
		screen_text(&s, &whole);
		screen_init(&s);
		for (size_t at = 0; at < bytes.len; at++)
			screen_feed(&s, str_sub(bytes, at, 1));
		screen_text(&s, &pieces);
		assert_true(str_eq(buf_str(&whole), buf_str(&pieces)));
		if (i + 1 < ARRAY_SIZE(cases))
			assert_string_equal(buf_cstr(&whole), cases[i].shown);
		else
			assert_true(str_starts(buf_str(&whole), S("c\n")));
	}
}

static void a_long_text_scrolls(void **state UNUSED)
{
	AUTO_BUF text = BUF_INIT;
	struct screen s;

	screen_init(&s);
	for (unsigned i = 0; i < 3 * SCREEN_ROWS; i++) {
		AUTO_BUF line = BUF_INIT;

		buf_printf(&line, "line %u\r\n", i);
		screen_feed(&s, buf_str(&line));
	}
	screen_text(&s, &text);
	assert_true(str_starts(buf_str(&text), S("line 81\n")));
	assert_true(str_ends(buf_str(&text), S("line 119\n")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_screen_shows_what_a_terminal_would),
		cmocka_unit_test(a_long_text_scrolls),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("app agents screen", tests, NULL, NULL);
}
