#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIGITS_MAX = 17 };

/* Below a power of two the neighbours are closer than above it, so the digits may have to be one
 * higher than the correctly rounded ones. */
static bool next_up(char *text, double value)
{
	char *last = strchr(text, 'e') - 1;

	if (*last == '9' || !ascii_digit(*last))
		return false;
	++*last;
	if (strtod(text, NULL) == value)
		return true;
	--*last;
	return false;
}

/* The shortest digits d1d2d3… and the exponent e with value = 0.d1d2d3… × 10^e. printf and strtod
 * are used with the C locale's point only: roux never calls setlocale(). */
static int shortest(double value, char digits[DIGITS_MAX + 1])
{
	char text[40];

	for (int precision = 0; precision < DIGITS_MAX; precision++) {
		(void)snprintf(text, sizeof(text), "%.*e", precision, value);
		if (strtod(text, NULL) == value || next_up(text, value))
			break;
	}
	size_t n = 0;
	const char *p = text;
	for (; *p && *p != 'e'; p++)
		if (ascii_digit(*p) && n < DIGITS_MAX)
			digits[n++] = *p;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
	return (int)strtol(p + 1, NULL, 10) + 1;
}

struct spelling {
	int most, least;   /* from which to which e there is no exponent */
	int width;         /* of an exponent, its sign counted, or more */
	const char *whole; /* what ends a whole number that has no exponent */
};

/* A finite number above zero. */
static void write(struct buf *b, double value, struct spelling s)
{
	char digits[DIGITS_MAX + 1];
	int e = shortest(value, digits);
	int n = (int)strlen(digits);

	if (e > s.most || e < s.least) {
		buf_addc(b, digits[0]);
		if (n > 1)
			buf_printf(b, ".%s", digits + 1);
		buf_printf(b, "e%+0*d", s.width, e - 1);
	} else if (e <= 0) {
		buf_adds(b, "0.");
		buf_fill(b, '0', (size_t)-e);
		buf_adds(b, digits);
	} else if (n <= e) {
		buf_adds(b, digits);
		buf_fill(b, '0', (size_t)(e - n));
		buf_adds(b, s.whole);
	} else {
		buf_printf(b, "%.*s.%s", e, digits, digits + e);
	}
}

void number_text(struct buf *b, double value)
{
	if (value == 0 || !isfinite(value)) {
		buf_addc(b, '0');
		return;
	}
	if (value < 0) {
		buf_addc(b, '-');
		value = -value;
	}
	/* Below 2^53 every whole number is exact; above, the shortest digits say what was meant. */
	if (value == floor(value) && value < 9007199254740992.0) {
		buf_printf(b, "%llu", (unsigned long long)value);
		return;
	}
	write(b, value, (struct spelling){ .most = 21, .least = -5, .width = 2, .whole = "" });
}

void number_text_python(struct buf *b, double value)
{
	if (signbit(value) && !isnan(value)) {
		buf_addc(b, '-');
		value = -value;
	}
	if (value == 0 || !isfinite(value)) {
		buf_adds(b, value == 0 ? "0.0" : isnan(value) ? "nan" : "inf");
		return;
	}
	write(b, value, (struct spelling){ .most = 16, .least = -3, .width = 3, .whole = ".0" });
}

bool number_plain(struct str s, double *ret)
{
	size_t point = str_find(s, '.', 0);
	AUTO_BUF text = BUF_INIT;
	bool any = false;

	for (size_t i = 0; i < s.len; i++) {
		if (i == point)
			continue;
		if (!ascii_digit(s.p[i]))
			return false;
		any = true;
	}
	if (!any || point + 1 == s.len)
		return false;
	buf_add(&text, s);
	*ret = strtod(buf_cstr(&text), NULL);
	return true;
}

bool number_duration(struct str text, double *ret_ms)
{
	static const struct {
		struct str unit;
		double ms;
	} units[] = {
		{ { "ms", 2 }, 1 },
		{ { "s", 1 }, 1000 },
		{ { "m", 1 }, 60000 },
		{ { "h", 1 }, 3600000 },
		{ { "d", 1 }, 86400000 },
	};
	size_t digits = 0, dots = 0, end = 0;
	double n;

	while (end < text.len && (ascii_digit(text.p[end]) || (text.p[end] == '.' && !dots))) {
		dots += text.p[end] == '.';
		digits += text.p[end++] != '.';
	}
	struct str unit = str_from(text, end);
	if (!digits || text.p[0] == '.' || text.p[end - 1] == '.' ||
		!number_plain(str_sub(text, 0, end), &n))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!str_eq(unit, units[i].unit))
			continue;
		/* 0.1s is 100 ms, not one more. */
		*ret_ms = ceil(n * units[i].ms - 1e-6);
		return true;
	}
	return false;
}
