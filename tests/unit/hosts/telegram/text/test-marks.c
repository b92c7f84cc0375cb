#include "hosts/telegram/text/marks.h"
#include "unit.h"

static struct marks read_marks(struct arena *a, const char *markdown)
{
	struct marks m;

	marks_read(a, str_of(markdown), &m);
	return m;
}

static void a_text_without_comments_is_left_as_it_is(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	assert_str(read_marks(&a, "\n\n a\n\n\n\nb  \n\n").text, "\n\n a\n\n\n\nb  \n\n");
	assert_str(read_marks(&a, "a\r\nb\r\n").text, "a\r\nb\r\n");
	arena_done(&a);
}

static void code_keeps_its_blank_lines_and_its_comments(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	assert_str(read_marks(&a, "<!-- x -->\n```\na\n\n\n\nb\n<!-- y -->\n```\n\n\n\nc").text,
		"```\na\n\n\n\nb\n<!-- y -->\n```\n\nc");
	arena_done(&a);
}

static void an_unclosed_comment_that_is_not_for_us_is_not_lost(void **state)
{
	struct arena a = ARENA_INIT;
	struct marks m = read_marks(&a, "A\n\n<!-- note\nall that follows");

	(void)state;
	assert_str(m.text, "A\n\n<!-- note\nall that follows");
	assert_true(m.unclosed);
	m = read_marks(&a, "A\n\n<!-- telegram_button label=X\nall that follows");
	assert_str(m.text, "A");
	assert_true(m.unclosed);
	assert_str(marks_hide(&a, S("A\n\n<!-- note\nmore")), "A");
	arena_done(&a);
}

static void a_head_that_was_closed_too_early_finds_its_body(void **state)
{
	struct arena a = ARENA_INIT;
	struct marks m = read_marks(
		&a, "A\n\n<!-- telegram_button label=\"Fix\" -->\nRepair it now.\n-->\n\nB");

	(void)state;
	assert_str(m.text, "A\n\nB");
	assert_int_equal(m.button_count, 1);
	assert_str(m.buttons[0].label, "Fix");
	assert_str(m.buttons[0].prompt, "Repair it now.");
	m = read_marks(&a, "<!-- telegram_button: Fix -->\nRepair it now.\n-->");
	assert_str(m.buttons[0].prompt, "Fix");
	assert_str(m.text, "Repair it now.\n-->");
	arena_done(&a);
}

static void attributes_may_be_quoted_either_way(void **state)
{
	struct arena a = ARENA_INIT;
	struct marks m =
		read_marks(&a, "<!-- telegram_button x label='a \"b\"' prompt=\"it's\" -->\n"
			       "<!-- telegram_voice lang=de\nHallo\n-->\n<!-- telegram_voice "
			       "lang=fr text=Oui -->");

	(void)state;
	assert_int_equal(m.button_count, 1);
	assert_str(m.buttons[0].label, "a \"b\"");
	assert_str(m.buttons[0].prompt, "it's");
	assert_int_equal(m.voice_count, 2);
	assert_str(m.voices[0].text, "Hallo");
	assert_str(m.voices[1].lang, "fr");
	assert_str(m.lang, "de");
	assert_str(m.text, "");
	arena_done(&a);
}

static void names_that_only_begin_alike_are_ordinary_comments(void **state)
{
	struct arena a = ARENA_INIT;
	struct marks m = read_marks(&a, "<!-- telegram_buttons: X -->\n<!--telegram_button:Y-->z");

	(void)state;
	assert_int_equal(m.button_count, 1);
	assert_str(m.buttons[0].label, "Y");
	assert_str(m.text, "z");
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_without_comments_is_left_as_it_is),
		cmocka_unit_test(code_keeps_its_blank_lines_and_its_comments),
		cmocka_unit_test(an_unclosed_comment_that_is_not_for_us_is_not_lost),
		cmocka_unit_test(a_head_that_was_closed_too_early_finds_its_body),
		cmocka_unit_test(attributes_may_be_quoted_either_way),
		cmocka_unit_test(names_that_only_begin_alike_are_ordinary_comments),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("marks", tests, NULL, NULL);
}
