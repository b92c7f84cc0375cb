#include "engine/steps.h"

#include "steps-lab.h"

/* A step "sub" that calls a recipe with the one step "inner". */

static const struct node *inside[1];

static struct node *calling(struct steps_lab *s)
{
	steps_init(s);
	struct node *sub = steps_add(s, NODE_CALL, "sub");
	steps_own(sub)->output = S("x");
	struct node *inner = steps_node(s, NODE_COMMAND, "inner");
	steps_own(inner)->output = S("own");
	struct node *root = steps_node(s, NODE_SEQUENCE, "called");
	steps_own(root)->listed = false;
	inside[0] = inner;
	root->children = inside;
	root->child_count = 1;
	s->called.root = root;
	return sub;
}

static void a_called_recipe_has_variables_of_its_own(void **state UNUSED)
{
	struct steps_lab s;

	(void)calling(&s);
	json_object_set_new(s.vars, "own", json_string("outer"));
	steps_run(&s);
	lab_assert_told(&s.lab, "+inner");
	lab_print(&s.lab, "inner", "done");
	steps_assert_var(&s, "own", "'outer'");
	steps_assert_var(&s, "x", "{'own':'done'}");
	/* Only the steps of the recipe that was started are listed. */
	steps_assert_listed(&s, "sub:done:0:1");
	steps_assert_heard(&s, "recipe:start(.) recipe:step(0) recipe:start(0) recipe:step(0.0.0) "
			       "step:bash:start(0.0.0) "
			       "step:bash:complete(0.0.0) recipe:complete(0) recipe:complete(.)");
	lab_assert_output(&s.lab, "{\"own\":\"done\"}");
	steps_finish(&s, RUN_DONE);
}

static void its_failure_is_that_of_the_step(void **state UNUSED)
{
	struct steps_lab s;

	(void)calling(&s);
	(void)steps_bash(&s, "after");
	steps_run(&s);
	lab_end(&s.lab, "inner", 4);
	lab_assert_told(&s.lab, "+inner");
	steps_assert_listed(&s, "sub:failed:4:1");
	assert_int_equal(run_result(s.lab.run)->code, 4);
	assert_str(run_result(s.lab.run)->failed, "0.0.0");
	steps_finish(&s, RUN_FAILED);
}

static void a_tolerated_failure_gives_nothing(void **state UNUSED)
{
	struct steps_lab s;

	steps_continue(calling(&s));
	(void)steps_bash(&s, "after");
	steps_run(&s);
	lab_end(&s.lab, "inner", 4);
	lab_assert_told(&s.lab, "+inner +after");
	lab_end(&s.lab, "after", 0);
	steps_assert_var(&s, "x", "null");
	steps_assert_listed(&s, "sub:tolerated:4:1 after:done:0:1");
	steps_finish(&s, RUN_DONE);
}

static void an_attempt_begins_it_anew(void **state UNUSED)
{
	struct steps_lab s;

	calling(&s)->retry.value = 2;
	steps_run(&s);
	lab_end(&s.lab, "inner", 4);
	assert_int_equal(run_tally(s.lab.run).failed, 0); /* it is tried again */
	lab_print(&s.lab, "inner", "better");
	lab_assert_told(&s.lab, "+inner +inner");
	steps_assert_var(&s, "x", "{'own':'better'}");
	steps_assert_listed(&s, "sub:done:0:2");
	assert_int_equal(run_result(s.lab.run)->retried.len, 0);
	steps_finish(&s, RUN_DONE);
	calling(&s)->retry.value = 2;
	steps_run(&s);
	lab_end(&s.lab, "inner", 4);
	lab_end(&s.lab, "inner", 5);
	assert_str(run_result(s.lab.run)->retried, "0");
	assert_int_equal(run_result(s.lab.run)->tally.failed, 1);
	steps_finish(&s, RUN_FAILED);
}

static void one_that_ends_early_has_ended_well(void **state UNUSED)
{
	struct steps_lab s;

	(void)calling(&s);
	steps_own(inside[0])->on_error = STEP_FAILURE_SKIP_REMAINING;
	(void)steps_bash(&s, "after");
	steps_run(&s);
	lab_end(&s.lab, "inner", 4);
	lab_assert_told(&s.lab, "+inner +after");
	lab_end(&s.lab, "after", 0);
	steps_assert_listed(&s, "sub:done:0:1 after:done:0:1");
	steps_finish(&s, RUN_DONE);
}

static void a_recipe_that_cannot_be_called_fails_the_step_once(void **state UNUSED)
{
	struct steps_lab s;

	calling(&s)->retry.value = 3;
	s.calls = STEP_CANNOT;
	steps_run(&s);
	steps_assert_listed(&s, "sub:failed:1:1");
	const struct failures *f = run_result(s.lab.run)->failures;
	assert_int_equal(f->kept.len, 1);
	assert_true(str_contains(f->kept.at[0].err, S("no such recipe")));
	assert_int_equal(run_result(s.lab.run)->tally.failed, 1);
	steps_finish(&s, RUN_FAILED);
	steps_continue(calling(&s));
	s.calls = STEP_CANNOT;
	steps_run_as(&s, &(struct run_options){ .only = S("0") });
	assert_int_equal(run_result(s.lab.run)->tally.failed, 0);
	assert_int_equal(run_result(s.lab.run)->tally.tolerated, 1);
	steps_assert_listed(&s, "sub:tolerated:1:1");
	steps_finish(&s, RUN_FAILED); /* that one step was asked for */
}

static void a_call_with_a_mistake_fails_the_run(void **state UNUSED)
{
	struct steps_lab s;

	steps_continue(calling(&s));
	s.calls = STEP_MISTAKE;
	steps_run(&s);
	assert_string_equal(run_result(s.lab.run)->error, "no such recipe");
	assert_str(run_result(s.lab.run)->failed, "0");
	steps_finish(&s, RUN_FAILED);
}

static void a_call_that_the_machine_fails_is_not_the_steps_failure(void **state UNUSED)
{
	struct steps_lab s;

	struct node *sub = calling(&s);
	steps_continue(sub);
	sub->retry.value = 3;
	s.calls = STEP_FAULT;
	steps_run(&s);
	assert_string_equal(run_result(s.lab.run)->error, "no such recipe");
	assert_int_equal(run_result(s.lab.run)->tally.tolerated, 0);
	assert_int_equal(run_result(s.lab.run)->failures->kept.len, 0);
	steps_assert_listed(&s, "");
	steps_finish(&s, RUN_FAILED);
}

/* -- recipes of commands -------------------------------------------------------------------------
 */

static void what_a_recipe_of_commands_prints_is_its_result(void **state UNUSED)
{
	struct steps_lab s;

	(void)calling(&s);
	s.called_plan = lab_plan("['a','b']");
	steps_run(&s);
	lab_print(&s.lab, "a", "1");
	assert_str(buf_str(&lab_job(&s.lab, "b")->in), "1");
	lab_print(&s.lab, "b", "2");
	steps_assert_var(&s, "x", "'2'");
	steps_assert_listed(&s, "sub:done:0:1");
	plan_unref(s.called_plan);
	steps_finish(&s, RUN_DONE);
}

static void its_root_is_not_that_of_the_run(void **state UNUSED)
{
	struct steps_lab s;

	steps_continue(calling(&s));
	(void)steps_bash(&s, "after");
	s.called_plan = lab_plan("[{'failure':'root','template':'a'},'b']");
	steps_run(&s);
	lab_end(&s.lab, "a", 3);
	lab_assert_told(&s.lab, "+a +after");
	lab_end(&s.lab, "after", 0);
	steps_finish(&s, RUN_DONE);
	plan_unref(s.called_plan);
}

/* -- gates ---------------------------------------------------------------------------------------
 */

static void approvals_are_not_given_in_parallel(void **state UNUSED)
{
	struct steps_lab s;
	const struct node *body[1];

	struct node *sub = calling(&s);
	inside[0] = steps_node(&s, NODE_GATE, "approve");
	struct node *each = steps_node(&s, NODE_EACH, "loop");
	each->each_parallel = true;
	json_object_set_new(s.vars, "items", json_pack("[s]", "x"));
	body[0] = sub;
	each->children = body;
	each->child_count = 1;
	s.children[0] = each;
	steps_own(each)->loop.as = S("item");
	steps_own(each)->loop.max_rounds = 10;
	steps_own(each)->loop.width = 2;
	steps_run(&s);
	assert_string_equal(run_result(s.lab.run)->error,
		"step 'sub': a recipe with approvals cannot run in a parallel loop");
	steps_finish(&s, RUN_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_called_recipe_has_variables_of_its_own),
		cmocka_unit_test(its_failure_is_that_of_the_step),
		cmocka_unit_test(a_tolerated_failure_gives_nothing),
		cmocka_unit_test(an_attempt_begins_it_anew),
		cmocka_unit_test(one_that_ends_early_has_ended_well),
		cmocka_unit_test(a_recipe_that_cannot_be_called_fails_the_step_once),
		cmocka_unit_test(a_call_with_a_mistake_fails_the_run),
		cmocka_unit_test(a_call_that_the_machine_fails_is_not_the_steps_failure),
		cmocka_unit_test(what_a_recipe_of_commands_prints_is_its_result),
		cmocka_unit_test(its_root_is_not_that_of_the_run),
		cmocka_unit_test(approvals_are_not_given_in_parallel),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("call", tests, NULL, NULL);
}
