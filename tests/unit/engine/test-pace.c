#include "engine/steps.h"

#include "moved-clock.h"
#include "steps-lab.h"

/* Agents one after the other, and at once in a loop whose rounds are all "agent". */

enum { HOUR = 3600 * 1000 };

static const struct node *body[1];

static struct node *agent(struct steps_lab *s, const char *id)
{
	struct node *n = steps_bash(s, id);

	steps_own(n)->agent = true;
	return n;
}

/* So many at once, as far as the pace allows. */
static void rounds(struct steps_lab *s, const char *items)
{
	steps_init(s);
	struct node *each = steps_add(s, NODE_EACH, "loop");
	struct node *one = steps_node(s, NODE_COMMAND, "agent");
	steps_own(one)->agent = true;
	steps_own(one)->listed = false;
	steps_own(each)->loop.as = S("item");
	steps_own(each)->loop.max_rounds = 100;
	steps_own(each)->loop.width = 16;
	each->each_parallel = true;
	steps_continue(each);
	body[0] = one;
	each->children = body;
	each->child_count = 1;
	json_object_set_new(s->vars, "items", json_loads(items, 0, NULL));
}

static void pass(struct steps_lab *s, uint64_t ms)
{
	clock_moved += ms;
	lab_turn(&s->lab);
}

static void no_more_run_than_may(void **state UNUSED)
{
	struct steps_lab s;

	rounds(&s, "[1,2,3]");
	s.graph.max_concurrent = 2;
	steps_run(&s);
	lab_assert_told(&s.lab, "+agent +agent");
	lab_end(&s.lab, "agent", 0);
	lab_assert_told(&s.lab, "+agent");
	lab_end(&s.lab, "agent", 1); /* a failed one makes room too */
	lab_end(&s.lab, "agent", 0);
	steps_finish(&s, RUN_DONE);
}

static void without_limits_all_run(void **state UNUSED)
{
	struct steps_lab s;

	rounds(&s, "[1,2,3]");
	steps_run(&s);
	lab_assert_told(&s.lab, "+agent +agent +agent");
	for (int i = 0; i < 3; i++)
		lab_end(&s.lab, "agent", 0);
	steps_finish(&s, RUN_DONE);
}

static void commands_that_are_not_agents_do_not_count(void **state UNUSED)
{
	struct steps_lab s;

	rounds(&s, "[1,2,3]");
	steps_own(body[0])->agent = false;
	s.graph.max_concurrent = 1;
	s.graph.max_agents = 1;
	steps_run(&s);
	lab_assert_told(&s.lab, "+agent +agent +agent");
	for (int i = 0; i < 3; i++)
		lab_end(&s.lab, "agent", 0);
	steps_finish(&s, RUN_DONE);
}

static void there_is_a_pause_after_each(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	(void)agent(&s, "a");
	(void)steps_bash(&s, "between");
	(void)agent(&s, "b");
	s.graph.min_delay_ms = HOUR;
	steps_run(&s);
	lab_assert_told(&s.lab, "+a"); /* the first waits for none */
	lab_end(&s.lab, "a", 0);
	lab_assert_told(&s.lab, "+between"); /* which is not an agent */
	lab_end(&s.lab, "between", 0);
	pass(&s, HOUR / 2);
	lab_assert_told(&s.lab, "");
	pass(&s, HOUR / 2);
	lab_assert_told(&s.lab, "+b");
	lab_end(&s.lab, "b", 0);
	steps_finish(&s, RUN_DONE);
}

static void one_that_waits_for_its_turn_can_be_cancelled(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	(void)agent(&s, "a");
	(void)agent(&s, "b");
	s.graph.min_delay_ms = HOUR;
	steps_run(&s);
	lab_end(&s.lab, "a", 0);
	run_cancel(s.lab.run, 0);
	lab_turn(&s.lab);
	assert_false(lab_has_told(&s.lab, "+b"));
	steps_finish(&s, RUN_CANCELLED);
}

/* -- backoff -------------------------------------------------------------------------------------
 */

static void backed_off(struct steps_lab *s)
{
	rounds(s, "[1,2,3,4,5,6,7]");
	s->graph.max_concurrent = 1;
	s->graph.backoff = true;
	s->graph.backoff_initial_ms = HOUR;
	s->graph.backoff_factor = 2;
	s->graph.backoff_max_ms = 3 * (uint64_t)HOUR;
	s->graph.backoff_reset = 2;
	steps_run(s);
}

static void fail_with(struct steps_lab *s, const char *out, const char *err)
{
	lab_end_as(&s->lab, "agent", (struct job_end){ .code = 1 }, out, err);
}

/* The next one starts after so many hours and not before. */
static void next_after(struct steps_lab *s, int hours)
{
	buf_reset(&s->heard);
	if (hours) {
		pass(s, (uint64_t)hours * HOUR - HOUR / 2);
		lab_assert_told(&s->lab, "");
		pass(s, HOUR / 2);
	}
	lab_assert_told(&s->lab, "+agent");
}

static void who_was_told_to_go_slow_does(void **state UNUSED)
{
	struct steps_lab s;

	backed_off(&s);
	next_after(&s, 0);
	fail_with(&s, "", "HTTP 429 Too Many Requests");
	next_after(&s, 1);
	fail_with(&s, "Rate Limit reached", "");
	next_after(&s, 2);
	fail_with(&s, "", "rate limit");
	next_after(&s, 3); /* and not 4: that is the most */
	fail_with(&s, "", "another reason");
	next_after(&s, 3); /* neither longer nor over */
	lab_end(&s.lab, "agent", 0);
	next_after(&s, 3); /* one success is not enough */
	lab_end(&s.lab, "agent", 0);
	next_after(&s, 0);
	lab_end(&s.lab, "agent", 0);
	steps_finish(&s, RUN_DONE);
}

static void successes_count_from_the_last_warning(void **state UNUSED)
{
	struct steps_lab s;

	backed_off(&s);
	next_after(&s, 0);
	fail_with(&s, "", "429");
	next_after(&s, 1);
	lab_end(&s.lab, "agent", 0);
	next_after(&s, 1);
	fail_with(&s, "", "429");
	next_after(&s, 2);
	lab_end(&s.lab, "agent", 0);
	next_after(&s, 2);
	lab_end(&s.lab, "agent", 0);
	next_after(&s, 0);
	lab_end(&s.lab, "agent", 0);
	next_after(&s, 0);
	lab_end(&s.lab, "agent", 0);
	steps_finish(&s, RUN_DONE);
}

static void a_success_that_speaks_of_limits_is_one(void **state UNUSED)
{
	struct steps_lab s;

	backed_off(&s);
	next_after(&s, 0);
	lab_print(&s.lab, "agent", "the rate limit is 429");
	next_after(&s, 0);
	run_cancel(s.lab.run, 0);
	lab_end(&s.lab, "agent", 1);
	steps_finish(&s, RUN_CANCELLED);
}

static void who_does_not_ask_for_it_is_not_slowed_down(void **state UNUSED)
{
	struct steps_lab s;

	rounds(&s, "[1,2]");
	s.graph.max_concurrent = 1;
	s.graph.backoff_initial_ms = s.graph.backoff_max_ms = HOUR;
	steps_run(&s);
	next_after(&s, 0);
	fail_with(&s, "", "429");
	next_after(&s, 0);
	lab_end(&s.lab, "agent", 0);
	steps_finish(&s, RUN_DONE);
}

/* -- how many in all -----------------------------------------------------------------------------
 */

static void one_agent_too_many_fails_the_run(void **state UNUSED)
{
	struct steps_lab s;

	steps_init(&s);
	(void)agent(&s, "a");
	agent(&s, "b")->retry.value = 2;
	(void)agent(&s, "c");
	s.graph.max_agents = 2;
	steps_run(&s);
	lab_end(&s.lab, "a", 0);
	lab_end(&s.lab, "b", 1);
	lab_end(&s.lab, "b", 0); /* another attempt is the same agent */
	assert_false(lab_has_told(&s.lab, "+c"));
	assert_string_equal(run_result(s.lab.run)->error,
		"step 'c': more than max_total_steps (2) agent steps");
	steps_finish(&s, RUN_FAILED);
}

static void a_parallel_loop_is_charged_before_it_begins(void **state UNUSED)
{
	struct steps_lab s;

	rounds(&s, "[1,2,3]");
	s.graph.max_agents = 2;
	steps_run(&s);
	assert_false(lab_has_told(&s.lab, "+agent"));
	assert_string_equal(run_result(s.lab.run)->error,
		"step 'loop': more than max_total_steps (2) agent steps");
	steps_finish(&s, RUN_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_more_run_than_may),
		cmocka_unit_test(without_limits_all_run),
		cmocka_unit_test(commands_that_are_not_agents_do_not_count),
		cmocka_unit_test(there_is_a_pause_after_each),
		cmocka_unit_test(one_that_waits_for_its_turn_can_be_cancelled),
		cmocka_unit_test(who_was_told_to_go_slow_does),
		cmocka_unit_test(successes_count_from_the_last_warning),
		cmocka_unit_test(a_success_that_speaks_of_limits_is_one),
		cmocka_unit_test(who_does_not_ask_for_it_is_not_slowed_down),
		cmocka_unit_test(one_agent_too_many_fails_the_run),
		cmocka_unit_test(a_parallel_loop_is_charged_before_it_begins),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
