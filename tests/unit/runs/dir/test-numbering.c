#include "runs/dir/generations.h"

#include "runs/root.h"

/* The run's directory is the root itself. */

static size_t count(void)
{
	size_t n = 99;

	assert_int_equal(generations_count(root, &n), 0);
	return n;
}

static uint64_t number(uint64_t back)
{
	uint64_t n = 99;

	assert_int_equal(generation_number(root, back, &n), 0);
	return n;
}

/* A generation of which every file says which one it is. */
static void start(const char *which)
{
	put("run.json", which);
	put("out/0.out", which);
}

static uint64_t put_away(void)
{
	AUTO_REPORT r = REPORT_INIT;
	uint64_t n = 99;

	assert_true(generation_put_away(root, &n, &r));
	assert_int_equal(r.errors, 0);
	return n;
}

/* -- numbering -----------------------------------------------------------------------------------
 */

static void the_first_that_is_put_away_is_1(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	assert_int_equal(count(), 0);
	assert_int_equal(number(1), 0);
	start("one");
	assert_int_equal(put_away(), 1);
	assert_false(is_there("run.json"));
	assert_false(is_there("out"));
	assert_str(text_of("generations/1/run.json"), "one");
	assert_str(text_of("generations/1/out/0.out"), "one");
	generation_directory(&b, root, 1);
	assert_str(buf_str(&b), at("generations/1"));
	assert_int_equal(count(), 1);
}

static void people_count_from_the_newest(void **state UNUSED)
{
	for (int i = 1; i <= 11; i++) {
		start("x");
		assert_int_equal(put_away(), i);
	}
	assert_int_equal(count(), 11);
	assert_int_equal(number(1), 11); /* as numbers: as texts 9 would be the newest */
	assert_int_equal(number(3), 9);
	assert_int_equal(number(11), 1);
	assert_int_equal(number(0), 0);
	assert_int_equal(number(12), 0);
	assert_int_equal(number(UINT64_MAX), 0);
}

static void one_that_was_pruned_in_the_middle_leaves_a_gap(void **state UNUSED)
{
	for (int i = 1; i <= 3; i++) {
		start("x");
		(void)put_away();
	}
	put("generations/3/run.json", "three");
	assert_int_equal(nftw(at("generations/2"), drop_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	assert_int_equal(count(), 2);
	assert_int_equal(number(1), 3);
	assert_int_equal(number(2), 1);
	assert_int_equal(number(3), 0);
	start("four");
	assert_int_equal(put_away(), 4); /* not into the gap: that would be the wrong order */
	assert_str(text_of("generations/3/run.json"), "three");
	assert_int_equal(number(1), 4);
}

static void a_move_that_was_cut_short_keeps_its_number(void **state UNUSED)
{
	/* Not counted before it has been finished. */
	put("generations/7/start.json", "{}");
	assert_int_equal(count(), 0);
	assert_int_equal(number(1), 0);
	start("x");
	assert_int_equal(put_away(), 7);
	assert_int_equal(count(), 1);
	assert_int_equal(number(1), 7);
}

static void other_names_are_not_generations(void **state UNUSED)
{
	put("generations/0/run.json", "{}");
	put("generations/03/run.json", "{}");
	put("generations/+4/run.json", "{}");
	put("generations/5x/run.json", "{}");
	put("generations/-6/run.json", "{}");
	put("generations/6", "a file");
	put("elsewhere/run.json", "{}");
	assert_int_equal(symlink("../elsewhere", at("generations/9")), 0);
	assert_int_equal(count(), 0);
	put("generations/2/run.json", "{}");
	assert_int_equal(count(), 1);
	assert_int_equal(number(1), 2);
}

/* -- putting away --------------------------------------------------------------------------------
 */

static void without_a_run_nothing_is_put_away(void **state UNUSED)
{
	put("notes.txt", "the recipe's own");
	put("stdout.log", "text");
	assert_int_equal(put_away(), 0);
	assert_false(is_there("generations"));
	assert_true(is_there("stdout.log"));
}

static void a_start_without_a_run_is_put_away(void **state UNUSED)
{
	put("start.json", "{}");
	assert_int_equal(put_away(), 1);
	assert_true(is_there("generations/1/start.json"));
	assert_int_equal(count(), 0);
}

static void what_is_the_recipes_own_stays(void **state UNUSED)
{
	start("x");
	put("notes.txt", "mine");
	put(".roux-tmp.1234", "half a file of roux");
	assert_int_equal(mkfifo(at("control.fifo"), 0600), 0);
	assert_int_equal(put_away(), 1);
	assert_str(text_of("notes.txt"), "mine");
	assert_false(is_there("control.fifo"));
	assert_false(is_there(".roux-tmp.1234"));
	assert_false(is_there("generations/1/notes.txt"));
	assert_false(is_there("generations/1/control.fifo"));
}

static void a_link_in_place_of_the_generations_is_not_followed(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	uint64_t n = 99;

	start("x");
	put("elsewhere/5/run.json", "{}");
	assert_int_equal(symlink("elsewhere", at("generations")), 0);
	assert_int_equal(count(), 0);
	assert_false(generation_put_away(root, &n, &r));
	assert_int_equal(n, 0);
	assert_int_equal(r.errors, 1);
	assert_true(is_there("run.json"));
	assert_false(is_there("elsewhere/1"));
	assert_true(generation_bring_back(root, 5) < 0);
	assert_true(is_there("elsewhere/5/run.json"));
}

/* -- moving --------------------------------------------------------------------------------------
 */

static void one_is_brought_back_whole(void **state UNUSED)
{
	start("one");
	put("notes.txt", "mine");
	(void)put_away();
	assert_int_equal(generation_bring_back(root, 1), 0);
	assert_str(text_of("run.json"), "one");
	assert_str(text_of("out/0.out"), "one");
	assert_str(text_of("notes.txt"), "mine");
	assert_false(is_there("generations"));
}

static void bringing_one_back_leaves_the_others(void **state UNUSED)
{
	start("one");
	(void)put_away();
	start("two");
	(void)put_away();
	assert_int_equal(generation_bring_back(root, 2), 0);
	assert_str(text_of("run.json"), "two");
	assert_int_equal(count(), 1);
	assert_str(text_of("generations/1/run.json"), "one");
	assert_false(is_there("generations/2"));
}

static void one_that_cannot_be_brought_back_stays_whole(void **state UNUSED)
{
	start("one");
	put("recipes.json", "r");
	(void)put_away();
	put("out/of-another", "x"); /* in the middle of the list of files */
	assert_int_equal(generation_bring_back(root, 1), -ENOTEMPTY);
	assert_str(text_of("generations/1/run.json"), "one");
	assert_str(text_of("generations/1/recipes.json"), "r");
	assert_true(is_there("generations/1/out/0.out"));
	assert_false(is_there("run.json"));
	assert_false(is_there("recipes.json"));
}

static void one_is_moved_out_whole_or_not_at_all(void **state UNUSED)
{
	start("one");
	put("story.jsonl", "last of the list");
	put("away/out/of-another", "");
	assert_int_equal(generation_move_out(root, at("away")), -ENOTEMPTY);
	assert_str(text_of("run.json"), "one");
	assert_false(is_there("away/run.json"));
	assert_int_equal(unlink(at("away/out/of-another")), 0);
	assert_int_equal(generation_move_out(root, at("away")), 0);
	assert_false(is_there("run.json"));
	assert_false(is_there("story.jsonl"));
	assert_str(text_of("away/run.json"), "one");
	assert_str(text_of("away/out/0.out"), "one");
	assert_true(is_there("away/story.jsonl"));
	assert_int_equal(generation_move_out(root, at("nowhere")), -ENOENT);
}

static void deleting_takes_only_the_files_of_the_current_one(void **state UNUSED)
{
	start("one");
	(void)put_away();
	start("two");
	put("notes.txt", "mine");
	generation_delete_files(root);
	assert_false(is_there("run.json"));
	assert_false(is_there("out"));
	assert_true(is_there("notes.txt"));
	assert_int_equal(count(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_first_that_is_put_away_is_1),
		T(people_count_from_the_newest),
		T(one_that_was_pruned_in_the_middle_leaves_a_gap),
		T(a_move_that_was_cut_short_keeps_its_number),
		T(other_names_are_not_generations),
		T(without_a_run_nothing_is_put_away),
		T(a_start_without_a_run_is_put_away),
		T(what_is_the_recipes_own_stays),
		T(a_link_in_place_of_the_generations_is_not_followed),
		T(one_is_brought_back_whole),
		T(bringing_one_back_leaves_the_others),
		T(one_that_cannot_be_brought_back_stays_whole),
		T(one_is_moved_out_whole_or_not_at_all),
		T(deleting_takes_only_the_files_of_the_current_one),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("numbering", tests, NULL, NULL);
}
