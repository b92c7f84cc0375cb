#include "runs/dir/generations.h"

#include "runs/dir/run-dir.h"
#include "runs/root.h"

static uint64_t put_away(void)
{
	AUTO_REPORT r = REPORT_INIT;
	uint64_t number;

	assert_true(generation_put_away(at("a"), &number, &r));
	return number;
}

static void put_all(const char *const *names, size_t count, const char *dir)
{
	for (size_t i = 0; i < count; i++)
		put(arena_printf(&arena, "%s/%s", dir, names[i]).p, dir);
}

static bool has_all(const char *dir, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_there(arena_printf(&arena, "%s/%s", dir, names[i]).p))
			return false;
	return true;
}

static const char *const own[] = { "start.json", "run.json", "result.json", "result.1.json",
	"result.12.json", "recipe-1.yaml", "recipe-3.yml", "recipe-10.json", "out/0.out" };
static const char *const others[] = { "recipe-x.yaml", "result.json.txt", "report.md",
	"recipe-.yaml", "result.1" };

static void all_that_is_a_generations_goes_along(void **state UNUSED)
{
	put_all(own, ARRAY_SIZE(own), "a");
	put_all(others, ARRAY_SIZE(others), "a");
	put("a/.asking", "");
	assert_int_equal(put_away(), 1);
	assert_true(has_all("a/generations/1", own, ARRAY_SIZE(own)));
	assert_true(has_all("a", others, ARRAY_SIZE(others)));
	assert_false(is_there("a/run.json"));
	assert_false(is_there("a/result.12.json"));
	assert_false(is_there("a/recipe-1.yaml"));
	assert_false(is_there("a/.asking"));
	assert_int_equal(generation_bring_back(at("a"), 1), 0);
	assert_true(has_all("a", own, ARRAY_SIZE(own)));
	assert_false(is_there("a/generations"));
}

static void what_is_deleted_is_that_of_the_generation(void **state UNUSED)
{
	put_all(own, ARRAY_SIZE(own), "a");
	put_all(others, ARRAY_SIZE(others), "a");
	put("a/.asking", "");
	generation_delete_files(at("a"));
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		assert_false(is_there(arena_printf(&arena, "a/%s", own[i]).p));
	assert_false(is_there("a/.asking"));
	assert_true(has_all("a", others, ARRAY_SIZE(others)));
}

static const char *const first[] = { "start.json", "graph.json" };
static const char *const last[] = { "result.json", "run.json" };

static void a_move_that_was_cut_short_is_finished(void **state UNUSED)
{
	put("a/generations/1/start.json", "");
	put("a/generations/1/run.json", "");
	put_all(first, ARRAY_SIZE(first), "a/generations/2");
	put_all(last, ARRAY_SIZE(last), "a");
	assert_int_equal(put_away(), 2);
	assert_true(has_all("a/generations/2", first, ARRAY_SIZE(first)));
	assert_true(has_all("a/generations/2", last, ARRAY_SIZE(last)));
}

static void a_move_that_was_cut_short_is_taken_back(void **state UNUSED)
{
	put_all(first, ARRAY_SIZE(first), "a/generations/2");
	put_all(last, ARRAY_SIZE(last), "a");
	assert_true(generation_mend(at("a")));
	assert_true(has_all("a", first, ARRAY_SIZE(first)));
	assert_true(has_all("a", last, ARRAY_SIZE(last)));
	assert_false(is_there("a/generations"));
	assert_false(generation_mend(at("a")));
}

static void the_newest_takes_an_empty_place(void **state UNUSED)
{
	put_all(own, ARRAY_SIZE(own), "a/generations/1");
	put("a/generations/2/start.json", ""); /* given up before it began */
	put("a/graph.json", "");
	assert_true(generation_mend(at("a")));
	assert_true(has_all("a", own, ARRAY_SIZE(own)));
	assert_false(is_there("a/graph.json"));
}

static void what_is_whole_or_has_begun_is_left_alone(void **state UNUSED)
{
	put_all(own, ARRAY_SIZE(own), "a/generations/1");
	put("a/start.json", ""); /* its run.json is lost */
	assert_false(generation_mend(at("a")));
	put("b/generations/1/start.json", "");
	put("b/generations/1/run.json", "");
	put("b/leaves.jsonl", "");
	assert_false(generation_mend(at("b")));
	assert_false(generation_mend(at("c")));
}

static void a_start_that_is_under_way_is_left_alone(void **state UNUSED)
{
	AUTO_CLOSE int lock = -1;

	put_all(own, ARRAY_SIZE(own), "a/generations/1");
	assert_int_equal(run_lock(at("a"), &lock), 0);
	assert_false(generation_mend(at("a")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(all_that_is_a_generations_goes_along),
		T(what_is_deleted_is_that_of_the_generation),
		T(a_move_that_was_cut_short_is_finished),
		T(a_move_that_was_cut_short_is_taken_back),
		T(the_newest_takes_an_empty_place),
		T(what_is_whole_or_has_begun_is_left_alone),
		T(a_start_that_is_under_way_is_left_alone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("generations", tests, NULL, NULL);
}
