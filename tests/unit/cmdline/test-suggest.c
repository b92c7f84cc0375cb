#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmdline/suggest.h"
#include "table.h"

static void assert_unknown(const char *name, const char *hint)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF message = BUF_INIT;

	assert_false(suggest_command(commands, ARRAY_SIZE(commands), str_of(name), &r));
	assert_int_equal(r.issues.len, 1);
	buf_printf(&message, "unknown command '%s'", name);
	assert_true(str_eq(r.issues.at[0].message, buf_str(&message)));
	assert_true(str_eq(r.issues.at[0].hint, str_of(hint)));
}

static void names_the_nearest_command(void **state)
{
	(void)state;
	assert_unknown("stauts", "did you mean 'roux status'?");
	assert_unknown("lst", "did you mean 'roux list'?");
}

static void points_at_the_overview_when_none_is_near(void **state)
{
	(void)state;
	assert_unknown("frobnicate", "'roux help' lists the commands");
	assert_unknown("", "'roux help' lists the commands");
}

static void offers_no_hidden_command(void **state)
{
	(void)state;
	assert_unknown("debgu", "'roux help' lists the commands");
}

static void finds_a_command_by_its_whole_name(void **state)
{
	(void)state;
	size_t count = ARRAY_SIZE(commands);

	assert_ptr_equal(command_find(commands, count, S("run")), &cmd_run);
	assert_ptr_equal(command_find(commands, count, S("debug")), &cmd_debug);
	assert_null(command_find(commands, count, S("ru")));
	assert_null(command_find(commands, count, S("")));
}

static void lists_words_as_a_sentence_has_them(void **state)
{
	(void)state;
	static const char *const one[] = { "one", NULL }, *const two[] = { "one", "two", NULL };
	AUTO_BUF b = BUF_INIT;

	suggest_list(one, &b);
	assert_string_equal(buf_cstr(&b), "one");
	buf_reset(&b);
	suggest_list(two, &b);
	assert_string_equal(buf_cstr(&b), "one or two");
	buf_reset(&b);
	suggest_list(modes, &b);
	assert_string_equal(buf_cstr(&b), "auto, tree, plain or none");
}

static void reads_the_words_of_the_usage(void **state)
{
	(void)state;
	assert_true(str_eq(command_operand(&cmd_message, 0), S("RUN")));
	assert_true(str_eq(command_operand(&cmd_message, 2), S("BODY")));
	assert_int_equal(command_operand(&cmd_message, 3).len, 0);
	assert_true(str_eq(command_operand(&cmd_check, 0), S("PATH")));
	assert_int_equal(command_operand(&cmd_list, 0).len, 0);
	assert_true(command_completes_all(&cmd_check));
	assert_false(command_completes_all(&cmd_run));
	assert_false(command_completes_all(&cmd_list));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_the_nearest_command),
		cmocka_unit_test(points_at_the_overview_when_none_is_near),
		cmocka_unit_test(offers_no_hidden_command),
		cmocka_unit_test(finds_a_command_by_its_whole_name),
		cmocka_unit_test(lists_words_as_a_sentence_has_them),
		cmocka_unit_test(reads_the_words_of_the_usage),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("suggest", tests, NULL, NULL);
}
