#include "base/processors.h"

#include <sched.h>

#include "unit.h"

/* What taskset, or the set of a container, leaves is what may be used. */
static void those_that_are_left_count(void **state UNUSED)
{
	cpu_set_t all, one;
	int last = CPU_SETSIZE - 1;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(processors_usable(), CPU_COUNT(&all));
	while (last && !CPU_ISSET(last, &all))
		last--;
	CPU_ZERO(&one);
	CPU_SET(last, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(processors_usable(), 1);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_that_are_left_count),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("processors", tests, NULL, NULL);
}
