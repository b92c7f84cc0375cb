#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "cmdline/help.h"
#include "cmdline/wrap.h"
#include "table.h"

/* Reviewed as a whole: this is what people read. */
static const char run_help[] =
	"Usage: roux run [OPTION]... RECIPE|TEMPLATE [name=value]...\n"
	"\n"
	"Run it and record the run.\n"
	"\n"
	"The run is recorded in the ledger, so that it can be looked at, cancelled and\n"
	"resumed later.\n"
	"\n"
	"  name=value    a text\n"
	"  name:=JSON    any value\n"
	"\n"
	"- is standard input.\n"
	"\n"
	"Options:\n"
	"  -d, --detach          return at once with the run's id\n"
	"  -q, --quiet           show no [progress]: not *even* a_word_\n"
	"  -j, --jobs N          run at most N leaves at once\n"
	"      --grace MS        milliseconds between TERM and KILL, which is time enough\n"
	"                        for a command to write down what it has and end of its\n"
	"                        own will\n"
	"      --as ID           name the run\n"
	"      --values FILE     read values from FILE\n"
	"  -p, --progress auto|tree|plain|none\n"
	"                        how progress is shown\n"
	"  -e, --env NAME=VALUE  add to the environment\n"
	"\n"
	"Common options:\n"
	"      --json            answer with one JSON document\n"
	"  -C DIR                change to DIR first\n"
	"  -h, --help            show this help\n"
	"\n"
	"Examples:\n"
	"  roux run review scope=src\n"
	"      run the recipe 'review' on src\n"
	"  roux run -d nightly\n";

static const char overview[] =
	"Usage: roux COMMAND [OPTION]... [OPERAND]...\n"
	"\n"
	"roux runs recipes: deterministic local automation that people, scripts and\n"
	"agents share.\n"
	"\n"
	"Running:\n"
	"  run         run it and record the run\n"
	"  exec        run one command template and keep no record of it\n"
	"  check       validate\n"
	"\n"
	"Looking:\n"
	"  list        show the recipes\n"
	"  status      how a run is doing\n"
	"  message     write to a run\n"
	"\n"
	"Help:\n"
	"  completion  print a completion script\n"
	"  help        explain a command\n"
	"\n"
	"Programs of their own:\n"
	"  roux serve          runs and recipes in a browser\n"
	"  roux telegram       runs and agents in a chat\n"
	"\n"
	"More help:\n"
	"  roux help COMMAND   what a command takes; roux COMMAND --help says the same\n"
	"  man roux            everything in one place\n"
	"\n"
	"A first example:\n"
	"  roux exec 'echo hello {name=world}'\n";

static void assert_tidy(struct str text)
{
	while (text.len) {
		size_t end = str_find(text, '\n', 0);
		struct str line = str_sub(text, 0, end);

		assert_true(end < text.len);
		assert_true(utf8_count(line) <= WRAP_COLUMNS);
		assert_false(str_ends(line, S(" ")));
		text = str_from(text, end + 1);
	}
}

static void explains_a_command(void **state)
{
	(void)state;
	AUTO_BUF b = BUF_INIT;

	help_command(&cmd_run, &b);
	assert_string_equal(buf_cstr(&b), run_help);
}

static void lists_the_commands_that_are_not_hidden(void **state)
{
	(void)state;
	AUTO_BUF b = BUF_INIT;

	help_overview(commands, ARRAY_SIZE(commands), &b);
	assert_string_equal(buf_cstr(&b), overview);
}

static void gives_a_command_without_options_help_at_least(void **state)
{
	(void)state;
	AUTO_BUF b = BUF_INIT;

	help_command(&cmd_check, &b);
	assert_string_equal(buf_cstr(&b), "Usage: roux check [OPTION]... [PATH]...\n"
					  "\n"
					  "Validate.\n"
					  "\n"
					  "Options:\n"
					  "  -h, --help  show this help\n");
}

static void begins_the_commands_with_a_heading_of_its_own(void **state)
{
	(void)state;
	AUTO_BUF b = BUF_INIT;
	const struct command *const two[] = { &cmd_debug, &cmd_exec };

	help_overview(two, ARRAY_SIZE(two), &b);
	assert_true(str_contains(buf_str(&b), S("\nCommands:\n  exec  run one")));
}

static void stays_within_the_columns_without_trailing_blanks(void **state)
{
	(void)state;
	AUTO_BUF b = BUF_INIT;
	struct command wide = cmd_run;

	wide.operands = "A-LONG-OPERAND ANOTHER-LONG-OPERAND AND-A-THIRD [name=value]... [more]...";
	wide.summary = "say so much in one line that it needs a second one, which happens to the "
		       "best of us";
	help_command(&wide, &b);
	assert_tidy(buf_str(&b));
	assert_true(str_contains(
		buf_str(&b), S("AND-A-THIRD\n            [name=value]... [more]...\n")));
	buf_reset(&b);
	help_overview(commands, ARRAY_SIZE(commands), &b);
	assert_tidy(buf_str(&b));
}

static void wraps_by_characters_and_keeps_long_words_whole(void **state)
{
	(void)state;
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF b = BUF_INIT;

	for (size_t i = 0; i < WRAP_COLUMNS; i++)
		buf_adds(&text, "é");
	buf_adds(&text, " x ");
	buf_fill(&text, 'y', WRAP_COLUMNS + 5);
	wrap_words(&b, buf_str(&text), 0);
	assert_int_equal(str_find(buf_str(&b), '\n', 0), (size_t)WRAP_COLUMNS * 2);
	assert_true(str_contains(buf_str(&b), S("\nx\nyyy")));
	assert_int_equal(wrap_column(&b), WRAP_COLUMNS + 5);
}

static void parts_paragraphs_at_empty_lines(void **state)
{
	(void)state;
	struct str rest = S("\n\none\ntwo\n\n\n  as\n  is\n");
	struct paragraph p;

	assert_true(paragraph_next(&rest, &p));
	assert_true(str_eq(p.text, S("one\ntwo")) && !p.verbatim);
	assert_true(paragraph_next(&rest, &p));
	assert_true(str_eq(p.text, S("  as\n  is")) && p.verbatim);
	assert_false(paragraph_next(&rest, &p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(explains_a_command),
		cmocka_unit_test(lists_the_commands_that_are_not_hidden),
		cmocka_unit_test(gives_a_command_without_options_help_at_least),
		cmocka_unit_test(begins_the_commands_with_a_heading_of_its_own),
		cmocka_unit_test(stays_within_the_columns_without_trailing_blanks),
		cmocka_unit_test(wraps_by_characters_and_keeps_long_words_whole),
		cmocka_unit_test(parts_paragraphs_at_empty_lines),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("help", tests, NULL, NULL);
}
