#include "base/clock.h"

#include <time.h>

#include "unit.h"

static struct str stamp(struct buf *b, uint64_t ms)
{
	buf_reset(b);
	clock_rfc3339(b, ms);
	return buf_str(b);
}

static struct str duration(struct buf *b, uint64_t ms)
{
	buf_reset(b);
	clock_duration(b, ms);
	return buf_str(b);
}

static void times_are_utc_with_milliseconds(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	assert_str(stamp(&b, 0), "1970-01-01T00:00:00.000Z");
	assert_str(stamp(&b, 951782400999), "2000-02-29T00:00:00.999Z");
	assert_str(stamp(&b, 4102444799007), "2099-12-31T23:59:59.007Z");
	buf_reset(&b);
	clock_stamp(&b, 951782400999);
	assert_str(buf_str(&b), "20000229-000000");
}

/* Every day of eight centuries is the one that the C library has. */
static void days_are_those_of_the_calendar(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	for (uint64_t day = 0; day < UINT64_C(2) * 146097; day++) {
		time_t seconds = (time_t)(day * 86400 + 86399);
		struct tm tm;
		char expected[64];

		(void)gmtime_r(&seconds, &tm);
		(void)strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S.001Z", &tm);
		assert_str(stamp(&b, (uint64_t)seconds * 1000 + 1), expected);
		assert_int_equal(clock_read_rfc3339(buf_str(&b)), seconds * 1000 + 1);
	}
}

static void durations_are_for_people(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	assert_str(duration(&b, 0), "0 ms");
	assert_str(duration(&b, 999), "999 ms");
	assert_str(duration(&b, 1000), "1.0 s");
	assert_str(duration(&b, 3299), "3.2 s");
	assert_str(duration(&b, 59999), "59.9 s");
	assert_str(duration(&b, 65000), "1 min 05 s");
	assert_str(duration(&b, 3599999), "59 min 59 s");
	assert_str(duration(&b, 7380000), "2 h 03 min");
	assert_str(duration(&b, 360000000), "100 h 00 min");
}

static void the_monotonic_clock_never_goes_back(void **state UNUSED)
{
	uint64_t last = clock_mono_us();

	for (int i = 0; i < 1000; i++) {
		uint64_t now = clock_mono_us();

		assert_true(now >= last);
		last = now;
	}
	assert_true(clock_mono_ms() >= last / 1000);
	assert_true(clock_real_ms() > 1600000000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_utc_with_milliseconds),
		cmocka_unit_test(days_are_those_of_the_calendar),
		cmocka_unit_test(durations_are_for_people),
		cmocka_unit_test(the_monotonic_clock_never_goes_back),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
