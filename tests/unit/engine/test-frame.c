#include "lab.h"

/* The life of a frame: guard, delay, attempts, recovery, limits. */

static void a_false_guard_hands_its_input_on(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "['a',{'when':'false','template':'b'},'c']", NULL);
	lab_print(&l, "a", "from a");
	lab_assert_told(&l, "+a +c");
	assert_str(buf_str(&lab_job(&l, "c")->in), "from a");
	lab_print(&l, "c", "from c");
	lab_assert_output(&l, "from c");
	lab_finish(&l, RUN_DONE);
}

static void a_run_of_skipped_nodes_is_done(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'when':'false','template':['a','b']}", NULL);
	lab_assert_told(&l, "");
	lab_finish(&l, RUN_DONE);
}

static void attempts_are_used_up_one_after_the_other(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'retry':3,'template':'a'}", NULL);
	lab_assert_told(&l, "+a");
	lab_end(&l, "a", 1);
	lab_assert_told(&l, "+a");
	lab_end(&l, "a", 2);
	lab_assert_told(&l, "+a");
	lab_end(&l, "a", 7);
	lab_assert_told(&l, "");
	assert_int_equal(run_result(l.run)->code, 7);
	assert_int_equal(run_result(l.run)->failures->total, 3);
	lab_finish(&l, RUN_FAILED);
}

static void a_success_tolerates_the_failures_before_it(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'retry':3,'template':'a'}", NULL);
	lab_end(&l, "a", 1);
	lab_print(&l, "a", "at last");
	lab_assert_output(&l, "at last");
	assert_int_equal(run_result(l.run)->failures->total, 1);
	assert_true(run_result(l.run)->failures->kept.at[0].tolerated);
	assert_int_equal(run_result(l.run)->tally.failed, 0);
	lab_finish(&l, RUN_DONE);
}

/* Commands are counted, not attempts. */
static void assert_tally(struct lab *l, uint64_t failed, uint64_t tolerated)
{
	assert_int_equal(run_tally(l->run).failed, failed);
	assert_int_equal(run_tally(l->run).tolerated, tolerated);
}

static void what_is_tried_again_counts_when_it_failed_again(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "[{'retry':2,'template':'a'},{'failure':'continue','template':'b'},'c']", NULL);
	lab_end(&l, "a", 1);
	assert_tally(&l, 0, 0);
	lab_end(&l, "a", 1);
	assert_tally(&l, 1, 0);
	lab_end(&l, "b", 1);
	assert_tally(&l, 1, 1);
	lab_end(&l, "c", 0);
	assert_tally(&l, 1, 1);
	assert_int_equal(run_result(l.run)->tally.failed, 1);
	assert_int_equal(run_result(l.run)->failures->total, 3);
	lab_finish(&l, RUN_DONE);
}

static void a_group_that_is_tried_again_takes_all_its_failures_back(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "['x',{'retry':2,'failure':'branch','parallel':true,'template':['a','b']}]",
		NULL);
	lab_end(&l, "x", 1);
	lab_end(&l, "a", 1);
	assert_tally(&l, 2, 0);
	lab_end(&l, "b", 1);
	assert_tally(&l, 1, 0);
	lab_end(&l, "a", 0);
	lab_end(&l, "b", 1);
	assert_tally(&l, 2, 0);
	lab_finish(&l, RUN_FAILED);
}

static void a_recovery_counts_unless_a_later_attempt_succeeds(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l,
		"[{'retry':3,'recover':{'failure':'continue','template':'r'},'template':'a'},'b']",
		NULL);
	lab_end(&l, "a", 1);
	lab_end(&l, "r", 1);
	assert_tally(&l, 0, 1);
	lab_end(&l, "a", 1);
	lab_end(&l, "r", 1);
	assert_tally(&l, 0, 1);
	lab_end(&l, "a", 0);
	assert_tally(&l, 0, 0);
	lab_end(&l, "b", 0);
	lab_finish(&l, RUN_DONE);
}

static void a_failed_recovery_counts_beside_its_owner(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'parallel':true,'template':[{'retry':3,'recover':'r','template':'a'},'b']}",
		NULL);
	lab_end(&l, "a", 1);
	lab_end(&l, "r", 1);
	assert_tally(&l, 2, 0);
	lab_end(&l, "b", 0);
	assert_tally(&l, 2, 0);
	lab_finish(&l, RUN_DONE);
}

static void a_group_is_tried_again_from_its_beginning(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "['x',{'retry':2,'failure':'branch','template':['a','b']}]", NULL);
	lab_print(&l, "x", "in");
	lab_print(&l, "a", "");
	lab_assert_told(&l, "+x +a +b");
	lab_end(&l, "b", 1);
	lab_assert_told(&l, "+a");
	assert_str(buf_str(&lab_job(&l, "a")->in), "in");
	lab_end(&l, "a", 0);
	lab_end(&l, "b", 0);
	lab_assert_told(&l, "+b");
	lab_finish(&l, RUN_DONE);
}

/* The delay is over when the loop says so; nothing starts before. */
static void a_delay_comes_before_the_first_attempt(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'delay':600000,'template':'a'}", NULL);
	lab_assert_told(&l, "");
	run_cancel(l.run, 0);
	lab_turn(&l);
	lab_assert_told(&l, "stop-all sweep");
	lab_finish(&l, RUN_CANCELLED);

	lab_init(&l);
	lab_run(&l, "{'delay':1,'template':'a'}", NULL);
	while (!l.told.len)
		assert_true(loop_turn(l.loop, -1) >= 0);
	lab_assert_told(&l, "+a");
	lab_end(&l, "a", 0);
	lab_finish(&l, RUN_DONE);
}

static void a_recovery_runs_between_attempts(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'retry':2,'recover':'fix','template':'a'}", NULL);
	lab_end_as(&l, "a", (struct job_end){ .code = 1 }, "half", "");
	lab_assert_told(&l, "+a +fix");
	assert_str(buf_str(&lab_job(&l, "fix")->in), "half");
	lab_print(&l, "fix", "thrown away");
	lab_assert_told(&l, "+a");
	lab_print(&l, "a", "whole");
	lab_assert_output(&l, "whole");
	lab_finish(&l, RUN_DONE);
}

static void a_failed_recovery_ends_the_attempts(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'retry':3,'recover':'fix','template':'a'}", NULL);
	lab_end(&l, "a", 1);
	lab_end(&l, "fix", 9);
	lab_assert_told(&l, "+a +fix");
	assert_int_equal(run_result(l.run)->code, 9);
	lab_finish(&l, RUN_FAILED);
}

static void a_recovery_may_be_allowed_to_fail(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'retry':2,'recover':{'failure':'continue','template':'fix'},'template':'a'}",
		NULL);
	lab_end(&l, "a", 1);
	lab_end(&l, "fix", 9);
	lab_assert_told(&l, "+a +fix +a");
	lab_end(&l, "a", 0);
	lab_finish(&l, RUN_DONE);
}

static void the_last_attempt_has_no_recovery(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'retry':2,'recover':'fix','template':'a'}", NULL);
	lab_end(&l, "a", 1);
	lab_end(&l, "fix", 0);
	lab_end(&l, "a", 4);
	lab_assert_told(&l, "+a +fix +a");
	assert_int_equal(run_result(l.run)->code, 4);
	lab_finish(&l, RUN_FAILED);
}

/* The limit of a group ends what runs in it, and is a failure of the group. */
static void the_limit_of_a_group_ends_its_commands(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "[{'timeout':1,'failure':'continue','template':['a','b']},'c']", NULL);
	while (!lab_has_told(&l, "-a"))
		assert_true(loop_turn(l.loop, -1) >= 0);
	lab_assert_told(&l, "+a -a");
	lab_end_as(&l, "a", (struct job_end){ .signal = 15 }, "", "");
	lab_assert_told(&l, "+c");
	assert_str(buf_str(&lab_job(&l, "c")->in), "");
	lab_end(&l, "c", 0);
	lab_finish(&l, RUN_DONE);
}

/* -- orders --------------------------------------------------------------------------------------
 */

static void a_cancel_asks_and_a_kill_does_not(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "['a','b']", NULL);
	run_cancel(l.run, 2);
	lab_turn(&l);
	lab_assert_told(&l, "+a -a stop-all");
	run_kill(l.run, 2);
	lab_assert_told(&l, "--a");
	lab_end_as(&l, "a", (struct job_end){ .signal = 9 }, "", "");
	lab_assert_told(&l, "sweep-now");
	assert_int_equal(run_result(l.run)->signal, 2);
	assert_int_equal(run_result(l.run)->failures->total, 0);
	lab_finish(&l, RUN_CANCELLED);
}

static void a_gentle_cancel_lets_running_commands_finish(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "['a','b']", NULL);
	run_cancel_gently(l.run);
	lab_turn(&l);
	lab_assert_told(&l, "+a");
	lab_end(&l, "a", 0);
	lab_assert_told(&l, "sweep");
	lab_finish(&l, RUN_CANCELLED);
}

/* Whoever loses patience with a gentle cancel can still cancel. */
static void a_gentle_cancel_can_become_a_real_one(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "'a'", NULL);
	run_cancel_gently(l.run);
	run_cancel(l.run, 15);
	run_cancel(l.run, 2); /* too late */
	lab_turn(&l);
	lab_assert_told(&l, "+a -a stop-all");
	lab_end(&l, "a", 1);
	assert_int_equal(run_result(l.run)->signal, 15);
	lab_finish(&l, RUN_CANCELLED);
}

static void an_order_to_kill_changes_a_cancelled_run(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "'a'", NULL);
	run_cancel(l.run, 0);
	run_kill(l.run, 0);
	lab_turn(&l);
	lab_assert_told(&l, "+a -a stop-all --a");
	lab_end(&l, "a", 1);
	lab_finish(&l, RUN_KILLED);
}

static void a_run_of_one_node_ends_with_it(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "['a',['b','c'],'d']", &(struct run_options){ .jobs = 8, .only = S("1.0") });
	lab_end(&l, "a", 0);
	lab_print(&l, "b", "from b");
	lab_assert_told(&l, "+a +b");
	lab_assert_output(&l, "from b");
	lab_finish(&l, RUN_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_false_guard_hands_its_input_on),
		cmocka_unit_test(a_run_of_skipped_nodes_is_done),
		cmocka_unit_test(attempts_are_used_up_one_after_the_other),
		cmocka_unit_test(a_success_tolerates_the_failures_before_it),
		cmocka_unit_test(what_is_tried_again_counts_when_it_failed_again),
		cmocka_unit_test(a_group_that_is_tried_again_takes_all_its_failures_back),
		cmocka_unit_test(a_recovery_counts_unless_a_later_attempt_succeeds),
		cmocka_unit_test(a_failed_recovery_counts_beside_its_owner),
		cmocka_unit_test(a_group_is_tried_again_from_its_beginning),
		cmocka_unit_test(a_delay_comes_before_the_first_attempt),
		cmocka_unit_test(a_recovery_runs_between_attempts),
		cmocka_unit_test(a_failed_recovery_ends_the_attempts),
		cmocka_unit_test(a_recovery_may_be_allowed_to_fail),
		cmocka_unit_test(the_last_attempt_has_no_recovery),
		cmocka_unit_test(the_limit_of_a_group_ends_its_commands),
		cmocka_unit_test(a_cancel_asks_and_a_kill_does_not),
		cmocka_unit_test(a_gentle_cancel_lets_running_commands_finish),
		cmocka_unit_test(a_gentle_cancel_can_become_a_real_one),
		cmocka_unit_test(an_order_to_kill_changes_a_cancelled_run),
		cmocka_unit_test(a_run_of_one_node_ends_with_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
