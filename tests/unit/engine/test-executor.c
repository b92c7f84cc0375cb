#include <errno.h>

#include "lab.h"

/* What the engine asks of an executor, and what it makes of its answers. */

static void a_job_hands_over_what_it_printed(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "['a','b']", NULL);
	lab_assert_told(&l, "+a");
	lab_print(&l, "a", "from a");
	lab_assert_told(&l, "+b");
	assert_str(buf_str(&lab_job(&l, "b")->in), "from a");
	lab_print(&l, "b", "from b");
	lab_assert_output(&l, "from b");
	assert_int_equal(l.freed, 2);
	lab_finish(&l, RUN_DONE);
}

static void the_two_ends_of_standard_error_are_the_failure(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "'a'", NULL);
	lab_end_as(&l, "a", (struct job_end){ .code = 3, .err_bytes = 5 }, "out", "wrong");
	const struct run_result *res = run_result(l.run);
	assert_int_equal(res->failures->total, 1);
	assert_int_equal(res->code, 3);
	assert_str(res->failures->kept.at[0].err, "wrong");
	assert_str(res->failures->kept.at[0].out, "out");
	lab_finish(&l, RUN_FAILED);
}

static void without_room_nothing_starts_until_it_grows(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	l.room = 0;
	lab_run(&l, "{'parallel':true,'template':['a','b']}", NULL);
	lab_assert_told(&l, "");
	l.room = 1;
	executor_grew(&l.executor);
	lab_turn(&l);
	lab_assert_told(&l, "+a");
	lab_end(&l, "a", 0);
	lab_assert_told(&l, "");
	l.room = 5;
	executor_grew(&l.executor);
	lab_turn(&l);
	lab_assert_told(&l, "+b");
	lab_end(&l, "b", 0);
	lab_finish(&l, RUN_DONE);
}

/* A limit of a millisecond is over before the loop has turned once; it is not before it began. */
static void the_time_limit_counts_from_the_beginning(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	l.late = true;
	lab_run(&l, "{'timeout':1,'template':'a'}", NULL);
	lab_assert_told(&l, "+a");
	uint64_t start = loop_now(l.loop);
	while (loop_now(l.loop) < start + 5)
		assert_true(loop_turn(l.loop, 1) >= 0);
	lab_assert_told(&l, "");
	lab_began(&l, "a");
	while (!l.told.len)
		assert_true(loop_turn(l.loop, -1) >= 0);
	lab_assert_told(&l, "-a");
	lab_end_as(&l, "a", (struct job_end){ .signal = 15 }, "", "");
	assert_true(run_result(l.run)->failures->kept.at[0].timeout);
	lab_finish(&l, RUN_TIMEOUT);
}

static void an_executor_may_keep_the_time_limit_itself(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "[{'timeout':600000,'failure':'continue','template':'a'},'b']", NULL);
	lab_assert_told(&l, "+a");
	lab_end_as(&l, "a", (struct job_end){ .signal = 15, .timed_out = true }, "", "");
	lab_assert_told(&l, "+b");
	lab_end(&l, "b", 0);
	assert_true(run_result(l.run)->failures->kept.at[0].timeout);
	lab_finish(&l, RUN_DONE);
}

static void what_is_lost_has_failed_and_says_so(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'retry':2,'template':'a'}", NULL);
	lab_end_as(&l, "a", (struct job_end){ .code = 125, .lost = true }, "", "");
	lab_assert_told(&l, "+a +a");
	lab_end(&l, "a", 4);
	const struct failures *f = run_result(l.run)->failures;
	assert_int_equal(f->total, 2);
	assert_true(f->kept.at[0].lost);
	assert_int_equal(f->kept.at[0].code, 125);
	assert_false(f->kept.at[1].lost);
	lab_finish(&l, RUN_FAILED);
}

static void a_full_machine_is_waited_for(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'parallel':true,'template':['a','b','c']}",
		&(struct run_options){ .jobs = 1 });
	lab_assert_told(&l, "+a");
	lab_end(&l, "a", 0);
	lab_assert_told(&l, "+b");
	lab_end(&l, "b", 0);
	lab_end(&l, "c", 0);
	lab_done(&l);

	lab_init(&l);
	lab_run(&l, "{'parallel':true,'template':['a',['x','b'],'c']}", NULL);
	lab_assert_told(&l, "+a +x +c");
	l.refuse = EAGAIN;
	lab_end(&l, "x", 0);
	lab_assert_told(&l, "!b"); /* two run, and are as many as fit */
	lab_end(&l, "a", 0);
	lab_assert_told(&l, "+b");
	lab_end(&l, "b", 0);
	lab_end(&l, "c", 0);
	lab_finish(&l, RUN_DONE);
}

static void a_command_that_cannot_start_has_failed(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	l.refuse = ENOENT;
	lab_run(&l, "'a'", NULL);
	lab_assert_told(&l, "!a");
	assert_int_equal(run_result(l.run)->code, 127);
	lab_finish(&l, RUN_FAILED);
}

/* -- a record ------------------------------------------------------------------------------------
 */

struct notes {
	struct recorder recorder;
	struct buf told;
};

static enum recalled recall(struct recorder *r UNUSED, const struct leaf_key *key UNUSED,
	struct leaf_recall *ret UNUSED, struct report *issues UNUSED)
{
	return RECALL_NOTHING;
}

static int begin(
	struct recorder *r, const struct leaf_key *key, bool last UNUSED, struct job_record *ret)
{
	struct notes *n = container_of(r, struct notes, recorder);

	buf_printf(&n->told, "[%.*s", STR(key->path));
	*ret = (struct job_record){ .fd = -1 };
	return 0;
}

static int end(struct recorder *r, const struct leaf_key *key, struct job_record *record UNUSED,
	const struct leaf_end *e)
{
	struct notes *n = container_of(r, struct notes, recorder);

	buf_printf(&n->told, " %.*s:%d]", STR(key->path), e->code);
	return 0;
}

static void printed(struct recorder *r UNUSED, struct job_record *record UNUSED,
	enum job_stream stream UNUSED, uint64_t total UNUSED)
{
}

static const struct recorder_ops recorder_ops = {
	.recall = recall, .begin = begin, .printed = printed, .end = end
};

static void what_is_under_way_is_adopted_and_not_started(void **state UNUSED)
{
	struct notes notes = { .recorder.ops = &recorder_ops };
	struct lab l;

	lab_init(&l);
	l.adopt = "1";
	l.room = 1; /* it has a slot already, whatever the others take */
	lab_run(&l, "{'parallel':true,'template':['a','b','c']}",
		&(struct run_options){ .jobs = 8, .recorder = &notes.recorder, .seq = 7 });
	lab_assert_told(&l, "+a");
	lab_end(&l, "a", 0);
	l.room = 2;
	executor_grew(&l.executor);
	lab_turn(&l);
	lab_assert_told(&l, "adopted:1 +c");
	lab_print(&l, "1", "from elsewhere");
	lab_end(&l, "c", 0);
	assert_str(buf_str(&notes.told), "[0 0:0][1[2 1:0] 2:0]");
	buf_done(&notes.told);
	lab_finish(&l, RUN_DONE);
}

/* -- two of them ---------------------------------------------------------------------------------
 */

static void a_full_pool_does_not_hold_up_the_other(void **state UNUSED)
{
	struct lab here, there;

	lab_init(&here);
	lab_init(&there);
	loop_free(there.loop);
	there.loop = here.loop;
	there.room = 0;
	lab_run(&here,
		"{'parallel':true,'template':['r1',{'runs_on':'local','template':'h1'},'r2',"
		"{'runs_on':'local','template':['h2']}]}",
		&(struct run_options){ .jobs = 8,
			.executors = (struct executor *[]){ &here.executor, &there.executor },
			.executor_count = 2,
			.elsewhere = 1 });
	lab_assert_told(&here, "+h1 +h2");
	lab_assert_told(&there, "");
	lab_end(&here, "h1", 0);
	there.room = 1;
	executor_grew(&there.executor);
	lab_turn(&here);
	lab_assert_told(&there, "+r1");
	run_cancel(here.run, 0);
	lab_turn(&here);
	lab_assert_told(&here, "-h2 stop-all");
	lab_assert_told(&there, "-r1 stop-all");
	lab_end(&here, "h2", 1);
	assert_false(here.ended);
	lab_end(&there, "r1", 1);
	lab_assert_told(&here, "sweep");
	lab_assert_told(&there, "sweep");
	assert_true(there.closed == false);
	buf_done(&there.told);
	lab_finish(&here, RUN_CANCELLED);
	assert_true(there.closed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_hands_over_what_it_printed),
		cmocka_unit_test(the_two_ends_of_standard_error_are_the_failure),
		cmocka_unit_test(without_room_nothing_starts_until_it_grows),
		cmocka_unit_test(the_time_limit_counts_from_the_beginning),
		cmocka_unit_test(an_executor_may_keep_the_time_limit_itself),
		cmocka_unit_test(what_is_lost_has_failed_and_says_so),
		cmocka_unit_test(a_full_machine_is_waited_for),
		cmocka_unit_test(a_command_that_cannot_start_has_failed),
		cmocka_unit_test(what_is_under_way_is_adopted_and_not_started),
		cmocka_unit_test(a_full_pool_does_not_hold_up_the_other),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("executor", tests, NULL, NULL);
}
