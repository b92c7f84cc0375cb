#include "base/human.h"

#include <inttypes.h>
#include <stdio.h>

void human_number(struct buf *b, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf_addc(b, ',');
		buf_addc(b, digits[i]);
	}
}

void human_bytes(struct buf *b, uint64_t n)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double value = (double)n / 1024;
	size_t unit = 0;

	if (n < 1024) {
		buf_printf(b, "%" PRIu64 " B", n);
		return;
	}
	/* What would be written as 1024.0 is 1.0 of the next. */
	for (; value >= 1023.95 && unit + 1 < ARRAY_SIZE(units); unit++)
		value /= 1024;
	buf_printf(b, "%.1f %s", value, units[unit]);
}

uint64_t human_step(uint64_t total_ms, unsigned ticks)
{
	static const uint64_t steps[] = { 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000,
		10000, 15000, 30000, 60000, 120000, 300000, 600000, 900000, 1800000, 3600000,
		7200000, 10800000, 21600000, 43200000, 86400000 };
	uint64_t step = 0;

	for (size_t i = 0; i < ARRAY_SIZE(steps) && !step; i++)
		if (total_ms <= steps[i] * ticks)
			step = steps[i];
	for (uint64_t day = steps[ARRAY_SIZE(steps) - 1]; !step; day *= 2)
		if (total_ms / ticks < day || day > UINT64_MAX / 4)
			step = day;
	return step;
}

void human_tick(struct buf *b, uint64_t ms)
{
	uint64_t s = ms / 1000;

	if (ms == 0)
		buf_addc(b, '0');
	else if (ms < 1000)
		buf_printf(b, "%" PRIu64 " ms", ms);
	else if (s < 60)
		buf_printf(b, ms % 1000 ? "%" PRIu64 ".%" PRIu64 " s" : "%" PRIu64 " s", s,
			ms % 1000 / 100);
	else if (s < 3600)
		buf_printf(b, s % 60 ? "%" PRIu64 " min %02" PRIu64 " s" : "%" PRIu64 " min",
			s / 60, s % 60);
	else if (s < 172800)
		buf_printf(b, s % 3600 ? "%" PRIu64 " h %02" PRIu64 " min" : "%" PRIu64 " h",
			s / 3600, s / 60 % 60);
	else
		buf_printf(b, "%" PRIu64 " days", s / 86400);
}
