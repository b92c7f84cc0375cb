#include "base/clock.h"

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

/* The last `digits` of them and a character behind. */
static char *put_part(char *at, int n, int digits, char after)
{
	for (int i = digits; i > 0; i--, n /= 10)
		at[i - 1] = (char)('0' + n % 10);
	at[digits] = after;
	return at + digits + 1;
}

void clock_rfc3339(struct buf *b, uint64_t real_ms)
{
	time_t seconds = (time_t)(real_ms / 1000);
	struct tm tm;
	char text[32], *at = text;

	(void)gmtime_r(&seconds, &tm);
	at = put_part(at, tm.tm_year + 1900, 4, '-');
	at = put_part(at, tm.tm_mon + 1, 2, '-');
	at = put_part(at, tm.tm_mday, 2, 'T');
	at = put_part(at, tm.tm_hour, 2, ':');
	at = put_part(at, tm.tm_min, 2, ':');
	at = put_part(at, tm.tm_sec, 2, '.');
	at = put_part(at, (int)(real_ms % 1000), 3, 'Z');
	buf_add(b, (struct str){ text, (size_t)(at - text) });
}

void clock_duration(struct buf *b, uint64_t ms)
{
	uint64_t s = ms / 1000;

	if (ms < 1000) {
		buf_add_number(b, ms, 1);
		buf_add(b, S(" ms"));
	} else if (s < 60) {
		buf_add_number(b, s, 1);
		buf_addc(b, '.');
		buf_add_number(b, ms % 1000 / 100, 1);
		buf_add(b, S(" s"));
	} else if (s < 3600) {
		buf_add_number(b, s / 60, 1);
		buf_add(b, S(" min "));
		buf_add_number(b, s % 60, 2);
		buf_add(b, S(" s"));
	} else {
		buf_add_number(b, s / 3600, 1);
		buf_add(b, S(" h "));
		buf_add_number(b, s / 60 % 60, 2);
		buf_add(b, S(" min"));
	}
}
