#include "base/human.h"

#include "unit.h"

static void assert_written(void (*write)(struct buf *b, uint64_t n), uint64_t n, const char *want)
{
	AUTO_BUF b = BUF_INIT;

	write(&b, n);
	assert_str(buf_str(&b), want);
}

static void thousands_are_separated(void **state UNUSED)
{
	assert_written(human_number, 0, "0");
	assert_written(human_number, 999, "999");
	assert_written(human_number, 1234, "1,234");
	assert_written(human_number, 1234567, "1,234,567");
	assert_written(human_number, UINT64_MAX, "18,446,744,073,709,551,615");
}

static void a_size_is_below_1024_of_its_unit(void **state UNUSED)
{
	assert_written(human_bytes, 0, "0 B");
	assert_written(human_bytes, 1023, "1023 B");
	assert_written(human_bytes, 1536, "1.5 KiB");
	assert_written(human_bytes, (1 << 20) - 60, "1023.9 KiB");
	assert_written(human_bytes, (1 << 20) - 1, "1.0 MiB");
	assert_written(human_bytes, (1 << 30) - 1, "1.0 GiB");
	assert_written(human_bytes, UINT64_C(5) << 50, "5120.0 TiB");
}

static void steps_of_an_axis_are_round(void **state UNUSED)
{
	assert_int_equal(human_step(0, 6), 1);
	assert_int_equal(human_step(6, 6), 1);
	assert_int_equal(human_step(7, 6), 2);
	assert_int_equal(human_step(61000, 6), 15000);
	assert_int_equal(human_step(UINT64_C(6) * 86400000, 6), 86400000);
	assert_int_equal(human_step(UINT64_C(30) * 86400000, 6), UINT64_C(8) * 86400000);
	assert_true(human_step(UINT64_MAX, 6) > 0);
}

static void labels_say_what_is_not_zero(void **state UNUSED)
{
	assert_written(human_tick, 0, "0");
	assert_written(human_tick, 20, "20 ms");
	assert_written(human_tick, 1500, "1.5 s");
	assert_written(human_tick, 2000, "2 s");
	assert_written(human_tick, 120000, "2 min");
	assert_written(human_tick, 150000, "2 min 30 s");
	assert_written(human_tick, 10800000, "3 h");
	assert_written(human_tick, 12600000, "3 h 30 min");
	assert_written(human_tick, UINT64_C(2) * 86400000, "2 days");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thousands_are_separated),
		cmocka_unit_test(a_size_is_below_1024_of_its_unit),
		cmocka_unit_test(steps_of_an_axis_are_round),
		cmocka_unit_test(labels_say_what_is_not_zero),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("human", tests, NULL, NULL);
}
