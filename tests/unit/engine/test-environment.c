#include "engine/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/program.h"
#include "loop/tree.h"

#include "unit.h"

/* The value in a list, or NULL; it is there once. */
static const char *value(const char *const *list, const char *name)
{
	const char *found = NULL;
	size_t len = strlen(name);

	for (; *list; list++) {
		if (strncmp(*list, name, len) != 0 || (*list)[len] != '=')
			continue;
		assert_null(found);
		found = *list + len + 1;
	}
	return found;
}

static int begin(void **state UNUSED)
{
	return setenv("UNIT_KEPT", "ours", 1) || setenv("UNIT_REPLACED", "old", 1) ||
	       unsetenv(TREE_VARIABLE);
}

static const char *const own[] = { "UNIT_REPLACED=new", "UNIT_ADDED=1", NULL };

static void a_command_finds_ours_with_what_the_run_sets(void **state UNUSED)
{
	struct environment e;
	struct command_environment c;
	AUTO_BUF mark = BUF_INIT;

	environment_init(&e, own, false);
	const char *const *got = environment_take(&e, NULL, &mark, &c);
	assert_string_equal(value(got, "UNIT_KEPT"), "ours");
	assert_string_equal(value(got, "UNIT_REPLACED"), "new");
	assert_string_equal(value(got, "UNIT_ADDED"), "1");
	assert_string_equal(value(got, TREE_VARIABLE), buf_cstr(&mark));
	environment_taken(&e, &c);
	environment_done(&e);
}

static void what_a_command_sets_is_its_own(void **state UNUSED)
{
	static const char *const mine[] = { "UNIT_ADDED=2", "UNIT_MINE=3", NULL };
	struct environment e;
	struct command_environment c;
	AUTO_BUF first = BUF_INIT;
	AUTO_BUF second = BUF_INIT;

	environment_init(&e, own, false);
	const char *const *got = environment_take(&e, mine, &first, &c);
	assert_string_equal(value(got, "UNIT_ADDED"), "2");
	assert_string_equal(value(got, "UNIT_MINE"), "3");
	assert_string_equal(value(got, "UNIT_REPLACED"), "new");
	assert_string_equal(value(got, TREE_VARIABLE), buf_cstr(&first));
	environment_taken(&e, &c);
	got = environment_take(&e, NULL, &second, &c);
	assert_string_equal(value(got, "UNIT_ADDED"), "1");
	assert_null(value(got, "UNIT_MINE"));
	environment_taken(&e, &c);
	environment_done(&e);
}

static void a_bare_one_has_only_what_the_run_sets(void **state UNUSED)
{
	struct environment e;
	struct command_environment c;
	AUTO_BUF mark = BUF_INIT;

	environment_init(&e, own, true);
	const char *const *got = environment_take(&e, NULL, &mark, &c);
	assert_null(value(got, "UNIT_KEPT"));
	assert_null(value(got, "PATH"));
	assert_string_equal(value(got, "UNIT_ADDED"), "1");
	assert_string_equal(value(got, TREE_VARIABLE), buf_cstr(&mark));
	environment_taken(&e, &c);
	environment_done(&e);
}

/* "/run.number/", by which no command is taken for another. */
static void every_command_has_a_mark_of_its_own(void **state UNUSED)
{
	struct environment e;
	struct command_environment c;
	AUTO_BUF first = BUF_INIT;
	AUTO_BUF second = BUF_INIT;

	environment_init(&e, NULL, false);
	(void)environment_take(&e, NULL, &first, &c);
	environment_taken(&e, &c);
	const char *const *got = environment_take(&e, NULL, &second, &c);
	assert_true(str_starts(buf_str(&first), buf_str(&e.run_mark)));
	assert_true(str_ends(buf_str(&first), S(".1/")));
	assert_true(str_ends(buf_str(&second), S(".2/")));
	assert_string_equal(value(got, TREE_VARIABLE), buf_cstr(&second)); /* not the first's */
	environment_taken(&e, &c);
	environment_done(&e);
}

static void the_marks_of_the_runs_around_stay(void **state UNUSED)
{
	static const char *const forged[] = { TREE_VARIABLE "=/forged/", NULL };
	struct environment e;
	struct command_environment c;
	AUTO_BUF mark = BUF_INIT;
	AUTO_BUF want = BUF_INIT;

	assert_int_equal(setenv(TREE_VARIABLE, "/1-2.3/4-5.6/", 1), 0);
	environment_init(&e, forged, false);
	const char *const *got = environment_take(&e, NULL, &mark, &c);
	buf_printf(&want, "/1-2.3/4-5.6%s", buf_cstr(&mark));
	assert_string_equal(value(got, TREE_VARIABLE), buf_cstr(&want));
	environment_taken(&e, &c);
	environment_done(&e);
	/* What is not such a mark is not kept. */
	assert_int_equal(setenv(TREE_VARIABLE, "nonsense", 1), 0);
	environment_init(&e, NULL, false);
	buf_reset(&mark);
	got = environment_take(&e, NULL, &mark, &c);
	assert_string_equal(value(got, TREE_VARIABLE), buf_cstr(&mark));
	environment_taken(&e, &c);
	environment_done(&e);
	assert_int_equal(unsetenv(TREE_VARIABLE), 0);
}

static void the_path_is_the_one_that_commands_find(void **state UNUSED)
{
	static const char *const path[] = { "MYPATH=/wrong", "PATH=/a:/b", NULL };
	struct environment e;

	environment_init(&e, path, false);
	assert_str(environment_path(&e), "/a:/b");
	environment_done(&e);
	environment_init(&e, NULL, false);
	assert_str(environment_path(&e), getenv("PATH"));
	environment_done(&e);
	environment_init(&e, NULL, true);
	assert_bytes(environment_path(&e), program_search());
	environment_done(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_finds_ours_with_what_the_run_sets),
		cmocka_unit_test(what_a_command_sets_is_its_own),
		cmocka_unit_test(a_bare_one_has_only_what_the_run_sets),
		cmocka_unit_test(every_command_has_a_mark_of_its_own),
		cmocka_unit_test(the_marks_of_the_runs_around_stay),
		cmocka_unit_test(the_path_is_the_one_that_commands_find),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("environment", tests, begin, NULL);
}
