#include <errno.h>

#include "lab.h"
#include "moved-clock.h"

/* How a run ends, and what is said of it then. Stopping commands is in test-frame.c. */

enum { HOUR = 3600 * 1000 };

static void error_is(const struct lab *l, const char *want)
{
	assert_non_null(run_result(l->run)->error);
	assert_string_equal(run_result(l->run)->error, want);
}

/* -- why -----------------------------------------------------------------------------------------
 */

static void a_failed_command_is_named(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "[{'failure':'root','template':'a --now'},'b']", NULL);
	lab_end(&l, "a", 3);
	error_is(&l, "node 0 failed with code 3: a --now");
	assert_str(run_result(l.run)->failed, "0");
	assert_int_equal(run_result(l.run)->retried.len, 0);
	lab_finish(&l, RUN_FAILED);
}

static void a_long_command_is_cut(void **state UNUSED)
{
	AUTO_BUF text = BUF_INIT;
	struct lab l;

	buf_adds(&text, "{'failure':'root','template':'a ");
	for (int i = 0; i < 200; i++)
		buf_addc(&text, 'x');
	buf_adds(&text, "'}");
	lab_init(&l);
	lab_run(&l, buf_cstr(&text), NULL);
	lab_end(&l, "a", 3);
	assert_int_equal(strlen(run_result(l.run)->error),
		strlen("node 0 failed with code 3: ") + 100 + strlen("…"));
	lab_finish(&l, RUN_FAILED);
}

static void a_run_that_went_well_has_no_error(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "['a']", NULL);
	lab_end(&l, "a", 0);
	assert_null(run_result(l.run)->error);
	assert_int_equal(run_result(l.run)->failed.len, 0);
	assert_int_equal(run_result(l.run)->code, 0);
	lab_assert_told(&l, "+a"); /* nothing is swept: what a command left behind stays */
	lab_finish(&l, RUN_DONE);
}

static void a_command_that_ran_out_of_time_is_named_so(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "[{'timeout':3600000,'failure':'root','template':'a'},'b']", NULL);
	clock_moved += HOUR;
	lab_turn(&l);
	lab_assert_told(&l, "+a -a");
	lab_end_as(&l, "a", (struct job_end){ .signal = 15 }, "", "");
	assert_true(
		str_starts(str_of(run_result(l.run)->error), S("node 0 ran out of time, code ")));
	lab_finish(&l, RUN_FAILED);
}

static void the_limit_of_a_group_is_named(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "[{'timeout':3600000,'failure':'root','template':['a','x']},'b']", NULL);
	clock_moved += HOUR;
	lab_turn(&l);
	lab_end_as(&l, "a", (struct job_end){ .signal = 15 }, "", "");
	error_is(&l, "the time limit of node 0 ran out");
	assert_str(run_result(l.run)->failed, "0");
	lab_finish(&l, RUN_FAILED);
}

static void the_limit_of_the_run_is_a_status_of_its_own(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'timeout':3600000,'template':['a','b']}", NULL);
	clock_moved += HOUR;
	lab_turn(&l);
	lab_end_as(&l, "a", (struct job_end){ .signal = 15 }, "", "");
	error_is(&l, "the time limit of the run ran out");
	lab_finish(&l, RUN_TIMEOUT);
}

static void a_signal_is_said(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "['a','b']", NULL);
	run_cancel(l.run, 15);
	lab_turn(&l);
	lab_end(&l, "a", 1);
	error_is(&l, "the run was cancelled by signal 15");
	assert_int_equal(run_result(l.run)->signal, 15);
	assert_int_equal(run_result(l.run)->failures->total, 0); /* not a failure of its own */
	lab_finish(&l, RUN_CANCELLED);
	lab_init(&l);
	lab_run(&l, "['a','b']", NULL);
	run_kill(l.run, 0);
	lab_turn(&l);
	lab_end(&l, "a", 1);
	lab_assert_told(&l, "+a -a stop-all --a sweep-now");
	error_is(&l, "the run was killed");
	lab_finish(&l, RUN_KILLED);
}

static void a_machine_that_fails_is_named_once(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'parallel':true,'template':['a','b']}", NULL);
	run_abort(l.run, "cannot keep this", ENOSPC);
	run_abort(l.run, "cannot keep that", EIO);
	lab_turn(&l);
	lab_end(&l, "a", 1);
	lab_end(&l, "b", 1);
	assert_true(str_starts(str_of(run_result(l.run)->error), S("cannot keep this: ")));
	assert_int_equal(run_result(l.run)->issues->errors, 1);
	assert_int_not_equal(run_result(l.run)->code, 0);
	lab_finish(&l, RUN_FAILED);
}

static void one_of_very_many_failures_is_named_by_its_path(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	l.room = 2000;
	lab_run(&l,
		"[{'repeat':1001,'failure':'continue','template':'a'},"
		"{'failure':'root','template':'z'}]",
		NULL);
	for (int i = 0; i < 1001; i++)
		lab_end(&l, "a", 1);
	lab_end(&l, "z", 9);
	error_is(&l, "node 1 failed with code 9");
	assert_str(run_result(l.run)->failed, "1");
	lab_finish(&l, RUN_FAILED);
}

/* -- a last look ---------------------------------------------------------------------------------
 */

static bool verify(void *data, struct report *r)
{
	struct lab *l = data;

	lab_tell(l, "verify", "");
	return l->refuse ? report_error(r, (struct where){ 0 }, "an artifact is missing") : true;
}

static void a_run_that_succeeded_is_looked_at_once_more(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "['a']", &(struct run_options){ .jobs = 1, .verify = verify });
	lab_end(&l, "a", 0);
	lab_assert_told(&l, "+a verify");
	lab_finish(&l, RUN_DONE);
	lab_init(&l);
	lab_run(&l, "['a']", &(struct run_options){ .jobs = 1, .verify = verify });
	l.refuse = 1;
	lab_print(&l, "a", "text");
	error_is(&l, "an artifact is missing");
	assert_int_equal(run_result(l.run)->code, 1);
	assert_null(run_output(l.run));
	lab_finish(&l, RUN_FAILED);
}

static void one_that_failed_is_not(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'failure':'root','template':'a'}",
		&(struct run_options){ .jobs = 1, .verify = verify });
	lab_end(&l, "a", 4);
	lab_assert_told(&l, "+a");
	lab_finish(&l, RUN_FAILED);
}

/* -- leaving -------------------------------------------------------------------------------------
 */

/* An executor elsewhere that takes its time to let go. */
struct away {
	struct executor executor;
	struct executor_ops ops;
	struct lab *lab;
	void (*swept)(void *data);
	void *swept_data;
};

static void away_sweep(struct executor *e, enum sweep how, void (*done)(void *data), void *data)
{
	struct away *a = container_of(e, struct away, executor);

	lab_tell(a->lab, "away-",
		how == SWEEP_LEAVE  ? "leave"
		: how == SWEEP_KILL ? "kill"
				    : "ask");
	a->swept = done;
	a->swept_data = data;
}

static void away_stop_all(struct executor *e UNUSED)
{
}

static void away_close(struct executor *e UNUSED)
{
}

static void run_with(struct lab *l, struct away *a)
{
	struct executor *both[] = { &l->executor, &a->executor };

	lab_init(l);
	*a = (struct away){ .executor.ops = &a->ops,
		.ops = { .sweep = away_sweep, .stop_all = away_stop_all, .close = away_close },
		.lab = l };
	lab_run(l, "'a'",
		&(struct run_options){ .jobs = 1, .executors = both, .executor_count = 2 });
}

static void it_ends_when_what_is_elsewhere_is_let_go(void **state UNUSED)
{
	struct lab l;
	struct away a;

	run_with(&l, &a);
	lab_end(&l, "a", 0);
	lab_assert_told(&l, "+a away-leave");
	assert_false(l.ended);
	a.swept(a.swept_data);
	lab_finish(&l, RUN_DONE);
}

static void a_kill_meanwhile_hurries_and_changes_nothing(void **state UNUSED)
{
	struct lab l;
	struct away a;

	run_with(&l, &a);
	lab_end(&l, "a", 0);
	run_cancel(l.run, 15); /* comes too late */
	run_kill(l.run, 9);
	run_kill(l.run, 9);
	lab_assert_told(&l, "+a away-leave away-kill");
	a.swept(a.swept_data);
	assert_int_equal(run_result(l.run)->signal, 0);
	lab_finish(&l, RUN_DONE);
}

static void a_cancelled_run_ends_when_all_are_swept(void **state UNUSED)
{
	struct lab l;
	struct away a;

	run_with(&l, &a);
	run_cancel(l.run, 0);
	lab_turn(&l);
	lab_end(&l, "a", 1);
	lab_assert_told(&l, "+a -a stop-all sweep away-ask");
	assert_false(l.ended);
	run_kill(l.run, 2); /* a second signal: it hurries, and stays cancelled */
	lab_assert_told(&l, "sweep-now away-kill");
	a.swept(a.swept_data);
	assert_true(l.ended);
	assert_int_equal(run_result(l.run)->status, RUN_CANCELLED);
	lab_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_command_is_named),
		cmocka_unit_test(a_long_command_is_cut),
		cmocka_unit_test(a_run_that_went_well_has_no_error),
		cmocka_unit_test(a_command_that_ran_out_of_time_is_named_so),
		cmocka_unit_test(the_limit_of_a_group_is_named),
		cmocka_unit_test(the_limit_of_the_run_is_a_status_of_its_own),
		cmocka_unit_test(a_signal_is_said),
		cmocka_unit_test(a_machine_that_fails_is_named_once),
		cmocka_unit_test(one_of_very_many_failures_is_named_by_its_path),
		cmocka_unit_test(a_run_that_succeeded_is_looked_at_once_more),
		cmocka_unit_test(one_that_failed_is_not),
		cmocka_unit_test(it_ends_when_what_is_elsewhere_is_let_go),
		cmocka_unit_test(a_kill_meanwhile_hurries_and_changes_nothing),
		cmocka_unit_test(a_cancelled_run_ends_when_all_are_swept),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("ending", tests, NULL, NULL);
}
