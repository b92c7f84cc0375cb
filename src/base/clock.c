#include "base/clock.h"

#include <string.h>
#include <time.h>

#include "base/lang.h"
#include "base/number.h"

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

uint64_t clock_boot_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_BOOTTIME, &t);
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

uint64_t clock_read_rfc3339(struct str s)
{
	char text[64];
	struct tm tm = { 0 };
	uint64_t ms = 0;

	if (s.len < 20 || s.len >= sizeof(text) || s.p[s.len - 1] != 'Z')
		return 0;
	memcpy(text, s.p, s.len);
	text[s.len] = '\0';
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	time_t seconds = rest ? timegm(&tm) : -1;
	if (seconds < 0)
		return 0;
	if (*rest == '.' && !str_to_uint((struct str){ rest + 1, 3 }, &ms))
		return 0;
	return (uint64_t)seconds * 1000 + ms;
}

bool clock_read_duration(struct str s, uint64_t *ret_ms)
{
	static const struct {
		struct str name;
		double ms;
	} units[] = { { { "ms", 2 }, 1 }, { { "s", 1 }, 1e3 }, { { "m", 1 }, 6e4 },
		{ { "h", 1 }, 3.6e6 }, { { "d", 1 }, 8.64e7 } };
	const double most = 1000 * 366 * 8.64e7;
	size_t digits = 0;
	double number;

	while (digits < s.len && (ascii_digit(s.p[digits]) || s.p[digits] == '.'))
		digits++;
	if (!digits || !number_plain(str_sub(s, 0, digits), &number))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (str_eq(str_from(s, digits), units[i].name)) {
			*ret_ms =
				number * units[i].ms > most ? 0 : (uint64_t)(number * units[i].ms);
			return number * units[i].ms <= most;
		}
	return false;
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
