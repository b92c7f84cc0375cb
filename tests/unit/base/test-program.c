#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/program.h"

/* DIR/bin/tool may be executed, DIR/bin/text may not. */
static struct str house(struct arena *a)
{
	char dir[] = "/tmp/roux-program-XXXXXX";

	assert_non_null(mkdtemp(dir));
	struct str top = arena_str(a, str_of(dir));
	assert_int_equal(mkdir(arena_printf(a, "%s/bin", dir).p, 0700), 0);
	for (int i = 0; i < 2; i++) {
		FILE *f = fopen(arena_printf(a, "%s/bin/%s", dir, i ? "text" : "tool").p, "w");

		assert_non_null(f);
		assert_int_equal(fchmod(fileno(f), i ? 0600 : 0700), 0);
		assert_int_equal(fclose(f), 0);
	}
	return top;
}

static void leave(struct arena *a, struct str top)
{
	const char *const names[] = { "/bin/tool", "/bin/text", "/bin", "" };

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(remove(arena_printf(a, "%.*s%s", STR(top), names[i]).p), 0);
	arena_done(a);
}

static void a_name_is_looked_up_in_the_list(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct str top = house(&a);
	struct str list = arena_printf(&a, "/nowhere:%.*s/bin", STR(top));
	struct str want = arena_printf(&a, "%.*s/bin/tool", STR(top));

	assert_string_equal(program_find(&a, S("tool"), S("/"), list, NULL), want.p);
	assert_null(program_find(&a, S("tool"), S("/"), S("/nowhere"), NULL));
	assert_null(program_find(&a, S(""), S("/"), list, NULL));
	leave(&a, top);
}

static void relative_and_empty_entries_start_at_the_working_directory(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct str top = house(&a);
	struct str bin = arena_printf(&a, "%.*s/bin", STR(top));
	struct str want = arena_printf(&a, "%.*s/bin/tool", STR(top));

	assert_string_equal(program_find(&a, S("tool"), top, S("bin"), NULL), want.p);
	assert_string_equal(program_find(&a, S("tool"), bin, S(""), NULL), want.p);
	assert_string_equal(program_find(&a, S("tool"), bin, S("/nowhere:"), NULL), want.p);
	leave(&a, top);
}

static void a_word_with_a_slash_is_a_path(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct str top = house(&a);
	struct str want = arena_printf(&a, "%.*s/bin/tool", STR(top));

	assert_string_equal(program_find(&a, S("./bin/tool"), top, S(""), NULL), want.p);
	assert_string_equal(program_find(&a, S("bin/tool"), top, S(""), NULL), want.p);
	assert_string_equal(program_find(&a, want, S("/nowhere"), S(""), NULL), want.p);
	assert_null(program_find(&a, S("tool/"), top, S("bin"), NULL));
	leave(&a, top);
}

static void tells_what_may_not_be_executed_from_what_is_missing(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct str top = house(&a);
	int error = 0;

	assert_null(program_find(&a, S("text"), top, S("bin"), &error));
	assert_int_equal(error, EACCES);
	assert_null(program_find(&a, S("none"), top, S("bin"), &error));
	assert_int_equal(error, ENOENT);
	assert_null(program_find(&a, S("bin"), top, S(""), &error)); /* a directory */
	assert_int_equal(error, EACCES);
	leave(&a, top);
}

static void remembers_hits_only(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct str top = house(&a);
	struct programs p = { .path = S("bin"), .cwd = top.p };
	struct str tool = arena_printf(&a, "%.*s/bin/tool", STR(top));
	struct str text = arena_printf(&a, "%.*s/bin/text", STR(top));
	int error = 0;

	const char *found = programs_find(&p, "tool", &error);
	assert_string_equal(found, tool.p);
	assert_null(programs_find(&p, "text", &error));
	assert_int_equal(chmod(tool.p, 0600), 0);
	assert_int_equal(chmod(text.p, 0700), 0);
	assert_ptr_equal(programs_find(&p, "tool", &error), found);
	assert_string_equal(programs_find(&p, "text", &error), text.p);
	assert_string_equal(programs_find(&p, "./any", &error), "./any");
	programs_done(&p);
	leave(&a, top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_looked_up_in_the_list),
		cmocka_unit_test(relative_and_empty_entries_start_at_the_working_directory),
		cmocka_unit_test(a_word_with_a_slash_is_a_path),
		cmocka_unit_test(tells_what_may_not_be_executed_from_what_is_missing),
		cmocka_unit_test(remembers_hits_only),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
