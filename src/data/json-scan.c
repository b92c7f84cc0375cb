#include "data/json-scan.h"

#include "base/lang.h"
#include "base/utf8.h"

/* What may stand next. */
enum state {
	VALUE,
	VALUE_OR_CLOSE, /* after [ */
	KEY,            /* after a comma in an object */
	KEY_OR_CLOSE,   /* after { */
	COLON,
	COMMA_OR_CLOSE,
};

bool json_scan_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

size_t json_scan_blank(struct str t, size_t at)
{
	while (at < t.len && json_scan_is_blank(t.p[at]))
		at++;
	return at;
}

/* -- strings -------------------------------------------------------------------------------------
 */

static int hex_digit(char c)
{
	return ascii_digit(c)         ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

bool json_scan_unit(struct str t, size_t at, uint32_t *ret)
{
	uint32_t unit = 0;

	if (at + 6 > t.len || t.p[at] != '\\' || t.p[at + 1] != 'u')
		return false;
	for (size_t i = at + 2; i < at + 6; i++) {
		if (hex_digit(t.p[i]) < 0)
			return false;
		unit = unit << 4 | (uint32_t)hex_digit(t.p[i]);
	}
	*ret = unit;
	return true;
}

size_t json_scan_escape(struct str t, size_t at, struct buf *ret)
{
	static const char plain[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
	size_t end = at + 2;
	uint32_t c, low;

	if (end > t.len || t.p[at] != '\\')
		return 0;
	if (json_scan_unit(t, at, &c)) {
		end = at + 6;
		if (c >= 0xD800 && c < 0xDC00 && json_scan_unit(t, end, &low) && low >= 0xDC00 &&
			low < 0xE000) {
			c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
			end += 6;
		}
	} else {
		const char *hit = t.p[at + 1] ? strchr(plain, t.p[at + 1]) : NULL;

		if (!hit)
			return 0;
		c = (unsigned char)meaning[hit - plain];
	}
	if (ret)
		utf8_add(ret, c);
	return end;
}

size_t json_scan_string(struct str t, size_t at)
{
	uint32_t c;

	if (at >= t.len || t.p[at] != '"')
		return 0;
	for (at++; at < t.len;) {
		size_t n = utf8_decode(t, at, &c);

		if (c == '"')
			return at + n;
		if (c < 0x20 || c == UTF8_INVALID)
			return 0;
		at = c == '\\' ? json_scan_escape(t, at, NULL) : at + n;
		if (!at)
			return 0;
	}
	return 0;
}

void json_scan_decode(struct str t, size_t at, struct buf *ret)
{
	for (at++; at < t.len && t.p[at] != '"';) {
		size_t behind = json_scan_escape(t, at, ret);

		if (!behind) {
			buf_addc(ret, t.p[at]);
			behind = at + 1;
		}
		at = behind;
	}
}

/* -- other values --------------------------------------------------------------------------------
 */

static size_t skip_digits(struct str t, size_t at)
{
	while (at < t.len && ascii_digit(t.p[at]))
		at++;
	return at;
}

size_t json_scan_number(struct str t, size_t at)
{
	size_t from;

	if (at < t.len && t.p[at] == '-')
		at++;
	from = at;
	at = skip_digits(t, at);
	if (at == from || (t.p[from] == '0' && at > from + 1))
		return 0;
	if (at < t.len && t.p[at] == '.') {
		from = ++at;
		at = skip_digits(t, at);
		if (at == from)
			return 0;
	}
	if (at < t.len && (t.p[at] == 'e' || t.p[at] == 'E')) {
		at++;
		if (at < t.len && (t.p[at] == '+' || t.p[at] == '-'))
			at++;
		from = at;
		at = skip_digits(t, at);
		if (at == from)
			return 0;
	}
	return at;
}

static size_t skip_word(struct str t, size_t at)
{
	static const struct str words[] = { { "true", 4 }, { "false", 5 }, { "null", 4 } };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_starts(str_from(t, at), words[i]))
			return at + words[i].len;
	return 0;
}

static size_t skip_scalar(struct str t, size_t at)
{
	if (t.p[at] == '"')
		return json_scan_string(t, at);
	return t.p[at] == '-' || ascii_digit(t.p[at]) ? json_scan_number(t, at) : skip_word(t, at);
}

static bool closes(const struct json_finder *f, char c)
{
	return c == (f->text.p[f->open.at[f->open.len - 1]] == '{' ? '}' : ']');
}

/* The state behind a comma, a colon or a bracket; -1: it may not stand here. */
static int after_sign(struct json_finder *f, enum state state, size_t at)
{
	char c = f->text.p[at];
	bool value = state == VALUE || state == VALUE_OR_CLOSE;

	if (c == '[' || c == '{') {
		if (!value)
			return -1;
		vec_push(&f->open, at);
		return c == '[' ? VALUE_OR_CLOSE : KEY_OR_CLOSE;
	}
	if (c == ':')
		return state == COLON ? VALUE : -1;
	if (state != COMMA_OR_CLOSE && state != VALUE_OR_CLOSE && state != KEY_OR_CLOSE)
		return -1;
	if (c == ',') {
		if (state != COMMA_OR_CLOSE)
			return -1;
		return f->text.p[f->open.at[f->open.len - 1]] == '{' ? KEY : VALUE;
	}
	if (!closes(f, c))
		return -1;
	(void)vec_pop(&f->open);
	return COMMA_OR_CLOSE;
}

/* Behind the value that begins at `at`; 0: there is none, and the brackets that are open are those
 * which fail with it. */
static size_t try(struct json_finder *f, size_t at)
{
	struct str t = f->text;
	enum state state = VALUE;

	f->open.len = 0;
	do {
		if (at >= t.len)
			return 0;
		char c = t.p[at];
		if (json_scan_is_blank(c)) {
			at++;
		} else if (c && strchr("[]{},:", c)) {
			int next = after_sign(f, state, at);

			if (next < 0)
				return 0;
			state = (enum state)next;
			at++;
		} else if (c == '"' && (state == KEY || state == KEY_OR_CLOSE)) {
			at = json_scan_string(t, at);
			state = COLON;
		} else if (c && (state == VALUE || state == VALUE_OR_CLOSE)) {
			at = skip_scalar(t, at);
			state = COMMA_OR_CLOSE;
		} else {
			return 0;
		}
	} while (at && f->open.len);
	return at;
}

size_t json_scan_value(struct str t, size_t at)
{
	struct json_finder f = { .text = t };

	if (at >= t.len || json_scan_is_blank(t.p[at]))
		return 0;
	size_t end = try(&f, at);
	vec_done(&f.open);
	return end;
}

size_t json_scan_depth(struct str t)
{
	size_t depth = 0, most = 0;
	bool inside = false;

	for (size_t i = 0; i < t.len; i++) {
		char c = t.p[i];

		if (inside) {
			i += c == '\\';
			inside = c != '"';
		} else if (c == '"') {
			inside = true;
		} else if (c == '[' || c == '{') {
			depth++;
			most = MAX(most, depth);
		} else if (c == ']' || c == '}') {
			depth -= depth > 0;
		}
	}
	return most;
}

bool json_scan_next_number(struct str t, size_t *at, struct str *ret)
{
	for (size_t i = *at; i < t.len;) {
		if (t.p[i] == '"') {
			i = json_scan_string(t, i);
			if (!i)
				return false;
			continue;
		}
		size_t end = json_scan_number(t, i);
		if (end) {
			*ret = str_sub(t, i, end - i);
			*at = end;
			return true;
		}
		i++;
	}
	return false;
}

/* -- finding -------------------------------------------------------------------------------------
 */

void json_finder_init(struct json_finder *f, struct str text)
{
	*f = (struct json_finder){ .text = text, .failed = mem_zero(text.len / 8 + 1) };
}

void json_finder_done(struct json_finder *f)
{
	vec_done(&f->open);
	free(f->failed);
}

static size_t next_bracket(struct str t, size_t from)
{
	while (from < t.len && t.p[from] != '[' && t.p[from] != '{')
		from++;
	return from;
}

bool json_finder_next(struct json_finder *f, size_t from, size_t *begin, size_t *end)
{
	for (size_t at = next_bracket(f->text, from); at < f->text.len;
		at = next_bracket(f->text, at + 1)) {
		if (f->failed[at / 8] & 1 << at % 8)
			continue;
		size_t behind = try(f, at);
		if (behind) {
			*begin = at;
			*end = behind;
			return true;
		}
		vec_each (open, &f->open)
			f->failed[*open / 8] |= (unsigned char)(1 << *open % 8);
	}
	return false;
}
