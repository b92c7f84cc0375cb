#include "base/run-status.h"

#include "unit.h"

static void every_status_has_a_name_that_is_read_back(void **state UNUSED)
{
	for (enum roux_status s = ROUX_RUNNING; s <= ROUX_REFUSED; s++) {
		enum roux_status read = ROUX_REFUSED;

		assert_true(status_str(s).len > 0);
		assert_str(status_str(s), status_name(s));
		assert_true(status_is(status_str(s), s));
		assert_true(status_read(status_str(s), &read));
		assert_int_equal(read, s);
	}
}

static void other_words_are_not_statuses(void **state UNUSED)
{
	static const char *const words[] = { "", "don", "done ", "Done", "waiting",
		STATUS_STARTING };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		enum roux_status s = ROUX_KILLED;

		assert_false(status_read(str_of(words[i]), &s));
		assert_int_equal(s, ROUX_KILLED);
		assert_false(status_is_end(str_of(words[i])));
		assert_false(status_rests(str_of(words[i]), STATUS_LIVE));
	}
}

static void a_recorded_run_ends_with_what_a_run_can_come_to(void **state UNUSED)
{
	for (enum roux_status s = ROUX_RUNNING; s <= ROUX_REFUSED; s++)
		assert_int_equal(status_is_end(status_str(s)),
			s != ROUX_RUNNING && s != ROUX_INVALID && s != ROUX_REFUSED);
}

static void what_a_resume_finds(void **state UNUSED)
{
	assert_int_equal(status_rest(ROUX_RUNNING), STATUS_LIVE);
	assert_int_equal(status_rest(ROUX_DENIED), STATUS_COMPLETE);
	assert_int_equal(status_rest(ROUX_PAUSED), STATUS_AT_GATE);
	assert_int_equal(status_rest(ROUX_TIMEOUT), STATUS_BROKEN);
	assert_true(status_rests(S("exited"), STATUS_CUT_SHORT));
	assert_true(status_rests(S("killed"), STATUS_CUT_SHORT));
	assert_false(status_rests(S("failed"), STATUS_CUT_SHORT));
}

static void good_ends_and_exit_statuses(void **state UNUSED)
{
	assert_true(status_ok(ROUX_DONE) && status_ok(ROUX_PARTIAL) && status_ok(ROUX_PAUSED));
	assert_false(status_ok(ROUX_FAILED) || status_ok(ROUX_EXITED) || status_ok(ROUX_REFUSED));
	assert_int_equal(status_exit(ROUX_PARTIAL), 3);
	assert_int_equal(status_exit(ROUX_PAUSED), 4);
	assert_int_equal(status_exit(ROUX_TIMEOUT), 124);
	assert_int_equal(status_exit(ROUX_CANCELLED), 130);
	assert_int_equal(status_exit(ROUX_KILLED), 137);
	assert_int_equal(status_exit(ROUX_INVALID), 2);
}

static void only_ordered_ends_were_asked_for(void **state UNUSED)
{
	assert_str(status_asked_by(ROUX_CANCELLED), "run.cancel");
	assert_str(status_asked_by(ROUX_KILLED), "run.kill");
	assert_str(status_asked_by(ROUX_EXITED), "");
	assert_str(status_asked_by(ROUX_DONE), "");
}

static void what_failed_or_waits_does_not_expire(void **state UNUSED)
{
	assert_true(status_expires(ROUX_DONE) && status_expires(ROUX_PARTIAL));
	assert_true(status_expires(ROUX_CANCELLED));
	assert_false(status_expires(ROUX_FAILED) || status_expires(ROUX_PAUSED));
	assert_false(status_expires(ROUX_RUNNING) || status_expires(ROUX_EXITED));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_has_a_name_that_is_read_back),
		cmocka_unit_test(other_words_are_not_statuses),
		cmocka_unit_test(a_recorded_run_ends_with_what_a_run_can_come_to),
		cmocka_unit_test(what_a_resume_finds),
		cmocka_unit_test(good_ends_and_exit_statuses),
		cmocka_unit_test(only_ordered_ends_were_asked_for),
		cmocka_unit_test(what_failed_or_waits_does_not_expire),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("run-status", tests, NULL, NULL);
}
