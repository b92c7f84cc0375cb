#include "base/clock.h"

#include <inttypes.h>
#include <time.h>

uint64_t clock_mono_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t clock_mono_ms(void)
{
	return clock_mono_us() / 1000;
}

uint64_t clock_real_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void clock_rfc3339(struct buf *b, uint64_t real_ms)
{
	time_t seconds = (time_t)(real_ms / 1000);
	struct tm tm;
	char text[40];

	(void)gmtime_r(&seconds, &tm);
	size_t n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	buf_printf(b, "%.*s.%03uZ", (int)n, text, (unsigned)(real_ms % 1000));
}

void clock_duration(struct buf *b, uint64_t ms)
{
	uint64_t s = ms / 1000;

	if (ms < 1000)
		buf_printf(b, "%" PRIu64 " ms", ms);
	else if (s < 60)
		buf_printf(b, "%" PRIu64 ".%" PRIu64 " s", s, ms % 1000 / 100);
	else if (s < 3600)
		buf_printf(b, "%" PRIu64 " min %02" PRIu64 " s", s / 60, s % 60);
	else
		buf_printf(b, "%" PRIu64 " h %02" PRIu64 " min", s / 3600, s / 60 % 60);
}
