#include "data/json.h"

#include <math.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/number.h"
#include "base/utf8.h"
#include "data/big.h"
#include "data/json-mistake.h"
#include "data/json-scan.h"

void json_seed(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	size_t seed = 0;

	if (random)
		memcpy(&seed, random, sizeof(seed));
	json_object_seed(seed); /* 0: as jansson likes */
}

void json_auto_decref(json_t **value)
{
	json_decref(*value);
}

static json_t *load(struct str text, json_error_t *error)
{
	return json_loadb(text.p, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, error);
}

/* Integers beyond 64 bits become doubles, as every other JSON reader has them: they get a fraction,
 * so that jansson reads them so. The others stay exact. */
static void soften_integers(struct str text, struct buf *ret)
{
	size_t at = 0, copied = 0;
	struct str number;
	int64_t ignored;

	while (json_scan_next_number(text, &at, &number)) {
		size_t digits = number.p[0] == '-';

		while (digits < number.len && ascii_digit(number.p[digits]))
			digits++;
		buf_add(ret, str_sub(text, copied, at - copied));
		copied = at;
		if (digits == number.len && !str_to_int(number, &ignored))
			buf_adds(ret, ".0");
	}
	buf_add(ret, str_from(text, copied));
}

static void complain(
	const struct source *source, size_t skipped, const json_error_t *error, struct report *r)
{
	struct str text = str_from(source->text, skipped);
	struct json_mistake m;

	if (json_mistake_find(text, &m)) {
		report_error(r, (struct where){ source, skipped + m.offset, m.length },
			"not valid JSON: %s", buf_cstr(&m.message));
		if (m.hint.len)
			report_hint(r, "%s", buf_cstr(&m.hint));
	} else {
		/* A limit of jansson's own: depth, the size of a number, NUL in a name. */
		const char *near = strstr(error->text, " near '");
		size_t len = near ? (size_t)(near - error->text) : strlen(error->text);
		/* It points behind the token, which it names when it is short. */
		size_t end = MIN((size_t)MAX(error->position, 0), text.len);
		size_t token = near ? MIN(strlen(near) - strlen(" near ''"), end) : MIN(end, 1u);

		report_error(r, (struct where){ source, skipped + end - token, token },
			"not valid JSON: %.*s", (int)len, error->text);
		switch ((int)json_error_code(error)) {
		case json_error_stack_overflow:
			report_hint(r, "arrays and objects may be %d levels deep",
				JSON_PARSER_MAX_DEPTH);
			break;
		case json_error_numeric_overflow:
			report_hint(r, "numbers go up to 1.8e308");
			break;
		case json_error_null_byte_in_key:
			report_hint(r, "take \\u0000 out of the name");
			break;
		default:
			break;
		}
	}
	json_mistake_done(&m);
}

json_t *json_read(const struct source *source, struct report *r)
{
	struct str text = source->text;
	size_t skipped = str_starts(text, S("\xEF\xBB\xBF")) ? 3 : 0;
	json_error_t error;

	text = str_from(text, skipped);
	/* jansson stops at a bad byte with a vague word; say which one. */
	size_t bad = utf8_find_invalid(text);
	if (bad < text.len) {
		report_error(r, (struct where){ source, skipped + bad, 1 },
			"byte 0x%02x is not valid UTF-8", (unsigned char)text.p[bad]);
		report_hint(r, "save the text as UTF-8");
		return NULL;
	}
	/* It ends at one and takes what it has. */
	size_t nul = str_find(text, '\0', 0);
	if (nul < text.len) {
		report_error(r, (struct where){ source, skipped + nul, 1 },
			"not valid JSON: a NUL byte");
		report_hint(r, "remove it; in a string it is written \\u0000");
		return NULL;
	}
	json_t *value = load(text, &error);
	if (!value && json_error_code(&error) == json_error_numeric_overflow) {
		AUTO_BUF softened = BUF_INIT;

		soften_integers(text, &softened);
		value = load(buf_str(&softened), &error);
	}
	if (value)
		return value;

	complain(source, skipped, &error, r);
	return NULL;
}

struct str json_str(const json_t *string)
{
	return (struct str){ json_string_value(string), json_string_length(string) };
}

json_t *json_from_str(struct str s)
{
	return json_stringn_nocheck(s.p, s.len);
}

const char *json_kind(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return json_is_big(value) ? "a number" : "a string";
	case JSON_INTEGER:
	case JSON_REAL:
		return "a number";
	case JSON_TRUE:
		return "true";
	case JSON_FALSE:
		return "false";
	case JSON_NULL:
		return "null";
	}
	return "something else";
}

/* Whether eight bytes are all printable ASCII without quote and backslash, tested at once: nearly
 * all that is written is. The highest bit of a byte that is not, is set; a neighbour's may be set
 * too. */
static bool eight_plain(const char *at)
{
	const uint64_t each = UINT64_C(0x0101010101010101);
	uint64_t x;

	memcpy(&x, at, sizeof(x));
	uint64_t control = x - each * 0x20, last = x + each;
	uint64_t quote = (x ^ each * '"') - each, backslash = (x ^ each * '\\') - each;
	return !((x | control | last | quote | backslash) & each * 0x80);
}

static bool one_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static bool all_plain(struct str s)
{
	size_t i = 0;

	for (; i + 8 <= s.len; i += 8)
		if (!eight_plain(s.p + i))
			return false;
	if (i && i < s.len) /* some of them once more */
		return eight_plain(s.p + s.len - 8);
	for (; i < s.len; i++)
		if (!one_plain((unsigned char)s.p[i]))
			return false;
	return true;
}

static void write_plain(struct buf *b, struct str s)
{
	buf_reserve(b, s.len + 2);
	b->p[b->len++] = '"';
	if (s.len)
		memcpy(b->p + b->len, s.p, s.len);
	b->len += s.len;
	b->p[b->len++] = '"';
	b->p[b->len] = '\0';
}

/* What is escaped beside what JSON demands. */
enum escaped { ESCAPED_NO_MORE, ESCAPED_CONTROLS, ESCAPED_BEYOND_ASCII };

static bool is_escaped(uint32_t c, enum escaped which)
{
	return c < 0x20 || c == '"' || c == '\\' ||
	       (which != ESCAPED_NO_MORE && c >= 0x7f &&
		       (c < 0xa0 || which == ESCAPED_BEYOND_ASCII));
}

static void add_escaped(struct buf *b, uint32_t c)
{
	static const char hex[] = "0123456789abcdef";

	if (c == '"' || c == '\\') {
		buf_add(b, (struct str){ (char[]){ '\\', (char)c }, 2 });
	} else if (c == '\n' || c == '\t' || c == '\r' || c == '\b' || c == '\f') {
		buf_add(b, (struct str){ (char[]){ '\\', "btn?fr"[c - 8] }, 2 });
	} else if (c < 0x10000) {
		buf_add(b, (struct str){ (char[]){ '\\', 'u', hex[c >> 12], hex[c >> 8 & 15],
						 hex[c >> 4 & 15], hex[c & 15] },
				   6 });
	} else {
		add_escaped(b, 0xD800 + ((c - 0x10000) >> 10));
		add_escaped(b, 0xDC00 + ((c - 0x10000) & 0x3FF));
	}
}

static void write_str(struct buf *b, struct str s, enum escaped which)
{
	size_t from = 0;
	uint32_t c;

	if (all_plain(s)) {
		write_plain(b, s);
		return;
	}
	buf_addc(b, '"');
	for (size_t i = 0; i < s.len;) {
		if (i + 8 <= s.len && eight_plain(s.p + i)) {
			i += 8;
			continue;
		}
		if (one_plain((unsigned char)s.p[i])) {
			i++;
			continue;
		}
		size_t n = utf8_decode(s, i, &c);
		bool valid = c != UTF8_INVALID;

		if (!valid)
			c = 0xFFFD;
		bool escape = is_escaped(c, which);
		if (valid && !escape) {
			i += n;
			continue;
		}
		buf_add(b, str_sub(s, from, i - from));
		i += n;
		from = i;
		if (escape)
			add_escaped(b, c);
		else
			utf8_add(b, c);
	}
	buf_add(b, str_sub(s, from, s.len - from));
	buf_addc(b, '"');
}

void json_write_str(struct buf *b, struct str s)
{
	write_str(b, s, ESCAPED_CONTROLS);
}

void json_write_str_exact(struct buf *b, struct str s)
{
	write_str(b, s, ESCAPED_NO_MORE);
}

void json_write_str_ascii(struct buf *b, struct str s)
{
	write_str(b, s, ESCAPED_BEYOND_ASCII);
}

void json_write_str_or_null(struct buf *b, struct str s)
{
	if (s.len)
		json_write_str(b, s);
	else
		buf_adds(b, "null");
}

static void write_members_python(struct buf *b, json_t *object)
{
	bool first = true;

	buf_addc(b, '{');
	for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
		buf_adds(b, first ? "" : ", ");
		first = false;
		json_write_str_ascii(
			b, (struct str){ json_object_iter_key(at), json_object_iter_key_len(at) });
		buf_adds(b, ": ");
		json_write_python(b, json_object_iter_value(at));
	}
	buf_addc(b, '}');
}

void json_write_python(struct buf *b, const json_t *value)
{
	json_t *item;
	size_t i;

	if (json_is_object(value)) {
		write_members_python(b, (json_t *)value);
	} else if (json_is_array(value)) {
		buf_addc(b, '[');
		json_array_foreach(value, i, item)
		{
			buf_adds(b, i ? ", " : "");
			json_write_python(b, item);
		}
		buf_addc(b, ']');
	} else if (json_is_string(value) && !json_is_big(value)) {
		json_write_str_ascii(b, json_str(value));
	} else if (json_is_real(value)) {
		number_text_python(b, json_real_value(value));
	} else {
		json_write(b, value, 0);
	}
}

size_t json_weigh(const json_t *value, size_t limit)
{
	size_t sum = 8;
	const char *key;
	json_t *item;

	if (json_is_string(value))
		return sum + json_string_length(value);
	if (json_is_object(value)) {
		json_object_foreach((json_t *)value, key, item)
		{
			sum += strlen(key) + json_weigh(item, limit - MIN(sum, limit));
			if (sum > limit)
				break;
		}
	}
	for (size_t i = 0; json_is_array(value) && sum <= limit && i < json_array_size(value); i++)
		sum += json_weigh(json_array_get(value, i), limit - sum);
	return sum;
}

void json_member(struct buf *b, const char *name, bool *first)
{
	buf_addc(b, *first ? '{' : ',');
	*first = false;
	json_write_str(b, str_of(name));
	buf_addc(b, ':');
}

void json_number_member(struct buf *b, const char *name, uint64_t n)
{
	buf_adds(b, ",\"");
	buf_adds(b, name);
	buf_adds(b, "\":");
	buf_add_number(b, n, 1);
}

static void line(struct buf *b, unsigned indent, unsigned depth)
{
	size_t spaces = (size_t)indent * depth;

	if (!indent)
		return;
	buf_reserve(b, spaces + 1);
	b->p[b->len++] = '\n';
	while (spaces--)
		b->p[b->len++] = ' ';
	b->p[b->len] = '\0';
}

/* A whole double as it reads back: 2.0, -0.0. */
static void typed_real(struct buf *b, double value)
{
	size_t from = b->len;

	if (value == 0 && signbit(value))
		buf_addc(b, '-');
	number_text(b, value);
	for (size_t i = from; i < b->len; i++)
		if (b->p[i] == '.' || b->p[i] == 'e')
			return;
	buf_adds(b, ".0");
}

struct style {
	unsigned indent;
	bool typed;
};

static void write(struct buf *b, const json_t *value, struct style style, unsigned depth)
{
	const char *key;
	json_t *item;
	size_t i, n = 0, length;

	switch (json_typeof(value)) {
	case JSON_OBJECT:
		buf_addc(b, '{');
		json_object_keylen_foreach((json_t *)value, key, length, item)
		{
			if (n++)
				buf_addc(b, ',');
			line(b, style.indent, depth + 1);
			json_write_str(b, (struct str){ key, length });
			buf_add(b, style.indent ? S(": ") : S(":"));
			write(b, item, style, depth + 1);
		}
		if (n)
			line(b, style.indent, depth);
		buf_addc(b, '}');
		break;
	case JSON_ARRAY:
		buf_addc(b, '[');
		json_array_foreach(value, i, item)
		{
			if (i)
				buf_addc(b, ',');
			line(b, style.indent, depth + 1);
			write(b, item, style, depth + 1);
		}
		if (json_array_size(value))
			line(b, style.indent, depth);
		buf_addc(b, ']');
		break;
	case JSON_STRING:
		if (json_is_big(value))
			buf_add(b, json_big_digits(value));
		else
			json_write_str(b, json_str(value));
		break;
	case JSON_INTEGER:
		buf_add_int(b, json_integer_value(value));
		break;
	case JSON_REAL:
		(style.typed ? typed_real : number_text)(b, json_real_value(value));
		break;
	case JSON_TRUE:
		buf_adds(b, "true");
		break;
	case JSON_FALSE:
		buf_adds(b, "false");
		break;
	case JSON_NULL:
		buf_adds(b, "null");
		break;
	}
}

void json_write(struct buf *b, const json_t *value, unsigned indent)
{
	write(b, value, (struct style){ indent, false }, 0);
}

void json_write_typed(struct buf *b, const json_t *value, unsigned indent)
{
	write(b, value, (struct style){ indent, true }, 0);
}

struct str json_text_of(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_string(value) && !json_is_big(value) ? json_str(value) : S("");
}

json_int_t json_number_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

bool json_truth_of(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}
