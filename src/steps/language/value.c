#include "steps/language/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"
#include "data/big.h"
#include "data/json-scan.h"

/* -- as text -------------------------------------------------------------------------------------
 */

void step_value_render(struct buf *b, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		json_write_python(b, value);
		break;
	case JSON_STRING:
		buf_add(b, json_is_big(value) ? json_big_digits(value) : json_str(value));
		break;
	case JSON_INTEGER:
		buf_printf(b, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		break;
	case JSON_REAL:
		number_text_python(b, json_real_value(value));
		break;
	case JSON_TRUE:
		buf_adds(b, "true");
		break;
	case JSON_FALSE:
		buf_adds(b, "false");
		break;
	case JSON_NULL:
		buf_adds(b, "None");
		break;
	}
}

const char *step_value_kind(const json_t *value)
{
	if (json_is_big(value))
		return "a number";
	if (json_is_object(value))
		return "a mapping";
	return json_is_array(value) ? "a list" : json_kind(value);
}

/* -- out of text ---------------------------------------------------------------------------------
 */

static bool blank(uint32_t c)
{
	/* A byte order mark is none, the separators of ASCII and NEL are. */
	return (utf8_blank(c) && c != 0xFEFF) || (c >= 0x1C && c <= 0x1F) || c == 0x85;
}

size_t step_value_skip_blank(struct str text, size_t at)
{
	uint32_t c;

	while (at < text.len) {
		size_t n = utf8_decode(text, at, &c);

		if (!blank(c))
			break;
		at += n;
	}
	return at;
}

struct str step_value_trim(struct str s)
{
	uint32_t c;

	while (s.len) {
		size_t n = utf8_decode(s, 0, &c);

		if (!blank(c))
			break;
		s = str_from(s, n);
	}
	while (s.len) {
		size_t at = s.len - 1;

		while (at > 0 && s.len - at < 4 && ((unsigned char)s.p[at] & 0xC0) == 0x80)
			at--;
		if (at + utf8_decode(s, at, &c) != s.len || !blank(c))
			break;
		s.len = at;
	}
	return s;
}

static bool json_blank_only(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!s.p[i] || !strchr(" \t\r\n", s.p[i]))
			return false;
	return true;
}

/* Whole numbers keep their digits. */
static bool is_infinite(struct str number)
{
	AUTO_BUF copy = BUF_INIT;

	buf_add(&copy, number);
	return strcspn(buf_cstr(&copy), ".eE") < number.len && isinf(strtod(buf_cstr(&copy), NULL));
}

/* Numbers beyond every double become the texts that YAML makes of its .inf. False: there are none.
 */
static bool write_infinities(struct str text, struct buf *ret)
{
	size_t at = 0, copied = 0;
	struct str number;

	while (json_scan_next_number(text, &at, &number)) {
		if (!is_infinite(number))
			continue;
		buf_add(ret, str_sub(text, copied, at - number.len - copied));
		buf_adds(ret, number.p[0] == '-' ? "\"-inf\"" : "\"inf\"");
		copied = at;
	}
	buf_add(ret, str_from(text, copied));
	return copied > 0;
}

/* A number may be too large for any reader of doubles and is JSON nevertheless. */
static json_t *read_numbers(const struct source *source, struct report *r)
{
	AUTO_REPORT mistakes = REPORT_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF rewritten = BUF_INIT;
	json_t *value = json_read_big(source, &mistakes);

	if (!value && write_infinities(source->text, &rewritten))
		value = json_read_big(
			&(struct source){ source->name, buf_str(&rewritten) }, &ignored);
	if (!value)
		report_move(r, &mistakes);
	return value;
}

json_t *step_value_from_json(struct str text, struct str name, struct report *r)
{
	struct str whole = step_value_trim(text);
	struct source source = { name, whole };

	if (!whole.len) {
		report_error(r, (struct where){ 0 }, "%.*s is empty, not JSON", STR(name));
		return NULL;
	}
	/* Keeping the lines above it keeps the numbers of the lines. */
	struct str above = { text.p, (size_t)(whole.p - text.p) };
	if (json_blank_only(above))
		source.text = str_sub(text, 0, above.len + whole.len);
	return read_numbers(&source, r);
}

json_t *step_value_in_text(struct str text)
{
	struct str whole = step_value_trim(text);
	AUTO_REPORT ignored = REPORT_INIT;

	if (whole.len < 2 || !((whole.p[0] == '{' && whole.p[whole.len - 1] == '}') ||
				     (whole.p[0] == '[' && whole.p[whole.len - 1] == ']')))
		return NULL;
	return step_value_from_json(whole, S("text"), &ignored);
}
