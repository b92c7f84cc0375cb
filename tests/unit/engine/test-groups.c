#include "lab.h"

/* Sequences and parallel groups: order, joined outputs, how far a failure reaches. */

static void a_sequence_starts_one_child_at_a_time(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "['a',['b','c'],'d']", NULL);
	lab_assert_told(&l, "+a");
	lab_end(&l, "a", 0);
	lab_assert_told(&l, "+b");
	lab_print(&l, "b", "1");
	lab_assert_told(&l, "+c");
	assert_str(buf_str(&lab_job(&l, "c")->in), "1");
	lab_print(&l, "c", "2");
	lab_assert_told(&l, "+d");
	assert_str(buf_str(&lab_job(&l, "d")->in), "2");
	lab_print(&l, "d", "3");
	lab_assert_output(&l, "3");
	lab_finish(&l, RUN_DONE);
}

static void a_passed_over_failure_gives_the_next_nothing(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "['a',{'failure':'continue','template':'b'},'c']", NULL);
	lab_print(&l, "a", "from a");
	lab_end_as(&l, "b", (struct job_end){ .code = 5 }, "half", "");
	assert_str(buf_str(&lab_job(&l, "c")->in), "");
	lab_end(&l, "c", 0);
	assert_int_equal(run_result(l.run)->tally.failed, 0);
	lab_finish(&l, RUN_DONE);
}

static void a_failure_that_is_not_tolerated_is_counted(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "['a','b']", NULL);
	lab_end(&l, "a", 5);
	lab_end(&l, "b", 0);
	lab_assert_told(&l, "+a +b");
	assert_int_equal(run_result(l.run)->tally.failed, 1);
	lab_finish(&l, RUN_DONE);
}

static void a_branch_failure_ends_its_branch_only(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l,
		"{'parallel':true,'template':[{'failure':'branch','template':['a','b']},"
		"['c','d']]}",
		NULL);
	lab_end(&l, "a", 5);
	lab_assert_told(&l, "+a +c");
	lab_end(&l, "c", 0);
	lab_assert_told(&l, "+d");
	lab_end(&l, "d", 0);
	lab_finish(&l, RUN_DONE);
}

static void a_root_failure_ends_the_run(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "[[{'failure':'root','template':'a'},'b'],'c']", NULL);
	lab_end(&l, "a", 5);
	lab_assert_told(&l, "+a");
	assert_int_equal(run_result(l.run)->code, 5);
	assert_str(run_result(l.run)->failed, "0.0");
	lab_finish(&l, RUN_FAILED);
}

/* Attempts of a group above catch it. */
static void a_root_failure_is_caught_by_attempts(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "[{'retry':2,'template':[{'failure':'root','template':'a'},'b']},'c']", NULL);
	lab_end(&l, "a", 5);
	lab_assert_told(&l, "+a +a");
	lab_end(&l, "a", 0);
	lab_end(&l, "b", 0);
	lab_end(&l, "c", 0);
	lab_finish(&l, RUN_DONE);
}

/* -- parallel ------------------------------------------------------------------------------------
 */

static void branches_are_joined_in_their_order(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "[{'parallel':true,'template':['a','b']},'c']", NULL);
	lab_assert_told(&l, "+a +b");
	lab_print(&l, "b", "second\n");
	lab_print(&l, "a", "first\n");
	lab_assert_told(&l, "+c");
	struct str in = buf_str(&lab_job(&l, "c")->in);
	assert_true(str_contains(in, S("branch 1 status: done ---\nfirst\n")));
	assert_true(str_contains(in, S("branch 2 status: done ---\nsecond\n")));
	assert_true(str_starts(in, S("--- branch: branch 1 ")));
	lab_end(&l, "c", 0);
	lab_finish(&l, RUN_DONE);
}

static void one_good_branch_is_enough(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "[{'parallel':true,'template':['a','b']},'c']", NULL);
	lab_end(&l, "a", 3);
	lab_end(&l, "b", 0);
	lab_assert_told(&l, "+a +b +c");
	lab_end(&l, "c", 0);
	lab_finish(&l, RUN_DONE);
}

static void without_a_good_branch_the_first_failure_counts(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'parallel':true,'template':['a','b']}", NULL);
	lab_end(&l, "b", 4);
	lab_end(&l, "a", 3);
	assert_int_equal(run_result(l.run)->code, 3);
	lab_finish(&l, RUN_FAILED);
}

static void a_root_failure_starts_no_further_branch(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'parallel':true,'failure':'root','template':['a','b','c']}",
		&(struct run_options){ .jobs = 2 });
	lab_assert_told(&l, "+a +b");
	lab_end(&l, "b", 4);
	lab_assert_told(&l, ""); /* a runs to its end, c does not begin */
	lab_end(&l, "a", 0);
	assert_int_equal(run_result(l.run)->code, 4);
	lab_finish(&l, RUN_FAILED);
}

static void copies_know_their_number(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'repeat':3,'template':'c{index}'}", NULL);
	lab_assert_told(&l, "+c0");
	lab_end(&l, "c0", 0);
	lab_end(&l, "c1", 0);
	lab_end(&l, "c2", 0);
	lab_assert_told(&l, "+c1 +c2");
	lab_finish(&l, RUN_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sequence_starts_one_child_at_a_time),
		cmocka_unit_test(a_passed_over_failure_gives_the_next_nothing),
		cmocka_unit_test(a_failure_that_is_not_tolerated_is_counted),
		cmocka_unit_test(a_branch_failure_ends_its_branch_only),
		cmocka_unit_test(a_root_failure_ends_the_run),
		cmocka_unit_test(a_root_failure_is_caught_by_attempts),
		cmocka_unit_test(branches_are_joined_in_their_order),
		cmocka_unit_test(one_good_branch_is_enough),
		cmocka_unit_test(without_a_good_branch_the_first_failure_counts),
		cmocka_unit_test(a_root_failure_starts_no_further_branch),
		cmocka_unit_test(copies_know_their_number),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
