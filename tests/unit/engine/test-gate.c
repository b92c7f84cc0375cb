#include "engine/steps.h"

#include "steps-lab.h"

/* A gate between two stages: "build" with the step a, "ship" with the step b. */

static struct {
	enum gate_answer answer;
	const char *message;
} person;

static enum gate_answer ask(void *data UNUSED, struct str path, struct str name, struct str prompt,
	uint64_t timeout_ms UNUSED, bool approves UNUSED, struct gate_heard *ret, struct report *r)
{
	steps_hear("at:", path);
	steps_hear("gate:", name);
	steps_hear("prompt:", prompt);
	buf_adds(&ret->message, person.message);
	ret->since_ms = 1234;
	if (person.answer == GATE_FAILED)
		report_error(r, (struct where){ 0 }, "cannot ask");
	return person.answer;
}

static struct {
	const struct node *build[2], *ship[1];
	json_t *value;
} stages;

static struct node *stage(struct steps_lab *s, const char *name)
{
	struct node *n = steps_add(s, NODE_SEQUENCE, name);

	steps_own(n)->listed = false;
	steps_own(n)->stage.name = str_of(name);
	steps_own(n)->stage.value = stages.value;
	return n;
}

static struct node *staged(struct steps_lab *s, enum gate_answer answer, const char *message)
{
	steps_init(s);
	person.answer = answer;
	person.message = message;
	s->host.gate = ask;
	stages.value = json_object();
	struct node *build = stage(s, "build"), *ship = stage(s, "ship");
	stages.build[0] = steps_node(s, NODE_COMMAND, "a");
	struct node *gate = steps_node(s, NODE_GATE, "approve");
	steps_own(gate)->listed = false;
	steps_own(gate)->gate.prompt = steps_write(s, "really?");
	steps_own(gate)->gate.timeout_ms = 5000;
	steps_own(gate)->gate.approves = true;
	stages.build[1] = gate;
	stages.ship[0] = steps_node(s, NODE_COMMAND, "b");
	build->children = stages.build;
	build->child_count = 2;
	ship->children = stages.ship;
	ship->child_count = 1;
	return gate;
}

static void reach(struct steps_lab *s)
{
	steps_run(s);
	buf_reset(&s->heard);
	buf_reset(&s->lab.told);
	lab_end(&s->lab, "a", 0);
}

static void finish(struct steps_lab *s, enum run_status status)
{
	steps_finish(s, status);
	json_decref(stages.value);
}

static void without_an_answer_the_run_pauses(void **state UNUSED)
{
	struct steps_lab s;

	(void)staged(&s, GATE_PENDING, "");
	reach(&s);
	lab_assert_told(&s.lab, "sweep"); /* nothing of the run may give the answer */
	/* It has not come to its end: no end of the recipe is told. */
	steps_assert_heard(&s,
		"step:bash:complete(0.0) at:0.1 gate:build prompt:really? recipe:approval(0.1)");
	const struct run_result *r = run_result(s.lab.run);
	assert_str(r->gate, "build");
	assert_str(r->prompt, "really?");
	assert_int_equal(r->gate_since_ms, 1234);
	assert_int_equal(r->gate_timeout_ms, 5000);
	assert_true(r->gate_approves);
	assert_int_equal(r->code, 0);
	assert_null(r->error);
	finish(&s, RUN_PAUSED);
}

static void a_host_that_cannot_ask_leaves_it_pending(void **state UNUSED)
{
	struct steps_lab s;

	(void)staged(&s, GATE_APPROVED, "");
	s.host.gate = NULL;
	reach(&s);
	finish(&s, RUN_PAUSED);
}

static void an_approval_lets_the_next_stage_begin(void **state UNUSED)
{
	struct steps_lab s;

	(void)staged(&s, GATE_APPROVED, "looks good");
	reach(&s);
	lab_assert_told(&s.lab, "+b");
	steps_assert_var(&s, "_approval_message", "'looks good'");
	lab_end(&s.lab, "b", 0);
	steps_assert_listed(&s, "a:done:0:1 b:done:0:1");
	assert_int_equal(run_result(s.lab.run)->gate.len, 0);
	finish(&s, RUN_DONE);
}

static void a_denial_ends_the_run(void **state UNUSED)
{
	struct steps_lab s;

	(void)staged(&s, GATE_DENIED, "");
	reach(&s);
	lab_assert_told(&s.lab, "");
	assert_string_equal(run_result(s.lab.run)->error, "stage 'build' was denied");
	steps_assert_heard(&s, "step:bash:complete(0.0) at:0.1 gate:build prompt:really? "
			       "recipe:approval(0.1) recipe:error(.)");
	finish(&s, RUN_DENIED);
}

static void a_question_that_cannot_be_asked_fails_the_run(void **state UNUSED)
{
	struct steps_lab s;

	(void)staged(&s, GATE_FAILED, "");
	reach(&s);
	assert_string_equal(run_result(s.lab.run)->error, "cannot ask");
	assert_false(str_contains(buf_str(&s.heard), S("approval")));
	finish(&s, RUN_FAILED);
	struct node *gate = staged(&s, GATE_APPROVED, "");
	steps_own(gate)->gate.prompt = steps_write(&s, "mistake");
	reach(&s);
	assert_string_equal(run_result(s.lab.run)->error, "a mistake in a text");
	assert_str(run_result(s.lab.run)->failed, "0.1");
	assert_false(str_contains(buf_str(&s.heard), S("gate:")));
	finish(&s, RUN_FAILED);
}

/* A gate of a stage that stands inside of a stage is called by both. */
static void the_name_is_that_of_all_stages_around(void **state UNUSED)
{
	struct steps_lab s;

	(void)staged(&s, GATE_PENDING, "");
	s.root_step.stage.name = S("all");
	reach(&s);
	assert_str(run_result(s.lab.run)->gate, "all/build");
	finish(&s, RUN_PAUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_an_answer_the_run_pauses),
		cmocka_unit_test(a_host_that_cannot_ask_leaves_it_pending),
		cmocka_unit_test(an_approval_lets_the_next_stage_begin),
		cmocka_unit_test(a_denial_ends_the_run),
		cmocka_unit_test(a_question_that_cannot_be_asked_fails_the_run),
		cmocka_unit_test(the_name_is_that_of_all_stages_around),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
