#include "runs/mail/policy.h"

#include "unit.h"

#define DONE .type = S("command.done"), .has_code = true

/* The table of async-runs.md section 7, and what happens where two of its lines apply. */
static void the_first_rule_that_applies_decides(void **state UNUSED)
{
	static const struct {
		struct policy_facts facts;
		enum delivery delivery;
		enum level level;
	} cases[] = {
		{ { DONE, .code = 1 }, DELIVERY_FOLLOWUP, LEVEL_ERROR },
		{ { DONE, .code = -9 }, DELIVERY_FOLLOWUP, LEVEL_ERROR },
		{ { DONE, .code = 1, .others = true }, DELIVERY_FOLLOWUP, LEVEL_ERROR },
		{ { DONE, .code = 1, .wants_response = true }, DELIVERY_FOLLOWUP, LEVEL_ERROR },
		{ { DONE, .others = true }, DELIVERY_FOLLOWUP, LEVEL_INFO },
		{ { DONE }, DELIVERY_LOG, LEVEL_INFO },
		{ { DONE, .wants_response = true }, DELIVERY_FOLLOWUP, LEVEL_INFO },
		/* Of a command its code decides, not the address. */
		{ { DONE, .to = S("coordinator") }, DELIVERY_LOG, LEVEL_INFO },
		{ { DONE, .to = S("session:me"), .owner = S("me") }, DELIVERY_LOG, LEVEL_INFO },
		/* One that a program wrote without a code is a message like any other. */
		{ { .type = S("command.done"), .to = S("coordinator"), .others = true },
			DELIVERY_NOTIFY, LEVEL_INFO },
		{ { .type = S("run.message"), .wants_response = true }, DELIVERY_FOLLOWUP,
			LEVEL_INFO },
		{ { .type = S("run.message"), .wants_response = true, .to = S("run:x") },
			DELIVERY_FOLLOWUP, LEVEL_INFO },
		{ { .type = S("run.message"), .to = S("session:me"), .owner = S("me") },
			DELIVERY_FOLLOWUP, LEVEL_INFO },
		{ { .type = S("run.message"), .to = S("session:you"), .owner = S("me") },
			DELIVERY_LOG, LEVEL_INFO },
		{ { .type = S("run.message"), .to = S("run:me"), .owner = S("me") }, DELIVERY_LOG,
			LEVEL_INFO },
		{ { .type = S("run.message"), .to = S("session:"), .owner = S("") }, DELIVERY_LOG,
			LEVEL_INFO },
		{ { .type = S("run.message"), .to = S("coordinator") }, DELIVERY_NOTIFY,
			LEVEL_INFO },
		{ { .type = S("run.message"), .to = S("coordinator"), .owner = S("me") },
			DELIVERY_NOTIFY, LEVEL_INFO },
		{ { .type = S("run.message"), .to = S("coordinator:x") }, DELIVERY_LOG,
			LEVEL_INFO },
		{ { .type = S("run.message"), .to = S("room:x") }, DELIVERY_LOG, LEVEL_INFO },
		{ { .type = S("run.message") }, DELIVERY_LOG, LEVEL_INFO },
		/* Only a command.done has a code that counts. */
		{ { .type = S("command.started"), .has_code = true, .code = 1 }, DELIVERY_LOG,
			LEVEL_INFO },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (policy_delivery(&cases[i].facts) != cases[i].delivery)
			fail_msg(
				"case %zu: %s", i, delivery_name(policy_delivery(&cases[i].facts)));
		if (policy_level(&cases[i].facts) != cases[i].level)
			fail_msg("case %zu: %s", i, level_name(policy_level(&cases[i].facts)));
	}
}

static void the_words_read_back(void **state UNUSED)
{
	for (enum delivery d = DELIVERY_LOG; d <= DELIVERY_FOLLOWUP; d++) {
		enum delivery back = DELIVERY_LOG;

		assert_true(delivery_read(str_of(delivery_name(d)), &back));
		assert_int_equal(back, d);
	}
	for (enum level l = LEVEL_INFO; l <= LEVEL_ERROR; l++) {
		enum level back = LEVEL_INFO;

		assert_true(level_read(str_of(level_name(l)), &back));
		assert_int_equal(back, l);
	}
	assert_string_equal(delivery_name(DELIVERY_FOLLOWUP), "followup");
	assert_string_equal(level_name(LEVEL_WARNING), "warning");
}

static void another_word_changes_nothing(void **state UNUSED)
{
	static const char *const words[] = { "", "Log", "log ", "follow", "followups", "infos" };
	enum delivery d = DELIVERY_NOTIFY;
	enum level l = LEVEL_WARNING;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		assert_false(delivery_read(str_of(words[i]), &d));
		assert_false(level_read(str_of(words[i]), &l));
	}
	assert_int_equal(d, DELIVERY_NOTIFY);
	assert_int_equal(l, LEVEL_WARNING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_rule_that_applies_decides),
		cmocka_unit_test(the_words_read_back),
		cmocka_unit_test(another_word_changes_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
