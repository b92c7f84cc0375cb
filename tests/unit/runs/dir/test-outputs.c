#include "runs/dir/outputs.h"

#include "unit.h"

static void is(const char *path, uint64_t number, bool err, const char *want)
{
	AUTO_BUF name = BUF_INIT;

	output_name(&name, str_of(path), number, err);
	assert_str(buf_str(&name), want);
}

static void the_first_execution_has_no_number(void **state UNUSED)
{
	is("0", 1, false, "0.out");
	is("1.0", 1, true, "1.0.err");
	is("1.r3.0", 0, false, "1.r3.0.out");
}

static void later_executions_have_one(void **state UNUSED)
{
	is("1.0", 2, false, "1.0.a2.out");
	is("1.0", 17, true, "1.0.a17.err");
}

static struct str long_path(char *room, size_t len)
{
	for (size_t i = 0; i < len; i++)
		room[i] = i % 2 ? '.' : '1';
	return (struct str){ room, len };
}

static void a_path_that_is_too_long_is_a_sum(void **state UNUSED)
{
	char room[400];
	AUTO_BUF at_limit = BUF_INIT;
	AUTO_BUF over = BUF_INIT;
	AUTO_BUF other = BUF_INIT;

	output_name(&at_limit, long_path(room, 200), 1, false);
	assert_int_equal(at_limit.len, 200 + strlen(".out"));
	output_name(&over, long_path(room, 201), 3, true);
	assert_int_equal(over.len, 64 + strlen(".a3.err"));
	assert_true(str_ends(buf_str(&over), S(".a3.err")));
	output_name(&other, long_path(room, 203), 3, true);
	assert_false(str_eq(buf_str(&over), buf_str(&other)));
}

static void a_path_out_of_a_file_is_no_way_out_of_the_directory(void **state UNUSED)
{
	static const char *const wrong[] = { "", ".", "..", "../run", "1/0", "1.0\n", "A", "1.*" };
	AUTO_BUF b = BUF_INIT;
	char room[400];

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(output_file(&b, str_of(wrong[i]), 1, false));
	assert_int_equal(b.len, 0);
	assert_true(output_file(&b, S("2.recover.r0"), 2, true));
	assert_str(buf_str(&b), "out/2.recover.r0.a2.err");
	assert_true(output_file(&b, long_path(room, 399), 1, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_execution_has_no_number),
		cmocka_unit_test(later_executions_have_one),
		cmocka_unit_test(a_path_that_is_too_long_is_a_sum),
		cmocka_unit_test(a_path_out_of_a_file_is_no_way_out_of_the_directory),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("outputs", tests, NULL, NULL);
}
