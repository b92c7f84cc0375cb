#include "base/clock.h"
#include "remote/lease.h"

#include "unit.h"

/* When a worker with nothing to do leaves, by a clock of the test: a driver that does not beat for
 * 60 is gone, a new one is waited for for 600, a command for 100. */

static void rest(void **state UNUSED)
{
	static const struct {
		uint64_t now, beat_seen, ended;
		bool draining;
		const char *why;
	} rows[] = {
		{ 1000, 1000, 1000, false, NULL },
		{ 1100, 1100, 1000, false, NULL },
		{ 1101, 1100, 1000, false, "idle" },
		{ 1060, 1000, 950, false, "idle" },
		{ 1001, 1000, 1000, true, "idle" },
		/* The driver is gone: it is waited for, however long nothing has been done. */
		{ 1061, 1000, 0, false, NULL },
		{ 1061, 1000, 0, true, NULL },
		{ 1660, 1000, 0, false, NULL },
		{ 1661, 1000, 0, false, "orphan" },
		/* … from the end of what it had been given. */
		{ 1661, 1000, 1500, false, NULL },
		{ 2100, 1000, 1500, false, NULL },
		{ 2101, 1000, 1500, false, "orphan" },
		/* A beat that was seen, a command that ended after the clock was asked. */
		{ 1000, 1001, 900, false, NULL },
		{ 1000, 1001, 1001, false, NULL },
		{ 1000, 900, 1001, false, NULL },
		{ 1000, 1001, 0, false, "idle" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *why = lease_rest(&(struct rest){ .now = rows[i].now,
			.beat_seen = rows[i].beat_seen,
			.ended = rows[i].ended,
			.gone = 60,
			.orphan = 600,
			.idle = 100,
			.draining = rows[i].draining });

		if (why != rows[i].why && (!why || !rows[i].why || strcmp(why, rows[i].why) != 0))
			fail_msg("row %zu: %s", i, why ? why : "stays");
	}
}

static void ago(void **state UNUSED)
{
	assert_int_equal(clock_since(5, 3), 2);
	assert_int_equal(clock_since(3, 3), 0);
	assert_int_equal(clock_since(3, 5), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rest),
		cmocka_unit_test(ago),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
