#include "unit.h"

#include "base/path.h"

static void directory_and_base_split_at_the_last_slash(void **state UNUSED)
{
	assert_str(path_dir(S("a/b/c")), "a/b");
	assert_str(path_base(S("a/b/c")), "c");
	assert_str(path_dir(S("/c")), "/");
	assert_str(path_dir(S("c")), ".");
	assert_str(path_base(S("c")), "c");
	assert_str(path_dir(S("a//c")), "a");
	assert_str(path_base(S("a/")), "");
	assert_str(path_dir(S("")), ".");
}

static void paths_are_made_absolute_and_cleaned(void **state UNUSED)
{
	struct arena a = ARENA_INIT;

	assert_str(path_from(&a, S("/x/y"), S("../z//./w")), "/x/z/w");
	assert_str(path_from(&a, S("/x"), S("/a/../../b/")), "/b");
	assert_str(path_from(&a, S("/x"), S("")), "/x");
	assert_str(path_from(&a, S("/"), S("..")), "/");
	assert_str(path_below(&a, S("/x"), S("y")), "/x/y");
	assert_str(path_below(&a, S("/x/"), S("../y")), "/x/../y");
	assert_str(path_absolute(&a, S("/a/./b")), "/a/b");
	arena_done(&a);
}

static void homes_are_expanded_at_the_beginning_only(void **state UNUSED)
{
	struct arena a = ARENA_INIT;

	assert_str(path_tilde(&a, S("~/q"), S("/h")), "/h/q");
	assert_str(path_tilde(&a, S("~"), S("/h")), "/h");
	assert_str(path_tilde(&a, S("~root/q"), S("/h")), "~root/q");
	assert_str(path_tilde(&a, S("a/~"), S("/h")), "a/~");
	assert_str(path_tilde(&a, S("~/q"), S("")), "~/q");
	arena_done(&a);
}

static void assert_plain(const char *path, const char *plain)
{
	AUTO_BUF b = BUF_INIT;

	path_plain(&b, str_of(path));
	assert_str(buf_str(&b), plain);
}

static void people_are_shown_no_detours_that_lead_nowhere(void **state UNUSED)
{
	assert_plain("/a/./b//././c.yaml", "/a/b/c.yaml");
	assert_plain("./a/./b", "./a/b");
	assert_plain("././a", "./a");
	assert_plain("a/../b/./c", "a/../b/c"); /* a may be a link */
	assert_plain("//a", "/a");
	assert_plain("/", "/");
	assert_plain("a/.b/..c", "a/.b/..c");
	assert_plain("", "");
}

static void a_name_is_not_taken_for_a_path(void **state UNUSED)
{
	assert_true(path_typed(S("./a")) && path_typed(S("../a")) && path_typed(S("/a")) &&
		    path_typed(S("~/a")));
	assert_false(path_typed(S("a/b")) || path_typed(S("a")) || path_typed(S("~a")) ||
		     path_typed(S("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directory_and_base_split_at_the_last_slash),
		cmocka_unit_test(paths_are_made_absolute_and_cleaned),
		cmocka_unit_test(homes_are_expanded_at_the_beginning_only),
		cmocka_unit_test(people_are_shown_no_detours_that_lead_nowhere),
		cmocka_unit_test(a_name_is_not_taken_for_a_path),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
