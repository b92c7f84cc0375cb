#include "unit.h"

#include "base/node-path.h"

static void parts_are_appended_to_the_path_above(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	node_path_child(&b, S("."), 3);
	node_path_child(&b, S(" 3"), 0);
	node_path_copy(&b, S(" 1"), 12);
	node_path_recover(&b, S(" 1"));
	assert_str(buf_str(&b), "3 3.0 1.r12 1.recover");
}

static void a_path_is_within_itself_and_what_is_above(void **state UNUSED)
{
	assert_true(node_path_within(S("1.2"), S("1.2")));
	assert_true(node_path_within(S("1.2"), S("1")));
	assert_true(node_path_within(S("1.2"), S(".")));
	assert_false(node_path_within(S("12"), S("1")));
	assert_false(node_path_within(S("1"), S("1.2")));
}

static void a_path_is_taken_apart_at_its_last_dot(void **state UNUSED)
{
	assert_str(node_path_up(S("1.r2.0")), "1.r2");
	assert_str(node_path_last(S("1.r2.0")), "0");
	assert_str(node_path_up(S("7")), ".");
	assert_str(node_path_last(S("7")), "7");
	assert_str(node_path_up(S(".")), ".");
	assert_str(node_path_last(S(".")), "");
	assert_str(node_path_up(S("")), ".");
}

static void rounds_are_counted_from_one(void **state UNUSED)
{
	uint64_t index = 99;

	assert_int_equal(node_path_round(S("r7")), 8);
	assert_int_equal(node_path_round(S("1.r0")), 1);
	assert_int_equal(node_path_round(S("1.r7.0")), 0);
	assert_int_equal(node_path_round(S("1.or7")), 0);
	assert_int_equal(node_path_round(S("1.r")), 0);
	assert_int_equal(node_path_round(S("1.recover")), 0);
	assert_int_equal(node_path_round(S("")), 0);
	assert_true(node_path_is_copy(S("r12"), &index) && index == 12);
	assert_false(node_path_is_copy(S("12"), &index));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_appended_to_the_path_above),
		cmocka_unit_test(a_path_is_within_itself_and_what_is_above),
		cmocka_unit_test(a_path_is_taken_apart_at_its_last_dot),
		cmocka_unit_test(rounds_are_counted_from_one),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("node-path", tests, NULL, NULL);
}
