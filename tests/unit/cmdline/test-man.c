#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cmdline/man.h"
#include "table.h"

static void writes_options_as_scdoc_source(void **state)
{
	(void)state;
	AUTO_BUF b = BUF_INIT;

	man_options(&cmd_run, &b);
	struct str text = buf_str(&b);
	assert_true(str_starts(text, S("## roux run\n\n*-d*, *--detach*\n\treturn at once")));
	assert_true(str_contains(text, S("*-j*, *--jobs* _N_\n\trun at most N leaves at once\n")));
	assert_true(str_contains(text, S("*-p*, *--progress* _auto|tree|plain|none_\n")));
	assert_true(str_contains(text, S("\nCommon options:\n\n*--json*\n")));
	assert_true(str_contains(text, S("*-C* _DIR_\n\tchange to DIR first\n")));
	assert_true(str_ends(text, S("*-h*, *--help*\n\tshow this help\n\n")));
}

static void escapes_what_scdoc_would_read_as_markup(void **state)
{
	(void)state;
	AUTO_BUF b = BUF_INIT;

	man_options(&cmd_run, &b);
	assert_true(
		str_contains(buf_str(&b), S("\tshow no [progress]: not \\*even\\* a\\_word\\_\n")));
	buf_reset(&b);
	man_commands(commands, ARRAY_SIZE(commands), &b);
	assert_true(str_contains(buf_str(&b), S("\n\t\\- is standard input.\n")));
}

static void writes_the_commands_with_their_details(void **state)
{
	(void)state;
	AUTO_BUF b = BUF_INIT;

	man_commands(commands, ARRAY_SIZE(commands), &b);
	struct str text = buf_str(&b);
	assert_true(str_starts(text, S("## Running\n\n*roux run* RECIPE|TEMPLATE [name=value]...\n"
				       "\trun it and record the run\n\n\tThe run is recorded")));
	assert_true(str_contains(text, S("\t```\n\t  name=value    a text\n\t  name:=JSON")));
	assert_true(str_contains(text, S("\n## Looking\n\n*roux list*\n\tshow the recipes\n")));
	assert_false(str_contains(text, S("debug")));
}

static void is_accepted_by_scdoc(void **state)
{
	(void)state;
	AUTO_BUF b = BUF_INIT;

	if (system("command -v scdoc >/dev/null") != 0) {
		print_message("# left out: there is no scdoc\n");
		return;
	}
	buf_adds(&b, "roux(1)\n\n# COMMANDS\n\n");
	man_commands(commands, ARRAY_SIZE(commands), &b);
	buf_adds(&b, "# OPTIONS\n\n");
	man_options(&cmd_run, &b);
	man_options(&cmd_list, &b);

	FILE *scdoc = popen("scdoc >/dev/null", "w");
	assert_non_null(scdoc);
	assert_int_equal(fwrite(b.p, 1, b.len, scdoc), b.len);
	assert_int_equal(pclose(scdoc), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_options_as_scdoc_source),
		cmocka_unit_test(escapes_what_scdoc_would_read_as_markup),
		cmocka_unit_test(writes_the_commands_with_their_details),
		cmocka_unit_test(is_accepted_by_scdoc),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("man", tests, NULL, NULL);
}
