#include "hosts/telegram/rules/update.h"
#include "unit.h"

static enum update_kind kind_of(const char *json, struct pairing pairing, struct update *ret)
{
	struct arena a = ARENA_INIT;
	json_error_t error;
	AUTO_JSON *update = json_loads(json, 0, &error);

	assert_non_null(update);
	update_classify(&a, update, &pairing, ret);
	ret->deleted = NULL;
	arena_done(&a);
	return ret->kind;
}

#define MESSAGE(text)                                                              \
	"{\"message\":{\"message_id\":4,\"chat\":{\"id\":9,\"type\":\"private\"}," \
	"\"from\":{\"id\":9},\"text\":\"" text "\"}}"

static void only_the_code_pairs_where_there_is_one(void **state)
{
	struct pairing p = { .code = S("k7 x") };
	struct update u;

	(void)state;
	assert_int_equal(kind_of(MESSAGE("hello"), p, &u), UPDATE_IGNORE);
	assert_int_equal(kind_of(MESSAGE("/start"), p, &u), UPDATE_IGNORE);
	assert_int_equal(kind_of(MESSAGE("/help k7 x"), p, &u), UPDATE_IGNORE);
	assert_int_equal(kind_of(MESSAGE("/start K7 x"), p, &u), UPDATE_IGNORE);
	assert_int_equal(kind_of(MESSAGE("/start@bot  k7  x "), p, &u), UPDATE_MESSAGE);
	assert_true(u.pairs && u.greets && !u.denied);
	assert_int_equal(u.user, 9);
	assert_int_equal(u.message_id, 4);
	assert_int_equal(kind_of("{\"callback_query\":{\"from\":{\"id\":9},\"message\":"
				 "{\"chat\":{\"id\":9,\"type\":\"private\"}}}}",
				 p, &u),
		UPDATE_IGNORE);
}

static void a_code_that_is_left_over_is_nothing_to_a_paired_bot(void **state)
{
	struct pairing p = { .paired = true, .user = 7, .code = S("k7") };
	struct update u;

	(void)state;
	assert_int_equal(kind_of(MESSAGE("/start k7"), p, &u), UPDATE_MESSAGE);
	assert_true(u.denied && !u.pairs);
}

static void members_of_the_wrong_type_are_not_there(void **state)
{
	static const char *const bad[] = { "{\"message\":1}",
		"{\"message\":{\"chat\":\"private\"}}",
		"{\"message\":{\"chat\":{\"type\":\"private\"},\"from\":{\"id\":\"9\"}}}",
		"{\"message\":{\"chat\":{\"type\":\"private\"}}}", "[]", "{\"callback_query\":{}}",
		"{\"deleted_business_messages\":{\"message_ids\":[1,\"2\"]}}",
		"{\"message\":{\"chat\":{\"type\":\"private\"},\"from\":{\"id\":1.5}}}" };
	struct update u;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(kind_of(bad[i], (struct pairing){ 0 }, &u), UPDATE_IGNORE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_code_pairs_where_there_is_one),
		cmocka_unit_test(a_code_that_is_left_over_is_nothing_to_a_paired_bot),
		cmocka_unit_test(members_of_the_wrong_type_are_not_there),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("update", tests, NULL, NULL);
}
