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
static char *put_part(char *at, unsigned n, int digits, char after)
{
	for (int i = digits; i > 0; i--, n /= 10)
		at[i - 1] = (char)('0' + n % 10);
	at[digits] = after;
	return at + digits + 1;
}

struct utc {
	unsigned year, month, day, hour, minute, second;
};

/* The parts of a time in UTC. gmtime_r() does the same, and looks for the local time zone first:
 * that is half a dozen system calls of a command that takes a few hundred. */
static struct utc split(uint64_t real_ms)
{
	uint64_t seconds = real_ms / 1000, days = seconds / 86400;
	/* Years begin in March, so that the day of the leap year is the last one; four centuries
	 * have 146097 days, and 719468 of them lie between March of the year 0 and 1970. */
	uint64_t day = days + 719468, era = day / 146097;
	uint64_t of_era = day % 146097;
	uint64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	uint64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	uint64_t month = (5 * of_year + 2) / 153; /* 0: March */

	return (struct utc){
		.year = (unsigned)(year + era * 400 + (month >= 10)),
		.month = (unsigned)(month < 10 ? month + 3 : month - 9),
		.day = (unsigned)(of_year - (153 * month + 2) / 5 + 1),
		.hour = (unsigned)(seconds / 3600 % 24),
		.minute = (unsigned)(seconds / 60 % 60),
		.second = (unsigned)(seconds % 60),
	};
}

void clock_rfc3339(struct buf *b, uint64_t real_ms)
{
	struct utc t = split(real_ms);
	char text[32], *at = text;

	at = put_part(at, t.year, 4, '-');
	at = put_part(at, t.month, 2, '-');
	at = put_part(at, t.day, 2, 'T');
	at = put_part(at, t.hour, 2, ':');
	at = put_part(at, t.minute, 2, ':');
	at = put_part(at, t.second, 2, '.');
	at = put_part(at, (unsigned)(real_ms % 1000), 3, 'Z');
	buf_add(b, (struct str){ text, (size_t)(at - text) });
}

void clock_stamp(struct buf *b, uint64_t real_ms)
{
	struct utc t = split(real_ms);

	buf_add_number(b, t.year, 4);
	buf_add_number(b, t.month, 2);
	buf_add_number(b, t.day, 2);
	buf_addc(b, '-');
	buf_add_number(b, t.hour, 2);
	buf_add_number(b, t.minute, 2);
	buf_add_number(b, t.second, 2);
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
