#include "data/big.h"

#include <inttypes.h>

#include "base/number.h"
#include "data/json-scan.h"

/* Raw output of a command is kept as a string too, whatever its bytes: a mark of several bytes and
 * nothing but digits behind it is not met by chance. */
#define MARK             \
	S("\xFF\xFE\xFF" \
	  "int:")

json_t *json_big(struct str digits)
{
	AUTO_BUF text = BUF_INIT;

	buf_add(&text, MARK);
	buf_add(&text, digits);
	return json_from_str(buf_str(&text));
}

bool json_is_big(const json_t *value)
{
	if (!json_is_string(value) || !str_starts(json_str(value), MARK))
		return false;
	struct str digits = json_big_digits(value);
	size_t first = digits.len && digits.p[0] == '-';

	for (size_t i = first; i < digits.len; i++)
		if (!ascii_digit(digits.p[i]))
			return false;
	return digits.len > first;
}

struct str json_big_digits(const json_t *value)
{
	return str_from(json_str(value), MARK.len);
}

/* -- reading -------------------------------------------------------------------------------------
 */

/* jansson has no such numbers. Where a text has some, it is read a second time with each of them as
 * a string behind a mark that no other string of it begins with; those strings become numbers then.
 * The mark is a character for private use and a number that is counted up until it is free. */
#define SIGN S("\xEE\x80\x80")

enum { DIGITS_SAFE = 18 }; /* so many always fit into 64 bits */

/* The next number at or after *at that is whole and too large. */
static bool next_large(struct str text, size_t *at, struct str *ret)
{
	int64_t ignored;

	while (json_scan_next_number(text, at, ret)) {
		bool whole = str_find(*ret, '.', 0) == ret->len &&
			     str_find(*ret, 'e', 0) == ret->len &&
			     str_find(*ret, 'E', 0) == ret->len;

		if (whole && ret->len > DIGITS_SAFE && !str_to_int(*ret, &ignored))
			return true;
	}
	return false;
}

/* The number of the mark that `s` begins with; false when there is none. */
static bool marked(struct str s, uint64_t *number, struct str *rest)
{
	if (!str_starts(s, SIGN))
		return false;
	s = str_from(s, SIGN.len);
	size_t colon = str_find(s, ':', 0);
	if (colon == s.len || !str_to_uint(str_sub(s, 0, colon), number))
		return false;
	*rest = str_from(s, colon + 1);
	return true;
}

/* The first number above those of all marks in the strings of `value`. */
static void find_free(const json_t *value, uint64_t *free_number)
{
	const char *key;
	json_t *item;
	uint64_t number;
	struct str rest;
	size_t i;

	if (json_is_string(value) && marked(json_str(value), &number, &rest) &&
		number >= *free_number && number < UINT64_MAX)
		*free_number = number + 1;
	json_array_foreach(value, i, item)
	{
		find_free(item, free_number);
	}
	json_object_foreach((json_t *)value, key, item)
	{
		find_free(item, free_number);
	}
}

/* What stands in place of `value`: itself, or the number behind the mark. A new reference. */
static json_t *unmark(json_t *value, uint64_t mark)
{
	const char *key;
	json_t *item;
	uint64_t number;
	struct str rest;
	void *next;
	size_t i;

	if (json_is_string(value) && marked(json_str(value), &number, &rest) && number == mark)
		return json_big(rest);
	json_array_foreach(value, i, item)
	{
		(void)json_array_set_new(value, i, unmark(item, mark));
	}
	json_object_foreach_safe(value, next, key, item)
	{
		(void)json_object_iter_set_new(
			value, json_object_key_to_iter(key), unmark(item, mark));
	}
	return json_incref(value);
}

/* The value with 0 in place of each such number: some are too large for doubles as well. */
static json_t *read_without(const struct source *source)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF rewritten = BUF_INIT;
	size_t at = 0, copied = 0;
	struct str number;

	while (next_large(source->text, &at, &number)) {
		buf_add(&rewritten, str_sub(source->text, copied, at - number.len - copied));
		buf_addc(&rewritten, '0');
		copied = at;
	}
	buf_add(&rewritten, str_from(source->text, copied));
	return copied ? json_read(&(struct source){ source->name, buf_str(&rewritten) }, &ignored)
		      : NULL;
}

json_t *json_read_big(const struct source *source, struct report *r)
{
	AUTO_REPORT mistakes = REPORT_INIT;
	json_t *rounded = json_read(source, &mistakes);
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF rewritten = BUF_INIT;
	size_t at = 0, copied = 0;
	uint64_t mark = 0;
	struct str number;

	if (!rounded)
		rounded = read_without(source);
	if (!rounded)
		report_move(r, &mistakes);
	if (!rounded || !next_large(source->text, &at, &number))
		return rounded;
	find_free(rounded, &mark);
	do {
		buf_add(&rewritten, str_sub(source->text, copied, at - number.len - copied));
		buf_printf(&rewritten, "\"%.*s%" PRIu64 ":%.*s\"", STR(SIGN), mark, STR(number));
		copied = at;
	} while (next_large(source->text, &at, &number));
	buf_add(&rewritten, str_from(source->text, copied));
	AUTO_JSON *strings =
		json_read(&(struct source){ source->name, buf_str(&rewritten) }, &ignored);
	if (!strings)
		return rounded;
	json_decref(rounded);
	return unmark(strings, mark);
}

/* -- rounding ------------------------------------------------------------------------------------
 */

static bool has_big(const json_t *value)
{
	const char *key;
	json_t *item;
	size_t i;

	json_array_foreach(value, i, item)
	{
		if (has_big(item))
			return true;
	}
	json_object_foreach((json_t *)value, key, item)
	{
		if (has_big(item))
			return true;
	}
	return json_is_big(value);
}

static json_t *rounded(const json_t *big)
{
	struct str digits = json_big_digits(big);
	bool negative = digits.p[0] == '-';
	double number = 0;

	(void)number_plain(str_from(digits, negative), &number);
	/* YAML knows numbers that no double can hold: the digits, as a text. */
	json_t *real = json_real(negative ? -number : number);
	return real ? real : json_from_str(digits);
}

json_t *json_big_rounded(json_t *value)
{
	const char *key;
	json_t *item;
	size_t i;

	if (!has_big(value))
		return json_incref(value);
	if (json_is_string(value))
		return rounded(value);
	json_t *copy = json_copy(value);
	json_array_foreach(value, i, item)
	{
		(void)json_array_set_new(copy, i, json_big_rounded(item));
	}
	json_object_foreach(value, key, item)
	{
		(void)json_object_set_new_nocheck(copy, key, json_big_rounded(item));
	}
	return copy;
}
