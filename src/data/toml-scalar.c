#include <stdlib.h>

#include "base/utf8.h"
#include "data/toml-reader.h"

static bool no_value(struct toml_reader *r, struct str word)
{
	static const char *const small[] = { "true", "false", "inf", "nan" };
	static const char *const nothing[] = { "null", "none", "nil" };
	AUTO_BUF hint = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(small); i++)
		if (str_eq_nocase(word, str_of(small[i])))
			buf_printf(&hint, "TOML writes %s in lower case", small[i]);
	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++)
		if (str_eq_nocase(word, str_of(nothing[i])))
			buf_adds(&hint, "TOML has no null: leave the key out");
	if (!hint.len && word.len)
		buf_printf(&hint, "a string needs quotes: \"%.*s\"",
			STR(report_quote(r->report, word)));
	if (!hint.len)
		buf_adds(
			&hint, "a value is \"text\", 1, true, a date, [array] or { inline table }");
	return toml_unexpected(r, "a value", buf_cstr(&hint));
}

/* -- numbers -------------------------------------------------------------------------------------
 */

static bool digit_of(char c, unsigned base, unsigned *ret)
{
	unsigned value = 99;

	if (ascii_digit(c))
		value = (unsigned)(c - '0');
	else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		value = (unsigned)((c | 0x20) - 'a') + 10;
	*ret = value;
	return value < base;
}

/* How many bytes of digits with single underscores between them stand at `at`; 0 also when an
 * underscore stands elsewhere. */
static size_t digits(struct str s, size_t at, unsigned base)
{
	size_t from = at;
	unsigned ignored;

	for (; at < s.len; at++) {
		if (digit_of(s.p[at], base, &ignored))
			continue;
		if (s.p[at] != '_')
			break;
		if (at == from || s.p[at - 1] == '_' || at + 1 == s.len ||
			!digit_of(s.p[at + 1], base, &ignored))
			return 0;
	}
	return at - from;
}

static const char date_form[] = "a date is 1979-05-27, a time 07:32:00, both 1979-05-27T07:32:00Z; "
				"a string needs quotes";

/* A sign behind a digit: a date is meant. */
static bool like_date(struct str word)
{
	for (size_t i = 1; i < word.len; i++)
		if (word.p[i] == ':' || (word.p[i] == '-' && ascii_digit(word.p[i - 1])))
			return true;
	return false;
}

static bool no_number(struct toml_reader *r, struct str word)
{
	toml_wrong(
		r, r->at, word.len, "'%.*s' is not a number", STR(report_quote(r->report, word)));
	if (str_find(word, '_', 0) < word.len)
		return report_hint(r->report, "an underscore stands between two digits");
	if (like_date(word))
		return report_hint(r->report, "%s", date_form);
	if (str_find(word, '.', 0) < word.len)
		return report_hint(r->report, "a point stands between two digits, once");
	return report_hint(r->report, "numbers are 42, 0xff, 0o17, 0b11, 1.5, 6e23 and inf, with a "
				      "sign if decimal; a string needs quotes");
}

static bool integer(struct toml_reader *r, struct str word, size_t at, unsigned base, int64_t *ret)
{
	bool negative = word.p[0] == '-';
	uint64_t value = 0, max = (uint64_t)INT64_MAX + negative;
	unsigned digit;

	for (; at < word.len; at++) {
		if (word.p[at] == '_')
			continue;
		(void)digit_of(word.p[at], base, &digit);
		if (value > (max - digit) / base) {
			toml_wrong(r, r->at, word.len, "%.*s does not fit into 64 bits",
				STR(report_quote(r->report, word)));
			return report_hint(r->report,
				"integers are between -9223372036854775808 and "
				"9223372036854775807");
		}
		value = value * base + digit;
	}
	*ret = negative ? (int64_t)(0 - value) : (int64_t)value;
	return true;
}

/* 0x…, 0o…, 0b… */
static bool based(struct toml_reader *r, struct str word, struct toml_node *ret)
{
	unsigned base = word.p[1] == 'x' ? 16 : word.p[1] == 'o' ? 8 : 2;

	if (word.len == 2 || digits(word, 2, base) != word.len - 2)
		return no_number(r, word);
	ret->kind = TOML_INTEGER;
	return integer(r, word, 2, base, &ret->integer);
}

/* Behind the digits before a point or an exponent. */
static bool is_float(struct str word, size_t at)
{
	size_t n;

	if (at < word.len && word.p[at] == '.') {
		n = digits(word, at + 1, 10);
		if (!n)
			return false;
		at += 1 + n;
	}
	if (at < word.len && (word.p[at] | 0x20) == 'e') {
		at++;
		at += at < word.len && (word.p[at] == '+' || word.p[at] == '-');
		n = digits(word, at, 10);
		if (!n)
			return false;
		at += n;
	}
	return at == word.len;
}

static bool number(struct toml_reader *r, struct str word, struct toml_node *ret)
{
	size_t sign = word.p[0] == '+' || word.p[0] == '-';
	size_t n = digits(word, sign, 10);

	if (word.len > 1 && word.p[0] == '0' && word.p[1] && strchr("xob", word.p[1]))
		return based(r, word, ret);
	if (n == 0 || (sign + n < word.len && !is_float(word, sign + n)))
		return no_number(r, word);
	if (n > 1 && word.p[sign] == '0') {
		toml_wrong(r, r->at, word.len, "'%.*s' begins with a zero too many",
			STR(report_quote(r->report, word)));
		return report_hint(r->report,
			"leave out the zeros in front; 0o7 is octal, a string needs quotes");
	}
	if (sign + n == word.len) {
		ret->kind = TOML_INTEGER;
		return integer(r, word, sign, 10, &ret->integer);
	}
	buf_reset(&r->scratch);
	for (size_t i = 0; i < word.len; i++)
		if (word.p[i] != '_')
			buf_addc(&r->scratch, word.p[i]);
	ret->kind = TOML_FLOAT;
	ret->real = strtod(buf_cstr(&r->scratch), NULL);
	return true;
}

static bool special_float(struct str word, struct toml_node *ret)
{
	bool sign = word.p[0] == '+' || word.p[0] == '-';
	struct str name = str_from(word, sign);
	bool nan = str_eq(name, S("nan"));

	if (!nan && !str_eq(name, S("inf")))
		return false;
	ret->kind = TOML_FLOAT;
	ret->real = nan ? __builtin_nan("") : word.p[0] == '-' ? -__builtin_inf() : __builtin_inf();
	return true;
}

/* -- dates and times -----------------------------------------------------------------------------
 */

/* Whether the text has this form: 0 is any digit, everything else itself. */
static bool has_form(struct str s, const char *form)
{
	for (size_t i = 0; form[i]; i++)
		if (i >= s.len || (form[i] == '0' ? !ascii_digit(s.p[i]) : s.p[i] != form[i]))
			return false;
	return true;
}

static unsigned field(struct str s, size_t at, size_t len)
{
	unsigned value = 0;

	for (size_t i = 0; i < len; i++)
		value = value * 10 + (unsigned)(s.p[at + i] - '0');
	return value;
}

static bool date_exists(struct str s)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	unsigned year = field(s, 0, 4), month = field(s, 5, 2), day = field(s, 8, 2);
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month >= 1 && month <= 12 && day >= 1 &&
	       day <= days[month - 1] + (unsigned)(month == 2 && leap);
}

/* Of a time with its fraction, how many bytes; 0: it is none. */
static size_t time_length(struct str s)
{
	size_t n = 8;

	if (!has_form(s, "00:00:00"))
		return 0;
	if (n < s.len && s.p[n] == '.') {
		for (n++; n < s.len && ascii_digit(s.p[n]); n++)
			;
		if (n == 9)
			return 0;
	}
	return n;
}

/* A minute may have 61 seconds. */
static bool time_exists(struct str s)
{
	return field(s, 0, 2) < 24 && field(s, 3, 2) < 60 && field(s, 6, 2) <= 60;
}

static bool offset_exists(struct str s)
{
	return s.len == 1 || (field(s, 1, 2) < 24 && field(s, 4, 2) < 60);
}

static bool is_offset(struct str s)
{
	return (s.len == 1 && (s.p[0] | 0x20) == 'z') ||
	       (s.len == 6 && (has_form(s, "+00:00") || has_form(s, "-00:00")));
}

static bool no_date(struct toml_reader *r, struct str word)
{
	toml_wrong(r, r->at, word.len, "'%.*s' is not a date or time",
		STR(report_quote(r->report, word)));
	return report_hint(r->report, "%s", date_form);
}

static bool date_or_time(struct toml_reader *r, struct str word, struct toml_node *ret)
{
	bool date = has_form(word, "0000-00-00");
	struct str time = str_from(word, !date ? 0 : MIN(word.len, (size_t)11));
	size_t n = time_length(time);
	struct str offset = str_from(time, n);
	bool exists = true;

	if (date)
		exists = date_exists(word);
	if (date && word.len == 10) {
		ret->kind = TOML_DATE_LOCAL;
	} else {
		bool separated = !date || (word.p[10] | 0x20) == 't' || word.p[10] == ' ';

		if (!separated || !n || (offset.len && (!date || !is_offset(offset))))
			return no_date(r, word);
		exists = exists && time_exists(time) && (!offset.len || offset_exists(offset));
		ret->kind = !date        ? TOML_TIME_LOCAL
			    : offset.len ? TOML_DATETIME
					 : TOML_DATETIME_LOCAL;
	}
	if (!exists) {
		toml_wrong(r, r->at, word.len,
			"%.*s does not exist in the calendar or on the clock",
			STR(report_quote(r->report, word)));
		return report_hint(r->report, "check month, day, hour and minute");
	}
	/* One spelling: a capital T and Z. */
	char *text = arena_cstr(r->arena, word);
	if (date && word.len > 10)
		text[10] = 'T';
	if (text[word.len - 1] == 'z')
		text[word.len - 1] = 'Z';
	ret->text = (struct str){ text, word.len };
	return true;
}

/* A space may stand between date and time. */
static struct str with_time(const struct toml_reader *r, struct str word)
{
	struct toml_reader ahead = *r;

	ahead.at += word.len + 1;
	if (word.len != 10 || !has_form(word, "0000-00-00") || ahead.at >= r->text.len ||
		r->text.p[ahead.at - 1] != ' ' || !ascii_digit(r->text.p[ahead.at]))
		return word;
	return str_sub(r->text, r->at, 11 + toml_word(&ahead).len);
}

bool toml_scalar(struct toml_reader *r, struct toml_node *ret)
{
	struct str word = toml_word(r);
	bool done;

	if (!word.len)
		return no_value(r, word);
	if (str_eq(word, S("true")) || str_eq(word, S("false"))) {
		ret->kind = TOML_BOOL;
		ret->truth = word.len == 4;
		done = true;
	} else if (special_float(word, ret)) {
		done = true;
	} else if (has_form(word, "0000-") || has_form(word, "00:")) {
		word = with_time(r, word);
		done = date_or_time(r, word, ret);
	} else if (ascii_digit(word.p[0]) || strchr("+-.", word.p[0])) {
		done = number(r, word, ret);
	} else {
		return no_value(r, word);
	}
	r->at += done ? word.len : 0;
	return done;
}
