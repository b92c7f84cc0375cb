#include "app/launch/redo.h"

#include "app/launch/ended.h"

/* Of these paths, those whose records hold. */
#define holds(want, ...) holds_is(want, (const char *const[]){ __VA_ARGS__, NULL })
static void holds_is(const char *want, const char *const *paths)
{
	AUTO_BUF b = BUF_INIT;

	for (; *paths; paths++)
		if (redo_holds(&run.redo, str_of(*paths)))
			buf_printf(&b, "%s%s", b.len ? " " : "", *paths);
	assert_str(buf_str(&b), want);
}

static void what_comes_after_in_a_sequence_does_not_hold(void **state UNUSED)
{
	ended_template("['a',['b','c','d'],'e']");
	redo_add(&run.redo, S("1.1"), NULL);
	holds("0 1 1.0", "0", "1", "1.0", "1.1", "1.2", "2");
	assert_false(redo_holds_all(&run.redo, S("1"))); /* something in it runs again */
	assert_true(redo_holds_all(&run.redo, S("0")));
	assert_false(redo_holds_all(&run.redo, S(".")));
}

static void branches_beside_it_hold(void **state UNUSED)
{
	ended_template("[{'parallel':true,'template':[['a','b'],['c','d']]},'e']");
	redo_add(&run.redo, S("0.0.1"), NULL);
	holds("0.0.0 0.1.0 0.1.1", "0.0.0", "0.0.1", "0.1.0", "0.1.1", "1");
}

static void a_group_runs_again_with_all_in_it(void **state UNUSED)
{
	ended_template("['a',{'parallel':true,'template':['b','c']},'d']");
	redo_add(&run.redo, S("1"), &(struct redo_node){ .failed = true, .code = 3 });
	holds("0", "0", "1", "1.0", "1.1", "2");
	assert_int_equal(redo_why(&run.redo, S("1.0"))->code, 3);
	assert_null(redo_why(&run.redo, S("2"))); /* only because of another */
	assert_null(redo_why(&run.redo, S("0")));
}

static void the_first_of_several_decides(void **state UNUSED)
{
	ended_template("['a','b','c','d','e']");
	redo_add(&run.redo, S("3"), NULL);
	redo_add(&run.redo, S("1"), NULL);
	redo_add(&run.redo, S("4"), NULL);
	holds("0", "0", "1", "2", "3", "4");
}

static void copies_one_after_the_other_are_a_sequence(void **state UNUSED)
{
	ended_template("[{'repeat':12,'template':'a{index}'},'b']");
	redo_add(&run.redo, S("0.r2"), NULL);
	holds("0.r0 0.r1", "0.r0", "0.r1", "0.r2", "0.r3", "0.r11", "1");
}

static void copies_at_once_are_not(void **state UNUSED)
{
	ended_template("[{'parallel':true,'repeat':12,'template':'a{index}'},'b']");
	redo_add(&run.redo, S("0.r2"), NULL);
	holds("0.r0 0.r3 0.r11", "0.r0", "0.r2", "0.r3", "0.r11", "1");
}

static void a_recovery_belongs_to_its_node(void **state UNUSED)
{
	ended_template("['a',{'retry':2,'recover':'fix','template':'b'},'c']");
	redo_add(&run.redo, S("1.recover"), NULL);
	holds("0", "0", "1", "2");
}

static void what_is_not_there_is_the_nearest_around_it(void **state UNUSED)
{
	ended_template("['a',['b','c'],'d']");
	redo_add(&run.redo, S("1.7.3"), NULL);
	holds("0", "0", "1", "1.0", "2");
	assert_false(run.redo.whole);
	redo_add(&run.redo, S(""), NULL);
	assert_true(run.redo.whole);
	holds("", "0", "1", "2");
}

/* -- what failed ---------------------------------------------------------------------------------
 */

static void failed_commands_run_again(void **state UNUSED)
{
	ended_template("[{'parallel':true,'template':['a','b','c','d']},'e']");
	ended_command("0.0", 1, (struct leaf_record){ 0 }, "");
	ended_command("0.1", 1, (struct leaf_record){ .code = 3 }, "");
	ended_command("0.2", 1, (struct leaf_record){ .code = 0, .timed_out = true }, "");
	ended_command("0.3", 1, (struct leaf_record){ .code = 1, .cancelled = true }, "");
	ended_failed(NULL);
	holds("0.0 0.3", "0.0", "0.1", "0.2", "0.3", "1");
	assert_int_equal(redo_why(&run.redo, S("0.1"))->code, 3);
	assert_true(redo_why(&run.redo, S("0.2"))->timeout);
}

static void the_last_attempt_counts(void **state UNUSED)
{
	ended_template("[{'parallel':true,'template':[{'retry':2,'template':'a'},'b']}]");
	ended_command("0.0", 1, (struct leaf_record){ .code = 3 }, "");
	ended_command("0.0", 2, (struct leaf_record){ 0 }, "");
	ended_command("0.1", 1, (struct leaf_record){ .code = 1 }, "");
	ended_failed(NULL);
	holds("0.0", "0.0", "0.1");
}

static void tolerated_ones_do_not(void **state UNUSED)
{
	ended_template("[{'failure':'continue','template':['a','b']},'c']");
	ended_command("0.0", 1, (struct leaf_record){ .code = 3 }, "");
	ended_command("0.1", 1, (struct leaf_record){ 0 }, "");
	ended_failed(NULL);
	holds("0 0.0 0.1 1", "0", "0.0", "0.1", "1");
	assert_false(run.redo.whole);
}

static void what_a_later_attempt_made_good_does_not(void **state UNUSED)
{
	ended_template("[{'parallel':true,'template':['a','b']},'c']");
	ended_command("0.0", 1, (struct leaf_record){ .code = 3 }, "");
	ended_command("0.1", 1, (struct leaf_record){ .code = 4 }, "");
	ended_failed("{\"failures\":[{\"path\":\"0.0\",\"code\":3,\"succeeded_later\":true},"
		     "{\"path\":\"0.1\",\"code\":4,\"timeout\":true}]}");
	holds("0.0", "0.0", "0.1", "1");
	assert_true(redo_why(&run.redo, S("0.1"))->timeout);
}

static void group_ended(const char *outcome)
{
	ended_template("['x',{'retry':2,'template':['a','b']},'c']");
	ended_command("0", 1, (struct leaf_record){ 0 }, "");
	ended_command("1.0", 1, (struct leaf_record){ 0 }, "");
	ended_command("1.1", 1, (struct leaf_record){ .code = 3 }, "");
	put("old/events.jsonl",
		arena_printf(&arena,
			"{\"seq\":1,\"ts\":\"2026-01-02T03:04:05.006Z\",\"type\":\"node.done\","
			"\"path\":\"1\",\"outcome\":\"%s\"}\n",
			outcome)
			.p);
	ended_failed(NULL);
}

static void a_group_that_failed_in_all_attempts_runs_again_whole(void **state UNUSED)
{
	group_ended("failed");
	holds("0", "0", "1.0", "1.1", "2");
}

static void a_group_that_ran_out_of_time_too(void **state UNUSED)
{
	group_ended("timeout");
	holds("0", "0", "1.0", "1.1", "2");
}

static void one_that_was_cut_short_continues_inside(void **state UNUSED)
{
	group_ended("cancelled");
	holds("0 1.0", "0", "1.0", "1.1", "2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		E(what_comes_after_in_a_sequence_does_not_hold),
		E(branches_beside_it_hold),
		E(a_group_runs_again_with_all_in_it),
		E(the_first_of_several_decides),
		E(copies_one_after_the_other_are_a_sequence),
		E(copies_at_once_are_not),
		E(a_recovery_belongs_to_its_node),
		E(what_is_not_there_is_the_nearest_around_it),
		E(failed_commands_run_again),
		E(the_last_attempt_counts),
		E(tolerated_ones_do_not),
		E(what_a_later_attempt_made_good_does_not),
		E(a_group_that_failed_in_all_attempts_runs_again_whole),
		E(a_group_that_ran_out_of_time_too),
		E(one_that_was_cut_short_continues_inside),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("redo", tests, NULL, NULL);
}
