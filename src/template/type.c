#include "template/type.h"

#include <math.h>

#include "base/number.h"
#include "base/utf8.h"

static const char *const names[] = {
	[TYPE_NONE] = "string",
	[TYPE_STRING] = "string",
	[TYPE_PATH] = "path",
	[TYPE_INT] = "int",
	[TYPE_NUMBER] = "number",
	[TYPE_BOOL] = "bool",
	[TYPE_ARRAY] = "array",
	[TYPE_ENUM] = "enum",
	[TYPE_OBJECT] = "object",
	[TYPE_WORDS] = "words",
};

const char *type_name(enum type_kind kind)
{
	return names[kind];
}

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

size_t name_length(struct str text)
{
	size_t n = 0;

	if (!text.len || !letter(text.p[0]))
		return 0;
	while (n < text.len && (letter(text.p[n]) || ascii_digit(text.p[n]) || text.p[n] == '-'))
		n++;
	return n;
}

bool name_valid(struct str text)
{
	return text.len && name_length(text) == text.len;
}

/* Where the parenthesis of `enum(` is; 0: it is another type. */
static size_t enum_opens(struct str text)
{
	size_t open = str_find(text, '(', 0);

	return open < text.len && str_eq(utf8_trim(str_sub(text, 0, open)), S("enum")) ? open : 0;
}

bool type_parse(struct str text, struct type *ret)
{
	size_t open = enum_opens(text);

	if (open && str_find(text, ')', 0) == text.len - 1) {
		*ret = (struct type){ TYPE_ENUM, str_sub(text, open + 1, text.len - open - 2) };
		if (!utf8_trim(ret->members).len)
			ret->kind = TYPE_STRING;
		return true;
	}
	for (enum type_kind k = TYPE_STRING; k < TYPE_ENUM; k++) {
		if (str_eq(text, str_of(names[k]))) {
			*ret = (struct type){ .kind = k };
			return true;
		}
	}
	return false;
}

bool declaration_parse(struct str text, struct declaration *ret)
{
	struct declaration d = { 0 };
	size_t n = name_length(text);

	d.name = str_sub(text, 0, n);
	struct str rest = utf8_trim(str_from(text, n));
	if (n && rest.len && rest.p[0] == ':') {
		rest = utf8_trim(str_from(rest, 1));
		/* An enum's members may contain '='. */
		size_t close = enum_opens(rest) ? str_find(rest, ')', 0) : 0;
		size_t end = str_find(rest, '=', close == rest.len ? 0 : close);

		struct str type = utf8_trim(str_sub(rest, 0, end));
		if (str_eq(type, S("words")))
			d.type.kind = TYPE_WORDS;
		else
			d.unknown_type = !type_parse(type, &d.type);
		if (d.unknown_type)
			d.type.kind = TYPE_STRING;
		rest = str_from(rest, end);
	}
	if (n && rest.len && rest.p[0] == '=') {
		d.fallback = utf8_trim(str_from(rest, 1));
		rest = str_from(rest, rest.len);
	}
	if (!n || rest.len)
		return false;
	*ret = d;
	return true;
}

void declaration_write(const struct declaration *d, struct buf *b)
{
	struct str m;

	buf_add(b, d->name);
	if (d->unknown_type || d->type.kind == TYPE_NONE)
		return;
	buf_printf(b, ":%s", type_name(d->type.kind));
	for (size_t i = 0; d->type.kind == TYPE_ENUM && (m = type_member(&d->type, i)).p; i++)
		buf_printf(b, "%c%.*s", i ? ',' : '(', STR(m));
	if (d->type.kind == TYPE_ENUM)
		buf_addc(b, ')');
}

struct str type_member(const struct type *type, size_t n)
{
	size_t from = 0;

	for (;; n--) {
		size_t comma = str_find(type->members, ',', from);

		if (n == 0)
			return utf8_trim(str_sub(type->members, from, comma - from));
		if (comma == type->members.len)
			return (struct str){ 0 };
		from = comma + 1;
	}
}

void type_describe(const struct type *type, struct buf *b)
{
	static const char *const wanted[] = {
		[TYPE_NONE] = "any value",
		[TYPE_STRING] = "a string",
		[TYPE_PATH] = "a path",
		[TYPE_INT] = "a whole number",
		[TYPE_NUMBER] = "a number",
		[TYPE_BOOL] = "true, false, or one of the strings yes, no, 1, 0",
		[TYPE_ARRAY] = "a JSON array",
		[TYPE_ENUM] = "one of ",
		[TYPE_OBJECT] = "a JSON object",
		[TYPE_WORDS] = "words with every quote closed, or a JSON array",
	};

	buf_adds(b, wanted[type->kind]);
	if (type->kind != TYPE_ENUM)
		return;
	struct str m;
	for (size_t i = 0; (m = type_member(type, i)).p; i++)
		buf_printf(b, "%s%.*s", i ? ", " : "", STR(m));
}

/* Digits with an optional sign and, for `number`, an optional fraction. */
static bool spelled(struct str s, bool fraction)
{
	double ignored;

	if (s.len && s.p[0] == '-')
		s = str_from(s, 1);
	if (fraction)
		return number_plain(s, &ignored);
	for (size_t i = 0; i < s.len; i++)
		if (!ascii_digit(s.p[i]))
			return false;
	return s.len > 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static json_t *as_number(json_t *value, bool fraction)
{
	if (json_is_integer(value) || (json_is_real(value) && fraction))
		return json_incref(value);
	if (json_is_real(value) && floor(json_real_value(value)) == json_real_value(value))
		return json_incref(value);
	if (!json_is_string(value))
		return NULL;
	struct str s = utf8_trim(json_str(value));
	return spelled(s, fraction) ? json_from_str(s) : NULL;
}

static json_t *as_bool(json_t *value)
{
	static const struct {
		const char *word;
		bool truth;
	} words[] = { { "true", true }, { "1", true }, { "yes", true }, { "false", false },
		{ "0", false }, { "no", false } };

	if (json_is_boolean(value))
		return json_incref(value);
	for (size_t i = 0; json_is_string(value) && i < ARRAY_SIZE(words); i++)
		if (str_eq_nocase(utf8_trim(json_str(value)), str_of(words[i].word)))
			return json_boolean(words[i].truth);
	return NULL;
}

static json_t *as_array(json_t *value)
{
	if (json_is_array(value))
		return json_incref(value);
	if (!json_is_string(value))
		return NULL;
	struct source text = { S("value"), json_str(value) };
	AUTO_REPORT ignored = REPORT_INIT;
	json_t *parsed = json_read(&text, &ignored);
	if (json_is_array(parsed))
		return parsed;
	json_decref(parsed);
	return NULL;
}

/* One word at *at, which is not blank, as a shell reads it that replaces nothing. False: its quote
 * is not closed. */
static bool take_word(struct str s, size_t *at, struct buf *ret)
{
	char quote = '\0';

	for (; *at < s.len && (quote || !is_blank(s.p[*at])); (*at)++) {
		char c = s.p[*at], next = *at + 1 < s.len ? s.p[*at + 1] : '\0';

		if (quote && c == quote) {
			quote = '\0';
		} else if (!quote && (c == '"' || c == '\'')) {
			quote = c;
		} else if (c == '\\' && next && quote != '\'' &&
			   (!quote || next == '"' || next == '\\')) {
			buf_addc(ret, next);
			(*at)++;
		} else {
			buf_addc(ret, c);
		}
	}
	return !quote;
}

static json_t *as_words(json_t *value)
{
	if (!json_is_string(value))
		return as_array(value);
	struct str s = json_str(value);
	json_t *words = json_array();
	for (size_t at = 0; at < s.len;) {
		AUTO_BUF word = BUF_INIT;

		if (is_blank(s.p[at])) {
			at++;
			continue;
		}
		if (!take_word(s, &at, &word)) {
			json_decref(words);
			return NULL;
		}
		json_array_append_new(words, json_from_str(buf_str(&word)));
	}
	return words;
}

static json_t *as_member(const struct type *type, json_t *value)
{
	AUTO_BUF text = BUF_INIT;
	struct str m;

	template_text(&text, value);
	for (size_t i = 0; (m = type_member(type, i)).p; i++)
		if (m.len && str_eq(m, buf_str(&text)))
			return json_from_str(m);
	return NULL;
}

json_t *type_normalise(const struct type *type, json_t *value)
{
	if (json_is_null(value))
		return json_incref(value);
	switch (type->kind) {
	case TYPE_NONE:
		return json_incref(value);
	case TYPE_STRING:
	case TYPE_PATH: {
		AUTO_BUF text = BUF_INIT;

		template_text(&text, value);
		return json_from_str(buf_str(&text));
	}
	case TYPE_INT:
		return as_number(value, false);
	case TYPE_NUMBER:
		return as_number(value, true);
	case TYPE_BOOL:
		return as_bool(value);
	case TYPE_WORDS:
		return as_words(value);
	case TYPE_ARRAY:
		return as_array(value);
	case TYPE_ENUM:
		return as_member(type, value);
	case TYPE_OBJECT:
		return json_is_object(value) ? json_incref(value) : NULL;
	}
	return NULL;
}

void template_text(struct buf *b, const json_t *value)
{
	if (json_is_string(value))
		buf_add(b, json_str(value));
	else if (!json_is_null(value))
		json_write(b, value, 0);
}

bool template_text_truthy(struct str text)
{
	text = utf8_trim(text);
	return text.len && !str_eq(text, S("0")) && !str_eq_nocase(text, S("false")) &&
	       !str_eq_nocase(text, S("no"));
}

bool template_truthy(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_STRING:
		return template_text_truthy(json_str(value));
	case JSON_INTEGER:
		return json_integer_value(value) != 0;
	case JSON_REAL:
		return json_real_value(value) != 0;
	case JSON_ARRAY:
		return json_array_size(value) > 0;
	case JSON_OBJECT:
	case JSON_TRUE:
		return true;
	case JSON_FALSE:
	case JSON_NULL:
		return false;
	}
	return false;
}
