#include "render/web/ansi.h"

#include "unit.h"

static struct ansi_style style;

static void shows(const char *line, const char *want)
{
	AUTO_BUF b = BUF_INIT;

	ansi_html(&b, &style, str_of(line));
	assert_str(buf_str(&b), want);
}

static int begin(void **state UNUSED)
{
	style = (struct ansi_style){ 0 };
	return 0;
}

static void colours_become_classes(void **state UNUSED)
{
	shows("\033[31mred\033[0m plain \033[1;4;92mgreen\033[m",
		"<span class=\"f1\">red</span> plain <span class=\"f10 bo un\">green</span>");
	shows("\033[44;37mon blue\033[49m\033[39m off", "<span class=\"f7 b4\">on blue</span> off");
}

static void more_colours_become_the_nearest(void **state UNUSED)
{
	shows("\033[38;5;196ma\033[38;2;0;0;230mb\033[38;5;9mc\033[0m",
		"<span class=\"f9\">a</span><span class=\"f4\">b</span><span "
		"class=\"f9\">c</span>");
	shows("\033[38:5:2mx\033[0m", "<span class=\"f2\">x</span>");
}

static void a_style_continues_on_the_next_line(void **state UNUSED)
{
	shows("\033[32mone", "<span class=\"f2\">one</span>");
	shows("two\033[0m", "<span class=\"f2\">two</span>");
	shows("three", "three");
}

static void the_last_writing_of_a_line_counts(void **state UNUSED)
{
	shows(" 10%\r 50%\r100%", "100%");
	shows("windows\r", "windows");
	shows("a\r\r", "a");
	shows("\r", "");
}

static void other_sequences_vanish(void **state UNUSED)
{
	shows("\033[2J\033[1;1Hx\033[?25l\033]0;title\007y\033(B\033cz", "xyz");
	shows("\033]8;;http://a.example/\033\\link\033]8;;\033\\", "link");
	shows("cut \033[3", "cut ");
	shows("cut \033", "cut ");
}

static void json_tells_the_same(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	ansi_json(&b, &style, S("a\033[1m\"b\\\"\033[0m\t"));
	assert_str(buf_str(&b), "[[\"a\",\"\"],[\"\\\"b\\\\\\\"\",\"bo\"],[\"\\t\",\"\"]]");
	buf_reset(&b);
	ansi_json(&b, &style, S(""));
	assert_str(buf_str(&b), "[]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(colours_become_classes, begin),
		cmocka_unit_test_setup(more_colours_become_the_nearest, begin),
		cmocka_unit_test_setup(a_style_continues_on_the_next_line, begin),
		cmocka_unit_test_setup(the_last_writing_of_a_line_counts, begin),
		cmocka_unit_test_setup(other_sequences_vanish, begin),
		cmocka_unit_test_setup(json_tells_the_same, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
