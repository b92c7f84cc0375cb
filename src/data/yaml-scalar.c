#include "data/yaml-scalar.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "data/big.h"

/* Digits of another base are turned into decimal ones in quadratic time; more than these stay text.
 */
enum { BASE_DIGITS_MAX = 1024 };

static bool one_of(struct str s, const char *const *words)
{
	for (; *words; words++)
		if (str_eq(s, str_of(*words)))
			return true;
	return false;
}

/* How many bytes from `at` on are of `set`. */
static size_t span(struct str s, size_t at, const char *set)
{
	size_t n = 0;

	while (at + n < s.len && s.p[at + n] && strchr(set, s.p[at + n]))
		n++;
	return n;
}

static size_t sign(struct str s)
{
	return s.len && (s.p[0] == '-' || s.p[0] == '+');
}

static void without_underscores(struct str s, struct buf *ret)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] != '_')
			buf_addc(ret, s.p[i]);
}

/* -- whole numbers -------------------------------------------------------------------------------
 */

/* A number of any size: limbs of nine decimal digits, the lowest first. */
enum { LIMB = 1000000000 };
struct huge {
	VEC(uint32_t) limbs;
};

static void multiply_add(struct huge *h, unsigned factor, unsigned digit)
{
	uint64_t carry = digit;

	vec_each (limb, &h->limbs) {
		carry += (uint64_t)*limb * factor;
		*limb = (uint32_t)(carry % LIMB);
		carry /= LIMB;
	}
	if (carry)
		vec_push(&h->limbs, (uint32_t)carry);
}

static void huge_text(const struct huge *h, struct buf *b)
{
	if (!h->limbs.len)
		buf_addc(b, '0');
	for (size_t i = h->limbs.len; i-- > 0;)
		buf_printf(b, i + 1 == h->limbs.len ? "%u" : "%09u", h->limbs.at[i]);
}

static unsigned digit_value(char c)
{
	return ascii_digit(c) ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
}

static json_t *from_decimal(bool negative, struct str digits)
{
	AUTO_BUF text = BUF_INIT;
	int64_t value;

	if (negative)
		buf_addc(&text, '-');
	buf_add(&text, digits);
	if (str_to_int(buf_str(&text), &value))
		return json_integer(value);
	return json_big(buf_str(&text));
}

/* `digits` has no underscores; NULL when there are none or too many. */
static json_t *from_base(bool negative, struct str digits, unsigned base)
{
	struct huge h = { 0 };
	AUTO_BUF text = BUF_INIT;

	if (!digits.len || digits.len > BASE_DIGITS_MAX)
		return NULL;
	for (size_t i = 0; i < digits.len; i++)
		multiply_add(&h, base, digit_value(digits.p[i]));
	huge_text(&h, &text);
	vec_done(&h.limbs);
	return from_decimal(negative, buf_str(&text));
}

/* 1:30:00, in base 60. */
static json_t *from_sexagesimal(bool negative, struct str s)
{
	struct huge h = { 0 };
	AUTO_BUF text = BUF_INIT;
	size_t colon = str_find(s, ':', 0);

	if (s.len > BASE_DIGITS_MAX)
		return NULL;
	for (size_t i = 0; i < colon; i++)
		multiply_add(&h, 10, digit_value(s.p[i]));
	while (colon < s.len) {
		size_t next = str_find(s, ':', colon + 1);
		unsigned part = 0;

		for (size_t i = colon + 1; i < next; i++)
			part = part * 10 + digit_value(s.p[i]);
		multiply_add(&h, 60, part);
		colon = next;
	}
	huge_text(&h, &text);
	vec_done(&h.limbs);
	return from_decimal(negative, buf_str(&text));
}

/* Where the parts `:59` end that begin at `at`; `at` itself when there is none. */
static size_t after_sixtieths(struct str s, size_t at)
{
	while (at + 1 < s.len && s.p[at] == ':' && ascii_digit(s.p[at + 1])) {
		size_t two = at + 2 < s.len && ascii_digit(s.p[at + 2]) && s.p[at + 1] <= '5';

		at += 2 + two;
	}
	return at;
}

static bool is_sexagesimal(struct str s)
{
	size_t head = span(s, 0, "0123456789_");

	return s.len && s.p[0] >= '1' && s.p[0] <= '9' && head < s.len &&
	       after_sixtieths(s, head) == s.len;
}

static json_t *read_int(struct str s)
{
	size_t from = sign(s);
	bool negative = from && s.p[0] == '-';
	struct str body = str_from(s, from);
	AUTO_BUF clean = BUF_INIT;

	if (!body.len || !ascii_digit(body.p[0]))
		return NULL;
	without_underscores(body, &clean);
	struct str digits = buf_str(&clean);
	if (str_starts(body, S("0b")) && span(body, 2, "01_") == body.len - 2)
		return from_base(negative, str_from(digits, 2), 2);
	if (str_starts(body, S("0x")) && span(body, 2, "0123456789abcdefABCDEF_") == body.len - 2)
		return from_base(negative, str_from(digits, 2), 16);
	if (body.p[0] == '0')
		return span(body, 1, "01234567_") == body.len - 1 ? from_base(negative, digits, 8)
								  : NULL;
	if (body.p[0] >= '1' && body.p[0] <= '9' && span(body, 0, "0123456789_") == body.len)
		return from_decimal(negative, digits);
	return is_sexagesimal(body) ? from_sexagesimal(negative, digits) : NULL;
}

/* -- floats --------------------------------------------------------------------------------------
 */

/* JSON has no such numbers; these are the words that Python prints for them. */
static json_t *from_double(double value)
{
	if (isnan(value))
		return json_string("nan");
	if (isinf(value))
		return json_string(value < 0 ? "-inf" : "inf");
	return json_real(value);
}

static const char *const infinities[] = { ".inf", ".Inf", ".INF", NULL };
static const char *const not_numbers[] = { ".nan", ".NaN", ".NAN", NULL };

/* An exponent needs its sign: 1.0e3 is text. */
static size_t after_exponent(struct str s, size_t at)
{
	if (at + 2 >= s.len || (s.p[at] | 0x20) != 'e' || !strchr("+-", s.p[at + 1]))
		return at;
	size_t n = span(s, at + 2, "0123456789");

	return n ? at + 2 + n : at;
}

static bool is_decimal_float(struct str s)
{
	size_t from = sign(s);

	if (from >= s.len)
		return false;
	/* The rule for a leading point knows no sign: -.5 is text. */
	if (s.p[0] == '.')
		return s.len > 1 && ascii_digit(s.p[1]) &&
		       after_exponent(s, 1 + span(s, 1, "0123456789_")) == s.len;
	if (!ascii_digit(s.p[from]))
		return false;
	size_t point = from + span(s, from, "0123456789_");
	if (point >= s.len || s.p[point] != '.')
		return false;
	return after_exponent(s, point + 1 + span(s, point + 1, "0123456789_")) == s.len;
}

static bool is_sexagesimal_float(struct str s)
{
	size_t from = sign(s);

	if (from >= s.len || !ascii_digit(s.p[from]))
		return false;
	size_t head = from + span(s, from, "0123456789_");
	size_t point = after_sixtieths(s, head);
	return point > head && point < s.len && s.p[point] == '.' &&
	       point + 1 + span(s, point + 1, "0123456789_") == s.len;
}

static json_t *read_float(struct str s)
{
	AUTO_BUF clean = BUF_INIT;
	bool negative = s.len && s.p[0] == '-';

	if (one_of(str_from(s, sign(s)), infinities))
		return from_double(negative ? -INFINITY : INFINITY);
	if (one_of(s, not_numbers))
		return from_double(NAN);
	if (!is_decimal_float(s) && !is_sexagesimal_float(s))
		return NULL;
	without_underscores(str_from(s, sign(s)), &clean);
	/* strtod() knows the C locale's point only: roux never calls setlocale(). */
	if (is_decimal_float(s)) {
		double value = strtod(buf_cstr(&clean), NULL);

		return from_double(negative ? -value : value);
	}
	double value = 0;
	for (const char *p = buf_cstr(&clean); p; p = strchr(p, ':')) {
		p += *p == ':';
		value = value * 60 + strtod(p, NULL);
	}
	return from_double(negative ? -value : value);
}

/* -- words ---------------------------------------------------------------------------------------
 */

static json_t *read_bool(struct str s)
{
	static const char *const yes[] = { "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On",
		"ON", NULL };
	static const char *const no[] = { "no", "No", "NO", "false", "False", "FALSE", "off", "Off",
		"OFF", NULL };

	return one_of(s, yes) ? json_true() : one_of(s, no) ? json_false() : NULL;
}

static json_t *read_null(struct str s)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };

	return one_of(s, nulls) ? json_null() : NULL;
}

/* What the first byte rules out is most of the texts. */
static bool may_be_more(struct str s)
{
	return !s.len || (s.p[0] && strchr("-+.0123456789~yYnNtTfFoO", s.p[0]));
}

static json_t *resolve(struct str s)
{
	json_t *value = NULL;

	if (may_be_more(s)) {
		value = read_bool(s);
		value = value ? value : read_float(s);
		value = value ? value : read_int(s);
		value = value ? value : read_null(s);
	}
	return value ? value : json_from_str(s);
}

/* A tag asks for a float that a plain scalar would not be: 1, 1e3, -.5. */
static json_t *force_float(struct str s)
{
	json_t *value = read_float(s);
	AUTO_BUF clean = BUF_INIT;
	char *end;

	if (value || !span(s, 0, "+-.0123456789"))
		return value;
	without_underscores(s, &clean);
	if (span(buf_str(&clean), 0, "+-.0123456789eE") != clean.len)
		return NULL;
	double number = strtod(buf_cstr(&clean), &end);
	return end == buf_cstr(&clean) + clean.len ? from_double(number) : NULL;
}

json_t *yaml_scalar(struct str text, enum yaml_type type)
{
	switch (type) {
	case YAML_ANY:
		return resolve(text);
	case YAML_STR:
		return json_from_str(text);
	case YAML_INT:
		return read_int(text);
	case YAML_FLOAT:
		return force_float(text);
	case YAML_BOOL:
		return read_bool(text);
	case YAML_NULL:
		return json_null();
	}
	return NULL;
}
