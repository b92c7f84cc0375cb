#include "app/launch/take-over.h"

#include "app/launch/ended.h"

/* The new run gets the directory "new". */
static bool take_over(struct report *r)
{
	assert_int_equal(dir_make(at("new")), 0);
	run.launch.claim.dir = str_of(at("new"));
	const struct run_look old = { .dir = str_of(at("old")) };

	return rerun_take_over(&run.launch, &old, &run.redo, ended_leaves(), r);
}

static const struct leaf_record *taken(const char *path, uint64_t number)
{
	AUTO_REPORT r = REPORT_INIT;

	leaves_free(run.leaves);
	run.leaves = leaves_read(at("new/" LEAVES_FILE), &r);
	assert_non_null(run.leaves);
	return leaves_find(run.leaves, str_of(path), number);
}

static void what_holds_is_taken_with_its_output(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	ended_template("['a','b','c']");
	ended_command("0", 1, (struct leaf_record){ 0 }, "first");
	ended_command("1", 1, (struct leaf_record){ .code = 3 }, "second");
	ended_command("2", 1, (struct leaf_record){ 0 }, "third");
	redo_add(&run.redo, S("1"), NULL);
	assert_true(take_over(&r));
	assert_str(text_of("new/out/0.out"), "first");
	assert_false(is_there("new/out/1.out"));
	assert_false(is_there("new/out/2.out"));
	const struct leaf_record *record = taken("0", 1);
	assert_non_null(record);
	assert_true(record->ended);
	assert_int_equal(record->out_bytes, 5);
	assert_null(taken("1", 1));
	assert_null(taken("2", 1));
	assert_true(is_there("old/out/1.out")); /* the old run stays as it was */
}

static void every_attempt_is_taken(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	ended_template("[{'retry':2,'template':'a'},'b']");
	ended_command("0", 1, (struct leaf_record){ .code = 3 }, "half");
	ended_command("0", 2, (struct leaf_record){ 0 }, "whole");
	redo_add(&run.redo, S("1"), NULL);
	assert_true(take_over(&r));
	assert_str(text_of("new/out/0.out"), "half");
	assert_str(text_of("new/out/0.a2.out"), "whole");
	assert_int_equal(taken("0", 1)->code, 3);
	assert_int_equal(taken("0", 2)->code, 0);
}

static void one_that_was_cancelled_counts_as_not_run(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	ended_template("[{'parallel':true,'template':['a','b']},'c']");
	ended_command("0.0", 1, (struct leaf_record){ .code = 1, .cancelled = true }, "half");
	ended_command("0.1", 1, (struct leaf_record){ 0 }, "");
	redo_add(&run.redo, S("1"), NULL);
	assert_true(take_over(&r));
	assert_null(taken("0.0", 1));
	assert_non_null(taken("0.1", 1));
	assert_false(is_there("new/out"));
}

static void an_output_that_is_gone_is_said_before_anything_is_made(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	ended_template("['a','b','c']");
	ended_command("0", 1, (struct leaf_record){ 0 }, "first");
	ended_command("1", 1, (struct leaf_record){ 0 }, "second");
	assert_int_equal(unlink(at("old/out/1.out")), 0);
	redo_add(&run.redo, S("2"), NULL);
	assert_false(take_over(&r));
	assert_int_equal(r.errors, 1);
	assert_str(r.issues.at[0].message, "the output of node 1 is gone");
	assert_false(is_there("new/out"));
	assert_false(is_there("new/" LEAVES_FILE));
}

static void a_link_to_elsewhere_is_not_followed(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	ended_template("['a','b']");
	ended_command("0", 1, (struct leaf_record){ 0 }, "first");
	put("elsewhere/0.out", "other");
	assert_int_equal(rename(at("old/out"), at("old/was")), 0);
	assert_int_equal(symlink(at("elsewhere"), at("old/out")), 0);
	redo_add(&run.redo, S("1"), NULL);
	assert_false(take_over(&r));
	assert_int_equal(r.errors, 1);
}

static void of_a_whole_run_only_the_input_is_taken(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	ended_template("['a','b']");
	ended_command("0", 1, (struct leaf_record){ 0 }, "first");
	put("old/stdin", "what was typed");
	put("old/gates.json", "{\"0\":{\"answer\":\"approved\"}}");
	redo_add(&run.redo, S(""), NULL);
	assert_true(take_over(&r));
	assert_str(text_of("new/stdin"), "what was typed");
	assert_null(taken("0", 1));
	assert_false(is_there("new/gates.json"));
}

static void what_was_approved_before_it_stays_so(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	ended_template("['a','b','c']");
	ended_command("0", 1, (struct leaf_record){ 0 }, "");
	put("old/gates.json", "{\"0\":{\"answer\":\"approved\",\"by\":\"me\"},"
			      "\"2\":{\"answer\":\"approved\"},\"0.5\":{\"answer\":\"denied\"}}");
	redo_add(&run.redo, S("1"), NULL);
	assert_true(take_over(&r));
	AUTO_JSON *gates = json_loads(text_of("new/gates.json").p, 0, NULL);
	assert_int_equal(json_object_size(gates), 1);
	assert_str(json_text_of(json_object_get(gates, "0"), "by"), "me");
}

/* -- which node is meant -------------------------------------------------------------------------
 */

static void means(const char *word, const char *want)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF path = BUF_INIT;
	const struct run_look look = { .id = S("old"), .dir = str_of(at("old")) };
	bool ok = rerun_node(&run.launch, &look, str_of(word), &path, &r);

	assert_int_equal(ok, *want != '\0');
	assert_int_equal(r.errors, !ok);
	if (ok)
		assert_str(buf_str(&path), want);
}

/* Labels are those of events: tests/e2e/daily-rerun.bats. */
static void a_node_is_named_by_its_path(void **state UNUSED)
{
	ended_template("['a',{'repeat':3,'template':'b{index}'}]");
	means("0", "0");
	means(".", ".");
	means("1.r2", "1.r2");
	means("1.r3", ""); /* it is repeated three times */
	means("7", "");
	means("nothing", "");
	means("", ""); /* and not the whole run */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		E(what_holds_is_taken_with_its_output),
		E(every_attempt_is_taken),
		E(one_that_was_cancelled_counts_as_not_run),
		E(an_output_that_is_gone_is_said_before_anything_is_made),
		E(a_link_to_elsewhere_is_not_followed),
		E(of_a_whole_run_only_the_input_is_taken),
		E(what_was_approved_before_it_stays_so),
		E(a_node_is_named_by_its_path),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("take-over", tests, NULL, NULL);
}
