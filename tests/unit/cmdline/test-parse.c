#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmdline/parse.h"
#include "table.h"

/* One command line and what was made of it. */
struct reading {
	struct arena arena;
	struct report report;
	struct cmdline_result result;
	union {
		struct run_opts run;
		struct list_opts list;
	} opts;
	bool ok;
};

static void done(struct reading *x)
{
	arena_done(&x->arena);
	report_done(&x->report);
}

#define READING __attribute__((cleanup(done))) struct reading

static struct reading read_words(const struct command *c, size_t argc, const char *const *argv)
{
	struct reading x = { 0 };

	memset(&x.opts, 0xff, sizeof(x.opts)); /* what the parser finds there must not matter */
	x.ok = cmdline_parse(c, argc, argv, &x.arena, &x.opts, &x.result, &x.report);
	return x;
}

#define READ(c, ...)                                                      \
	read_words(c, ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })), \
		(const char *const[]){ __VA_ARGS__ })

static void assert_operands(const struct reading *x, size_t count, const char *const *expected)
{
	assert_true(x->ok);
	assert_int_equal(x->result.operand_count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(x->result.operands[i], expected[i]);
}

#define OPERANDS(x, ...)                                                       \
	assert_operands(x, ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })), \
		(const char *const[]){ __VA_ARGS__ })

/* Exactly one issue, in these words. */
static void assert_issue(const struct reading *x, const char *message, const char *hint)
{
	assert_false(x->ok);
	assert_int_equal(x->report.issues.len, 1);
	const struct issue *i = &x->report.issues.at[0];
	assert_int_equal(i->kind, ISSUE_INVALID);
	assert_int_equal(i->file.len, 0);
	assert_int_equal(i->message.len, strlen(message));
	assert_memory_equal(i->message.p, message, strlen(message));
	assert_int_equal(i->hint.len, strlen(hint));
	assert_memory_equal(i->hint.p, hint, strlen(hint));
}

static void begins_with_the_defaults(void **state)
{
	(void)state;
	READING x = READ(&cmd_run, "review");

	OPERANDS(&x, "review");
	assert_int_equal(x.opts.run.jobs, 64);
	assert_false(x.opts.run.detach);
	assert_null(x.opts.run.name);
	assert_int_equal(x.opts.run.env.len, 0);
	assert_int_equal(x.opts.run.progress, MODE_AUTO);
}

static void begins_with_zeroes_when_there_are_no_defaults(void **state)
{
	(void)state;
	READING x = READ(&cmd_list, "--all");

	assert_true(x.ok);
	assert_true(x.opts.list.all);
	assert_false(x.opts.list.common.json);
	assert_null(x.opts.list.common.directory);
}

static void takes_a_command_without_options_and_words(void **state)
{
	(void)state;
	struct reading x = { 0 };

	assert_true(cmdline_parse(&cmd_check, 0, NULL, &x.arena, NULL, &x.result, &x.report));
	assert_int_equal(x.result.operand_count, 0);
	done(&x);
}

static void reads_every_kind_of_option(void **state)
{
	(void)state;
	READING x = READ(&cmd_run, "--detach", "--jobs", "4", "--grace=5000", "--as", "nightly",
		"--progress=plain", "--env", "A=1", "review", "--env=B=2");

	OPERANDS(&x, "review");
	assert_true(x.opts.run.detach);
	assert_int_equal(x.opts.run.jobs, 4);
	assert_int_equal(x.opts.run.grace_ms, 5000);
	assert_string_equal(x.opts.run.name, "nightly");
	assert_int_equal(x.opts.run.progress, MODE_PLAIN);
	assert_int_equal(x.opts.run.env.len, 2);
	assert_string_equal(x.opts.run.env.at[0], "A=1");
	assert_string_equal(x.opts.run.env.at[1], "B=2");
}

static void reads_letters_alone_and_bundled(void **state)
{
	(void)state;
	READING joined = READ(&cmd_run, "-j4", "review");
	READING apart = READ(&cmd_run, "-j", "5", "review");
	READING bundled = READ(&cmd_run, "-dqj6", "review");
	READING bundled_apart = READ(&cmd_run, "review", "-dj", "7");

	assert_int_equal(joined.opts.run.jobs, 4);
	assert_int_equal(apart.opts.run.jobs, 5);
	assert_int_equal(bundled.opts.run.jobs, 6);
	assert_true(bundled.opts.run.detach && bundled.opts.run.quiet);
	assert_int_equal(bundled_apart.opts.run.jobs, 7);
	OPERANDS(&bundled_apart, "review");
}

static void fills_shared_options_wherever_they_are_embedded(void **state)
{
	(void)state;
	READING run = READ(&cmd_run, "review", "--json", "-C", "/tmp");
	READING list = READ(&cmd_list, "--json", "-C/tmp");

	assert_true(run.ok && run.opts.run.common.json);
	assert_string_equal(run.opts.run.common.directory, "/tmp");
	assert_true(list.ok && list.opts.list.common.json);
	assert_string_equal(list.opts.list.common.directory, "/tmp");
}

static void lets_the_last_of_two_win(void **state)
{
	(void)state;
	READING x = READ(&cmd_run, "--as", "one", "-j1", "review", "--as=two", "-j", "2");

	assert_string_equal(x.opts.run.name, "two");
	assert_int_equal(x.opts.run.jobs, 2);
}

static void takes_whatever_follows_as_the_value(void **state)
{
	(void)state;
	READING x = READ(&cmd_run, "--values", "-", "--as", "--", "-e", "--json", "review");

	OPERANDS(&x, "review");
	assert_string_equal(x.opts.run.values, "-");
	assert_string_equal(x.opts.run.name, "--");
	assert_string_equal(x.opts.run.env.at[0], "--json");
	assert_false(x.opts.run.common.json);
}

static void takes_an_empty_text(void **state)
{
	(void)state;
	READING x = READ(&cmd_run, "--as=", "");

	OPERANDS(&x, "");
	assert_string_equal(x.opts.run.name, "");
}

static void keeps_operands_in_order_between_options(void **state)
{
	(void)state;
	READING x = READ(&cmd_run, "-", "-d", "scope=src", "-j2", "n:=-1");

	OPERANDS(&x, "-", "scope=src", "n:=-1");
}

static void ends_options_at_two_dashes(void **state)
{
	(void)state;
	READING x = READ(&cmd_run, "-d", "--", "--json", "-5", "--");

	OPERANDS(&x, "--json", "-5", "--");
	assert_false(x.opts.run.common.json);
}

static void tells_when_help_is_wanted_and_counts_nothing_then(void **state)
{
	(void)state;
	READING name = READ(&cmd_run, "--help");
	READING letter = READ(&cmd_list, "too", "many", "-h");
	READING value = READ(&cmd_run, "review", "--as", "-h");

	assert_true(name.ok && name.result.help);
	assert_true(letter.ok && letter.result.help);
	assert_true(value.ok && !value.result.help);
}

static void refuses_an_unknown_option_and_names_the_nearest(void **state)
{
	(void)state;
	READING x = READ(&cmd_run, "review", "--detahc");
	READING joined = READ(&cmd_run, "review", "--job=4");
	READING help = READ(&cmd_list, "--hlep");

	assert_issue(&x, "unknown option '--detahc'", "did you mean '--detach'?");
	assert_issue(&joined, "unknown option '--job'", "did you mean '--jobs'?");
	assert_issue(&help, "unknown option '--hlep'", "did you mean '--help'?");
}

static void refuses_an_unknown_option_that_is_near_nothing(void **state)
{
	(void)state;
	READING run = READ(&cmd_run, "review", "-5");
	READING list = READ(&cmd_list, "--", "x", "y");
	READING none = READ(&cmd_list, "--xyzzy");
	READING value = READ(&cmd_run, "review", "--file=a.c");
	READING in_bundle = READ(&cmd_run, "-dx", "review");

	assert_issue(&run, "unknown option '-5'",
		"'roux help run' lists the options; an operand that begins with '-' goes after "
		"'--'");
	assert_issue(&none, "unknown option '--xyzzy'", "'roux help list' lists the options");
	assert_issue(&value, "unknown option '--file'",
		"'roux help run' lists the options; a value is written file=…, without dashes");
	assert_issue(
		&list, "roux list takes no operands, found 'x'", "usage: roux list [OPTION]...");
	assert_int_equal(in_bundle.report.issues.len, 1);
	assert_memory_equal(in_bundle.report.issues.at[0].message.p, "unknown option '-x'", 19);
}

static void refuses_a_name_behind_a_single_dash(void **state)
{
	(void)state;
	READING json = READ(&cmd_run, "-json", "review");
	READING detach = READ(&cmd_run, "-detach", "review");
	READING joined = READ(&cmd_run, "-progress=tree", "review");
	READING slip = READ(&cmd_run, "-vaules", "x", "review");

	assert_issue(&json, "unknown option '-json'", "did you mean '--json'?");
	assert_issue(&detach, "unknown option '-detach'", "did you mean '--detach'?");
	assert_issue(&joined, "unknown option '-progress'", "did you mean '--progress'?");
	assert_issue(&slip, "unknown option '-vaules'", "did you mean '--values'?");
	assert_false(detach.opts.run.detach);
}

static void refuses_a_missing_value(void **state)
{
	(void)state;
	READING name = READ(&cmd_run, "review", "--as");
	READING letter = READ(&cmd_run, "review", "-dp");

	assert_issue(&name, "--as needs a value", "write --as ID");
	assert_issue(&letter, "-p needs a value", "write -p auto|tree|plain|none");
}

static void refuses_a_value_for_a_flag(void **state)
{
	(void)state;
	READING x = READ(&cmd_run, "review", "--json=yes");

	assert_issue(&x, "--json takes no value, found 'yes'", "write --json alone");
}

static void refuses_a_number_that_is_none_or_out_of_range(void **state)
{
	(void)state;
	static const char *const wrong[] = { "x", "", "-1", "1.5", " 1", "0x1", "100001",
		"99999999999999999999" };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		READING x = READ(&cmd_run, "review", "--jobs", wrong[i]);
		AUTO_BUF message = BUF_INIT;

		buf_printf(&message, "--jobs takes a whole number from 0 to 100000, found '%s'",
			wrong[i]);
		assert_issue(&x, buf_cstr(&message),
			strlen(wrong[i]) >= 6 ? "" : "write --jobs N, with digits for N");
		assert_int_equal(x.opts.run.jobs, 64);
	}
	READING below = READ(&cmd_run, "review", "--grace=0");
	assert_issue(&below, "--grace takes a whole number of at least 1, found '0'", "");
}

static void takes_numbers_up_to_the_bounds(void **state)
{
	(void)state;
	READING x = READ(&cmd_run, "review", "--jobs=100000", "--grace=18446744073709551615");

	assert_true(x.ok);
	assert_int_equal(x.opts.run.jobs, 100000);
	assert_true(x.opts.run.grace_ms == UINT64_MAX);
}

static void refuses_an_unknown_choice_and_lists_the_choices(void **state)
{
	(void)state;
	READING near = READ(&cmd_run, "review", "--progress=tre");
	READING far = READ(&cmd_run, "review", "-p", "nothing");

	assert_issue(&near, "--progress takes auto, tree, plain or none, found 'tre'",
		"did you mean 'tree'?");
	assert_issue(&far, "-p takes auto, tree, plain or none, found 'nothing'", "");
}

static void refuses_too_few_operands_and_names_the_missing(void **state)
{
	(void)state;
	READING run = READ(&cmd_run, "-d");
	READING message = READ(&cmd_message, "review");

	assert_issue(&run, "roux run needs a RECIPE|TEMPLATE",
		"usage: roux run [OPTION]... RECIPE|TEMPLATE [name=value]...; for example: "
		"roux run review scope=src");
	assert_issue(&message, "roux message needs a TYPE",
		"usage: roux message [OPTION]... RUN TYPE [BODY]");
}

static void refuses_too_many_operands(void **state)
{
	(void)state;
	READING status = READ(&cmd_status, "one", "two");
	READING message = READ(&cmd_message, "run", "type", "body", "more");

	assert_issue(&status, "roux status takes at most 1 operand, found 'two' as well",
		"usage: roux status [OPTION]... RUN");
	assert_issue(&message, "roux message takes at most 3 operands, found 'more' as well",
		"usage: roux message [OPTION]... RUN TYPE [BODY]");
}

static void tells_all_mistakes_and_keeps_what_it_understood(void **state)
{
	(void)state;
	READING x = READ(&cmd_run, "--jbos", "4", "--progress=x", "--json");

	assert_false(x.ok);
	assert_int_equal(x.report.issues.len, 2);
	assert_true(x.opts.run.common.json);
	assert_int_equal(x.opts.run.jobs, 64);
	assert_null(x.result.operands);
}

static void cuts_a_long_wrong_word_between_characters(void **state)
{
	(void)state;
	char word[400] = "x";

	for (size_t i = 1; i + 2 < sizeof(word); i += 2)
		memcpy(word + i, "é", 2);
	READING x = READ(&cmd_run, "review", "-j", word);
	AUTO_BUF message = BUF_INIT;
	buf_printf(&message, "-j takes a whole number from 0 to 100000, found '%.119s…'", word);
	assert_issue(&x, buf_cstr(&message), "write -j N, with digits for N");
}

static void names_a_letter_outside_ascii_whole(void **state)
{
	(void)state;
	READING x = READ(&cmd_list, "-aé");

	assert_issue(&x, "unknown option '-é'", "'roux help list' lists the options");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_with_the_defaults),
		cmocka_unit_test(begins_with_zeroes_when_there_are_no_defaults),
		cmocka_unit_test(takes_a_command_without_options_and_words),
		cmocka_unit_test(reads_every_kind_of_option),
		cmocka_unit_test(reads_letters_alone_and_bundled),
		cmocka_unit_test(fills_shared_options_wherever_they_are_embedded),
		cmocka_unit_test(lets_the_last_of_two_win),
		cmocka_unit_test(takes_whatever_follows_as_the_value),
		cmocka_unit_test(takes_an_empty_text),
		cmocka_unit_test(keeps_operands_in_order_between_options),
		cmocka_unit_test(ends_options_at_two_dashes),
		cmocka_unit_test(tells_when_help_is_wanted_and_counts_nothing_then),
		cmocka_unit_test(refuses_an_unknown_option_and_names_the_nearest),
		cmocka_unit_test(refuses_an_unknown_option_that_is_near_nothing),
		cmocka_unit_test(refuses_a_name_behind_a_single_dash),
		cmocka_unit_test(refuses_a_missing_value),
		cmocka_unit_test(refuses_a_value_for_a_flag),
		cmocka_unit_test(refuses_a_number_that_is_none_or_out_of_range),
		cmocka_unit_test(takes_numbers_up_to_the_bounds),
		cmocka_unit_test(refuses_an_unknown_choice_and_lists_the_choices),
		cmocka_unit_test(refuses_too_few_operands_and_names_the_missing),
		cmocka_unit_test(refuses_too_many_operands),
		cmocka_unit_test(tells_all_mistakes_and_keeps_what_it_understood),
		cmocka_unit_test(cuts_a_long_wrong_word_between_characters),
		cmocka_unit_test(names_a_letter_outside_ascii_whole),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
