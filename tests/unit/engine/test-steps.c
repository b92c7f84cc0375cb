#include "engine/steps.h"

#include <fcntl.h>
#include <unistd.h>

#include "steps-lab.h"

/* What becomes of a step: its results, its failure, the lists of the result. */

static void results_are_stored_under_their_names(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	struct node *a = steps_bash(&s, "a");
	steps_own(a)->output = S("text");
	steps_own(a)->output_exit_code = S("code");
	steps_own(a)->output_stderr = S("errors");
	steps_run(&s);
	lab_end_as(&s.lab, "a", (struct job_end){ 0 }, "printed", "said");
	steps_assert_var(&s, "text", "'printed'");
	steps_assert_var(&s, "code", "'0'");
	steps_assert_var(&s, "errors", "'said'");
	steps_assert_listed(&s, "a:done:0:1");
	steps_assert_heard(&s,
		"recipe:start(.) recipe:step(0) step:bash:start(0) step:bash:complete(0) "
		"recipe:complete(.)");
	lab_assert_output(&s.lab, "printed");
	steps_finish(&s, RUN_DONE);
}

static void the_output_is_that_of_the_last_step(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	steps_own(steps_bash(&s, "a"))->output = S("x");
	steps_own(steps_bash(&s, "b"))->output = S("y");
	steps_run(&s);
	lab_print(&s.lab, "a", "first");
	lab_print(&s.lab, "b", "second");
	lab_assert_output(&s.lab, "second");
	steps_finish(&s, RUN_DONE);
}

static void a_last_step_without_a_name_prints_nothing(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	steps_own(steps_bash(&s, "a"))->output = S("x");
	(void)steps_bash(&s, "b");
	steps_run(&s);
	lab_print(&s.lab, "a", "first");
	lab_print(&s.lab, "b", "second");
	lab_assert_output(&s.lab, "");
	steps_finish(&s, RUN_DONE);
}

static void final_output_is_the_output_of_any_step(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	steps_own(steps_bash(&s, "a"))->output = S("final_output");
	steps_own(steps_bash(&s, "b"))->output = S("y");
	steps_run(&s);
	lab_print(&s.lab, "a", "first");
	lab_print(&s.lab, "b", "second");
	lab_assert_output(&s.lab, "first");
	steps_finish(&s, RUN_DONE);
}

/* -- failures ------------------------------------------------------------------------------------
 */

static void a_failed_step_ends_the_run_and_sets_nothing(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	steps_own(steps_bash(&s, "a"))->output = S("x");
	(void)steps_bash(&s, "b");
	steps_run(&s);
	lab_end_as(&s.lab, "a", (struct job_end){ .code = 3 }, "half", "why");
	lab_assert_told(&s.lab, "+a");
	steps_assert_var(&s, "x", "");
	steps_assert_listed(&s, "a:failed:3:1");
	steps_assert_heard(&s,
		"recipe:start(.) recipe:step(0) step:bash:start(0) step:bash:error(0) "
		"recipe:error(.)");
	assert_int_equal(run_result(s.lab.run)->code, 3);
	assert_str(run_result(s.lab.run)->failed, "0");
	steps_finish(&s, RUN_FAILED);
}

static void a_tolerated_failure_keeps_what_was_printed(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	struct node *a = steps_bash(&s, "a");
	steps_own(a)->output = S("x");
	steps_own(a)->output_exit_code = S("code");
	steps_continue(a);
	(void)steps_bash(&s, "b");
	steps_run(&s);
	lab_end_as(&s.lab, "a", (struct job_end){ .code = 3 }, "half", "");
	lab_end(&s.lab, "b", 0);
	steps_assert_var(&s, "x", "'half'");
	steps_assert_var(&s, "code", "'3'");
	steps_assert_listed(&s, "a:tolerated:3:1 b:done:0:1");
	assert_int_equal(run_result(s.lab.run)->tally.failed, 0);
	assert_int_equal(run_result(s.lab.run)->tally.tolerated, 1);
	steps_finish(&s, RUN_DONE);
}

static void a_failed_agent_has_said_nothing(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	struct node *a = steps_bash(&s, "a");
	steps_own(a)->output = S("x");
	steps_own(a)->agent = true;
	steps_continue(a);
	steps_run(&s);
	lab_end_as(&s.lab, "a", (struct job_end){ .code = 3 }, "half", "");
	steps_assert_var(&s, "x", "null");
	steps_assert_heard(&s,
		"recipe:start(.) recipe:step(0) step:agent:start(0) step:agent:error(0) "
		"recipe:complete(.)");
	steps_finish(&s, RUN_DONE);
}

static void the_rest_may_be_left_out(void **state UNUSED)
{
	struct steps_lab s;
	AUTO_BUF b = BUF_INIT;

	steps_init(&s);
	steps_own(steps_bash(&s, "a"))->on_error = STEP_FAILURE_SKIP_REMAINING;
	(void)steps_bash(&s, "b");
	(void)steps_bash(&s, "c");
	steps_run(&s);
	lab_end(&s.lab, "a", 3);
	lab_assert_told(&s.lab, "+a");
	steps_assert_listed(&s, "a:failed:3:1 b:skipped:0:0 c:skipped:0:0");
	assert_str(steps_json(&b, run_result(s.lab.run)->skipped), "[\"b\",\"c\"]");
	assert_int_equal(run_result(s.lab.run)->code, 0);
	steps_finish(&s, RUN_PARTIAL);
}

static void what_is_not_what_was_asked_for_is_a_failure(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	steps_own(steps_bash(&s, "a"))->output = S("x");
	s.no_result = true;
	steps_run(&s);
	lab_print(&s.lab, "a", "words");
	steps_assert_var(&s, "x", "");
	steps_assert_listed(&s, "a:failed:1:1");
	const struct failures *f = run_result(s.lab.run)->failures;
	assert_int_equal(f->kept.len, 1);
	assert_str(f->kept.at[0].err, "not what was asked for\nhint: ask again");
	assert_int_equal(run_result(s.lab.run)->tally.failed, 1);
	steps_finish(&s, RUN_FAILED);
}

static void where_that_is_tolerated_it_is_kept_as_it_was_said(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	struct node *a = steps_bash(&s, "a");
	steps_own(a)->output = S("x");
	steps_continue(a);
	s.no_result = true;
	steps_run(&s);
	lab_print(&s.lab, "a", "words");
	steps_assert_var(&s, "x", "['words']");
	steps_assert_listed(&s, "a:tolerated:1:1");
	steps_finish(&s, RUN_DONE);
}

static void attempts_are_counted_and_told(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	steps_bash(&s, "a")->retry.value = 3;
	steps_run(&s);
	lab_end(&s.lab, "a", 3);
	lab_end(&s.lab, "a", 0);
	lab_assert_told(&s.lab, "+a +a");
	steps_assert_listed(&s, "a:done:0:2");
	steps_assert_heard(&s, "recipe:start(.) recipe:step(0) step:bash:start(0) step:retry(0) "
			       "step:bash:start(0) step:bash:complete(0) recipe:complete(.)");
	steps_finish(&s, RUN_DONE);
}

static void what_trying_again_cannot_change_is_tried_once(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	steps_bash(&s, "a")->retry.value = 3;
	steps_run(&s);
	lab_end(&s.lab, "a", 127);
	steps_assert_listed(&s, "a:failed:127:1");
	steps_finish(&s, RUN_FAILED);
	steps_init(&s);
	steps_bash(&s, "a")->retry.value = 3;
	s.makes = STEP_CANNOT;
	steps_run(&s);
	lab_assert_told(&s.lab, "");
	steps_assert_listed(&s, "a:failed:127:1");
	assert_str(run_result(s.lab.run)->failures->kept.at[0].err, "there is none");
	steps_finish(&s, RUN_FAILED);
}

/* -- guards and mistakes -------------------------------------------------------------------------
 */

static void a_false_guard_skips_a_step(void **state UNUSED)
{
	struct steps_lab s;
	AUTO_BUF b = BUF_INIT;

	steps_init(&s);
	struct node *a = steps_bash(&s, "a");
	a->when = steps_write(&s, "no");
	steps_own(a)->output = S("x");
	steps_bash(&s, "b")->when = steps_write(&s, "yes");
	steps_run(&s);
	lab_assert_told(&s.lab, "+b");
	lab_end(&s.lab, "b", 0);
	steps_assert_var(&s, "x", "");
	steps_assert_listed(&s, "a:skipped:0:0 b:done:0:1");
	assert_str(steps_json(&b, run_result(s.lab.run)->skipped), "[\"a\"]");
	steps_assert_heard(&s, "recipe:start(.) recipe:step(0) step:skip(0) recipe:step(1) "
			       "step:bash:start(1) step:bash:complete(1) recipe:complete(.)");
	steps_finish(&s, RUN_DONE);
}

static void a_mistake_of_the_author_fails_the_run_where_it_is(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	(void)steps_bash(&s, "a");
	steps_bash(&s, "b")->when = steps_write(&s, "mistake");
	(void)steps_bash(&s, "c");
	steps_run(&s);
	lab_end(&s.lab, "a", 0);
	lab_assert_told(&s.lab, "+a stop-all sweep");
	assert_string_equal(run_result(s.lab.run)->error, "a mistake in a guard");
	assert_str(run_result(s.lab.run)->failed, "1");
	steps_finish(&s, RUN_FAILED);
	steps_init(&s);
	steps_continue(steps_bash(&s, "a")); /* which is for failures of commands */
	s.makes = STEP_MISTAKE;
	steps_run(&s);
	assert_string_equal(run_result(s.lab.run)->error, "made wrong");
	steps_finish(&s, RUN_FAILED);
}

/* -- details -------------------------------------------------------------------------------------
 */

static void output_is(const char *printed, uint64_t max, const char *want)
{
	struct steps_lab s;

	steps_init(&s);
	struct node *a = steps_bash(&s, "a");
	steps_own(a)->output = S("x");
	steps_own(a)->max_output = max;
	steps_run(&s);
	lab_print(&s.lab, "a", printed);
	steps_assert_var(&s, "x", want);
	steps_finish(&s, RUN_DONE);
}

static void a_long_output_is_cut_where_a_character_ends(void **state UNUSED)
{
	output_is("abcdef", 4, "'abcd'");
	output_is("ab\xc3\xa9"
		  "cd",
		4, "'ab\xc3\xa9'");
	output_is("abc\xc3\xa9"
		  "d",
		4, "'abc'");
	output_is("a\xe2\x82\xac"
		  "b",
		4, "'a\xe2\x82\xac'");
	output_is("a\xe2\x82\xac"
		  "b",
		3, "'a'");
	output_is("a\xf0\x9f\x98\x80", 4, "'a'");
	output_is("\xf0\x9f\x98\x80z", 4, "'\xf0\x9f\x98\x80'");
	output_is("\xf0\x9f\x98\x80", 3, "''");
	output_is("\xc3\xa9", 1, "''");
	output_is("", 1, "''");
}

static void files_of_a_command_are_removed_at_its_end(void **state UNUSED)
{
	char name[] = "/tmp/roux-steps-XXXXXX";
	struct steps_lab s;
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	(void)close(fd);
	steps_init(&s);
	(void)steps_bash(&s, "a");
	s.removes = name;
	steps_run(&s);
	assert_int_equal(access(name, F_OK), 0);
	lab_end(&s.lab, "a", 1);
	assert_int_not_equal(access(name, F_OK), 0);
	steps_finish(&s, RUN_FAILED);
}

static void on_set(void *data UNUSED, struct str name, const json_t *value UNUSED, bool hide)
{
	steps_hear(hide ? "hidden:" : "set:", name);
}

static void the_host_hears_of_every_variable(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	steps_own(steps_bash(&s, "a"))->output = S("x");
	s.host.set = on_set;
	steps_run(&s);
	buf_reset(&s.heard);
	lab_print(&s.lab, "a", "1");
	steps_assert_heard(&s, "step:bash:complete(0) set:x recipe:complete(.)");
	steps_finish(&s, RUN_DONE);
}

static void a_step_knows_where_it_is(void **state UNUSED)
{
	struct steps_lab s;
	AUTO_JSON *first = json_pack("{s:s}", "id", "a"), *stage = json_pack("{s:s}", "name", "s");

	steps_init(&s);
	s.root_step.stage.value = stage;
	steps_own(steps_bash(&s, "a"))->metadata = first;
	(void)steps_bash(&s, "b");
	json_object_set_new(s.vars, "_approval_message", json_string("old"));
	steps_run(&s);
	steps_assert_var(&s, "step", "{'id':'a'}");
	steps_assert_var(&s, "stage", "{'name':'s'}");
	steps_assert_var(&s, "_approval_message", "''"); /* of no gate before it */
	lab_end(&s.lab, "a", 0);
	steps_assert_var(&s, "step", "{'id':'a'}"); /* it has nothing to say instead */
	lab_end(&s.lab, "b", 0);
	steps_finish(&s, RUN_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_stored_under_their_names),
		cmocka_unit_test(the_output_is_that_of_the_last_step),
		cmocka_unit_test(a_last_step_without_a_name_prints_nothing),
		cmocka_unit_test(final_output_is_the_output_of_any_step),
		cmocka_unit_test(a_failed_step_ends_the_run_and_sets_nothing),
		cmocka_unit_test(a_tolerated_failure_keeps_what_was_printed),
		cmocka_unit_test(a_failed_agent_has_said_nothing),
		cmocka_unit_test(the_rest_may_be_left_out),
		cmocka_unit_test(what_is_not_what_was_asked_for_is_a_failure),
		cmocka_unit_test(where_that_is_tolerated_it_is_kept_as_it_was_said),
		cmocka_unit_test(attempts_are_counted_and_told),
		cmocka_unit_test(what_trying_again_cannot_change_is_tried_once),
		cmocka_unit_test(a_false_guard_skips_a_step),
		cmocka_unit_test(a_mistake_of_the_author_fails_the_run_where_it_is),
		cmocka_unit_test(a_long_output_is_cut_where_a_character_ends),
		cmocka_unit_test(files_of_a_command_are_removed_at_its_end),
		cmocka_unit_test(the_host_hears_of_every_variable),
		cmocka_unit_test(a_step_knows_where_it_is),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}
