#include "engine/steps.h"

#include "moved-clock.h"
#include "steps-lab.h"

/* A pause as a step: an hour that passes when the test says so. Then the step "after". */

enum { HOUR = 3600 * 1000 };

static struct node *waiting(struct steps_lab *s)
{
	steps_init(s);
	struct node *w = steps_add(s, NODE_WAIT, "wait");
	steps_own(w)->wait_ms = HOUR;
	(void)steps_bash(s, "after");
	return w;
}

static void pass(struct steps_lab *s, uint64_t ms)
{
	clock_moved += ms;
	lab_turn(&s->lab);
}

/* -- a recorder that remembers one end ------------------------------------------------------------
 */

static struct {
	struct recorder recorder;
	enum recalled recalls;
	bool was_timed_out;
	int ends; /* -errno of the end of the wait */
	struct buf told;
} book;

static enum recalled recall(struct recorder *r UNUSED, const struct leaf_key *key,
	struct leaf_recall *ret, struct report *issues UNUSED)
{
	if (!str_eq(key->path, S("0")))
		return RECALL_NOTHING;
	ret->end = (struct leaf_end){ .timed_out = book.was_timed_out };
	return book.recalls;
}

static int begin(struct recorder *r UNUSED, const struct leaf_key *key UNUSED, bool last UNUSED,
	struct job_record *ret)
{
	*ret = (struct job_record){ .fd = -1 };
	return 0;
}

static int end(struct recorder *r UNUSED, const struct leaf_key *key,
	struct job_record *record UNUSED, const struct leaf_end *e)
{
	buf_printf(&book.told, "%.*s:%d:%s:%s:%.*s ", STR(key->path), e->code,
		e->ok ? "ok" : "failed", e->timed_out ? "timeout" : "", STR(e->limit));
	return str_eq(key->path, S("0")) ? book.ends : 0;
}

static const struct recorder_ops book_ops = { .recall = recall, .begin = begin, .end = end };

static void run_recorded(struct steps_lab *s, enum recalled recalls)
{
	book.recorder.ops = &book_ops;
	book.recalls = recalls;
	buf_reset(&book.told);
	steps_run_as(s, &(struct run_options){ .recorder = &book.recorder });
}

/* -- waiting -------------------------------------------------------------------------------------
 */

static void a_wait_ends_when_its_time_has_passed(void **state UNUSED)
{
	struct steps_lab s;

	(void)waiting(&s);
	steps_run(&s);
	steps_assert_heard(&s, "recipe:start(.) recipe:step(0) step:wait:start(0)");
	pass(&s, HOUR / 2);
	lab_assert_told(&s.lab, "");
	steps_assert_heard(&s, "");
	pass(&s, HOUR / 2);
	lab_assert_told(&s.lab, "+after");
	steps_assert_heard(&s, "step:wait:complete(0) recipe:step(1) step:bash:start(1)");
	lab_end(&s.lab, "after", 0);
	steps_assert_listed(&s, "wait:done:0:1 after:done:0:1");
	steps_finish(&s, RUN_DONE);
}

static void a_limit_that_is_shorter_fails_it(void **state UNUSED)
{
	struct steps_lab s;

	waiting(&s)->timeout_ms.value = HOUR / 4;
	run_recorded(&s, RECALL_NOTHING);
	pass(&s, HOUR / 4);
	assert_str(buf_str(&book.told), "0:124:failed:timeout:0 ");
	steps_assert_listed(&s, "wait:failed:124:1");
	steps_assert_heard(&s, "recipe:start(.) recipe:step(0) step:wait:start(0) "
			       "step:wait:error(0) recipe:error(.)");
	const struct failures *f = run_result(s.lab.run)->failures;
	assert_int_equal(f->kept.len, 1);
	assert_true(f->kept.at[0].timeout);
	assert_int_equal(run_result(s.lab.run)->tally.failed, 1);
	steps_finish(&s, RUN_FAILED);
}

static void a_limit_that_is_longer_changes_nothing(void **state UNUSED)
{
	struct steps_lab s;

	waiting(&s)->timeout_ms.value = 2 * HOUR;
	steps_run(&s);
	pass(&s, HOUR);
	lab_assert_told(&s.lab, "+after");
	pass(&s, HOUR);
	lab_end(&s.lab, "after", 0);
	steps_finish(&s, RUN_DONE);
}

static void a_cancel_ends_it_at_once(void **state UNUSED)
{
	struct steps_lab s;

	(void)waiting(&s);
	run_recorded(&s, RECALL_NOTHING);
	run_cancel(s.lab.run, 15);
	lab_turn(&s.lab);
	assert_true(s.lab.ended);
	lab_assert_told(&s.lab, "stop-all sweep");
	assert_str(buf_str(&book.told), ""); /* it will be waited for again */
	steps_finish(&s, RUN_CANCELLED);
}

/* "Nothing new starts, what runs may finish": a wait is nothing that could be lost. */
static void so_does_a_gentle_cancel(void **state UNUSED)
{
	struct steps_lab s;

	(void)waiting(&s);
	steps_run(&s);
	run_cancel_gently(s.lab.run);
	lab_turn(&s.lab);
	steps_finish(&s, RUN_CANCELLED);
}

static void a_tolerated_limit_lets_the_next_begin(void **state UNUSED)
{
	struct steps_lab s;

	struct node *w = waiting(&s);
	w->timeout_ms.value = HOUR / 4;
	steps_continue(w);
	steps_run(&s);
	pass(&s, HOUR / 4);
	lab_assert_told(&s.lab, "+after");
	lab_end(&s.lab, "after", 0);
	steps_assert_listed(&s, "wait:tolerated:124:1 after:done:0:1");
	steps_finish(&s, RUN_DONE);
}

/* -- recorded ------------------------------------------------------------------------------------
 */

static void what_has_been_waited_for_is_recorded(void **state UNUSED)
{
	struct steps_lab s;

	(void)waiting(&s);
	run_recorded(&s, RECALL_NOTHING);
	pass(&s, HOUR);
	lab_end(&s.lab, "after", 0);
	assert_str(buf_str(&book.told), "0:0:ok:: 1:0:ok:: ");
	steps_finish(&s, RUN_DONE);
}

static void it_is_not_waited_for_again(void **state UNUSED)
{
	struct steps_lab s;

	waiting(&s)->timeout_ms.value = HOUR / 4;
	run_recorded(&s, RECALL_DONE);
	lab_assert_told(&s.lab, "+after");
	pass(&s, HOUR);
	lab_end(&s.lab, "after", 0);
	assert_str(buf_str(&book.told), "1:0:ok:: ");
	steps_finish(&s, RUN_DONE);
}

static void one_that_ran_out_of_time_has_failed_again(void **state UNUSED)
{
	struct steps_lab s;

	(void)waiting(&s);
	book.was_timed_out = true;
	run_recorded(&s, RECALL_DONE);
	book.was_timed_out = false;
	steps_assert_listed(&s, "wait:failed:124:1");
	steps_finish(&s, RUN_FAILED);
}

static void a_wait_that_cannot_be_recorded_fails_the_run(void **state UNUSED)
{
	struct steps_lab s;

	(void)waiting(&s);
	book.ends = -28;
	run_recorded(&s, RECALL_NOTHING);
	pass(&s, HOUR);
	book.ends = 0;
	assert_true(str_starts(str_of(run_result(s.lab.run)->error), S("cannot record a wait: ")));
	steps_finish(&s, RUN_FAILED);
}

static int done(void **state UNUSED)
{
	buf_done(&book.told);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_ends_when_its_time_has_passed),
		cmocka_unit_test(a_limit_that_is_shorter_fails_it),
		cmocka_unit_test(a_limit_that_is_longer_changes_nothing),
		cmocka_unit_test(a_cancel_ends_it_at_once),
		cmocka_unit_test(so_does_a_gentle_cancel),
		cmocka_unit_test(a_tolerated_limit_lets_the_next_begin),
		cmocka_unit_test(what_has_been_waited_for_is_recorded),
		cmocka_unit_test(it_is_not_waited_for_again),
		cmocka_unit_test(one_that_ran_out_of_time_has_failed_again),
		cmocka_unit_test(a_wait_that_cannot_be_recorded_fails_the_run),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("wait", tests, NULL, done);
}
