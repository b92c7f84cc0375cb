#include "base/utf8.h"
#include "data/toml-reader.h"
#include "data/toml.h"

/* -- what is wrong -------------------------------------------------------------------------------
 */

bool toml_wrong(struct toml_reader *r, size_t at, size_t len, const char *fmt, ...)
{
	AUTO_BUF message = BUF_INIT;
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&message, fmt, args);
	va_end(args);
	return report_error(r->report, (struct where){ r->source, at, MAX(len, (size_t)1) },
		"not valid TOML: %s", buf_cstr(&message));
}

static bool word_byte(char c)
{
	return ascii_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
	       (c && strchr("_-+.:", c));
}

struct str toml_word(const struct toml_reader *r)
{
	size_t end = r->at;

	while (end < r->text.len && word_byte(r->text.p[end]))
		end++;
	return str_sub(r->text, r->at, end - r->at);
}

size_t toml_line(const struct toml_reader *r, size_t at)
{
	size_t line = 1;

	for (size_t nl = 0; (nl = str_find(r->text, '\n', nl)) < at; nl++)
		line++;
	return line;
}

/* Characters that are not visible. */
static bool invisible(struct toml_reader *r, const char *expected)
{
	int byte = toml_peek(r);
	uint32_t c = 0;

	if (byte == '\r') {
		toml_wrong(r, r->at, 1, "a carriage return without a line feed");
		report_hint(r->report, "a line ends with a line feed, or with both");
		return true;
	}
	size_t len = byte < 0 ? 0 : utf8_decode(r->text, r->at, &c);
	bool blank = utf8_blank(c) && c != ' ' && c != '\t' && c != '\n';
	if (toml_control(byte) ? byte == '\n' : !blank)
		return false;
	toml_wrong(r, r->at, len, "found U+%04X, expected %s", (unsigned)c, expected);
	report_hint(
		r->report, "%s", blank ? "only spaces and tabs may separate words" : "remove it");
	return true;
}

bool toml_unexpected(struct toml_reader *r, const char *expected, const char *hint)
{
	struct str found = toml_word(r);
	int c = toml_peek(r);
	uint32_t ignored;

	if (c < 0) {
		toml_wrong(r, r->at, 1, "the text ends, expected %s", expected);
	} else if (toml_newline(r)) {
		toml_wrong(r, r->at, 1, "the line ends, expected %s", expected);
	} else if (invisible(r, expected)) {
		return false;
	} else {
		if (!found.len)
			found = str_sub(r->text, r->at, utf8_decode(r->text, r->at, &ignored));
		struct str called = c == ',' ? S("a comma") : report_quote(r->report, found);
		toml_wrong(r, r->at, found.len, "found %.*s, expected %s", STR(called), expected);
	}
	return report_hint(r->report, "%s", hint);
}

/* -- spaces and comments -------------------------------------------------------------------------
 */

static void skip_blanks(struct toml_reader *r)
{
	while (toml_peek(r) == ' ' || toml_peek(r) == '\t')
		r->at++;
}

static bool skip_comment(struct toml_reader *r)
{
	if (toml_peek(r) != '#')
		return true;
	while (toml_peek(r) >= 0 && !toml_newline(r)) {
		if (toml_control(toml_peek(r)))
			return toml_unexpected(r, "the text of a comment", "remove it");
		r->at++;
	}
	return true;
}

/* Within an array, lines mean nothing. */
static bool skip_lines(struct toml_reader *r)
{
	for (;;) {
		skip_blanks(r);
		if (!skip_comment(r))
			return false;
		size_t n = toml_newline(r);
		if (!n)
			return true;
		r->at += n;
	}
}

/* Behind a header or a value. */
static bool end_line(struct toml_reader *r, const char *expected)
{
	skip_blanks(r);
	if (!skip_comment(r))
		return false;
	size_t n = toml_newline(r);
	if (n || toml_peek(r) < 0) {
		r->at += n;
		return true;
	}
	bool quote = toml_peek(r) == '"' || toml_peek(r) == '\'';
	return toml_unexpected(r, expected,
		quote ? "to have the quote in the text, use the other kind of quotes around it"
		      : "write one key = value a line; a comment begins with #");
}

/* -- keys ----------------------------------------------------------------------------------------
 */

static bool bare(int c)
{
	return c >= 0 && c < 0x80 &&
	       (ascii_digit((char)c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
		       c == '-');
}

static bool quoted_part(struct toml_reader *r, struct toml_part *ret)
{
	size_t from = r->at;
	struct str rest = str_from(r->text, from);

	if (str_starts(rest, S("\"\"\"")) || str_starts(rest, S("'''"))) {
		toml_wrong(r, from, 3, "a key in three quotes");
		return report_hint(r->report, "a key stands on one line: use one quote");
	}
	if (!toml_string(r))
		return false;
	ret->name = arena_str(r->arena, buf_str(&r->scratch));
	if (r->nul_in_keys || str_find(ret->name, '\0', 0) == ret->name.len)
		return true;
	report_error(r->report, (struct where){ r->source, from, r->at - from },
		"a key with a NUL character in it");
	return report_hint(r->report, "leave out \\u0000");
}

static const char line_form[] = "a line is key = value, [table] or [[table]]";
static const char bare_form[] =
	"a key of other characters than A-Z, a-z, 0-9, _ and - needs quotes";

/* A character that an author may want to have in a key. */
static bool wanted_in_key(int c)
{
	return c > ' ' && c != 0x7f && !strchr(",[]{}=#", c);
}

static bool no_key(struct toml_reader *r, const char *expected)
{
	int c = toml_peek(r);

	return toml_unexpected(r, expected,
		c == '.'               ? "a dot stands between two keys"
		: c == '=' || c == ']' ? "an empty name is written \"\""
		: wanted_in_key(c)     ? bare_form
				       : line_form);
}

/* One part; then a dot and the next, or the end of the key. */
static bool read_key(struct toml_reader *r, const char *expected)
{
	r->key.len = 0;
	for (;;) {
		int c = toml_peek(r);
		struct toml_part part = { .at = (uint32_t)r->at };

		if (c == '"' || c == '\'') {
			if (!quoted_part(r, &part))
				return false;
		} else {
			while (bare(toml_peek(r)))
				r->at++;
			part.name = str_sub(r->text, part.at, r->at - part.at);
			if (!part.name.len)
				return no_key(r, expected);
		}
		part.len = (uint32_t)(r->at - part.at);
		vec_push(&r->key, part);
		skip_blanks(r);
		if (toml_peek(r) != '.')
			return true;
		r->at++;
		skip_blanks(r);
		expected = "a key behind the dot";
	}
}

/* -- values --------------------------------------------------------------------------------------
 */

static bool value(struct toml_reader *r, struct toml_node *ret);

static bool not_closed(struct toml_reader *r, const struct toml_node *n, const char *expected)
{
	bool table = n->kind == TOML_TABLE;
	int c = toml_peek(r);
	AUTO_BUF hint = BUF_INIT;

	if (table && toml_newline(r))
		buf_adds(&hint, "an inline table stands on one line; for more lines use a [table]");
	else if (c < 0 || strchr("]}#=", c))
		buf_printf(&hint, "the %s that begins on line %zu has no closing %c",
			table ? "inline table" : "array", toml_line(r, n->at), table ? '}' : ']');
	else
		buf_adds(
			&hint, c == ',' ? "leave out the comma" : "a comma is missing before this");
	return toml_unexpected(r, expected, buf_cstr(&hint));
}

static bool array(struct toml_reader *r, struct toml_node *ret)
{
	ret->kind = TOML_ARRAY;
	r->at++;
	for (;;) {
		if (!skip_lines(r))
			return false;
		if (toml_peek(r) == ']')
			break;
		if (toml_peek(r) < 0 || toml_peek(r) == ',')
			return not_closed(r, ret, "a value or ]");
		struct toml_node *element = toml_element(r, ret);
		if (!element || !value(r, element) || !skip_lines(r))
			return false;
		if (toml_peek(r) == ']')
			break;
		if (toml_peek(r) != ',')
			return not_closed(r, ret, "a comma or ]");
		r->at++;
	}
	r->at++;
	return true;
}

static bool assignment(struct toml_reader *r, struct toml_node *table, const char *expected);

static bool inline_table(struct toml_reader *r, struct toml_node *ret)
{
	ret->kind = TOML_TABLE;
	r->at++;
	skip_blanks(r);
	while (toml_peek(r) != '}') {
		if (toml_peek(r) < 0 || toml_newline(r) || toml_peek(r) == ',')
			return not_closed(r, ret, "a key or }");
		if (!assignment(r, ret, "a key"))
			return false;
		skip_blanks(r);
		if (toml_peek(r) == '}')
			break;
		if (toml_peek(r) != ',')
			return not_closed(r, ret, "a comma or }");
		size_t comma = r->at++;
		skip_blanks(r);
		if (toml_peek(r) == '}') {
			toml_wrong(r, comma, 1, "a comma before }");
			return report_hint(r->report, "leave out the comma before }");
		}
	}
	r->at++;
	return true;
}

static bool value(struct toml_reader *r, struct toml_node *ret)
{
	int c = toml_peek(r);
	bool done;

	ret->origin = TOML_VALUE;
	ret->at = (uint32_t)r->at;
	if (c == '"' || c == '\'') {
		ret->kind = TOML_STRING;
		done = toml_string(r);
		ret->text = done ? arena_str(r->arena, buf_str(&r->scratch)) : S("");
	} else if (c == '[') {
		done = array(r, ret);
	} else if (c == '{') {
		done = inline_table(r, ret);
	} else {
		done = toml_scalar(r, ret);
	}
	ret->len = (uint32_t)(r->at - ret->at);
	return done;
}

/* -- lines ---------------------------------------------------------------------------------------
 */

/* key = value, on a line or in an inline table. */
static bool assignment(struct toml_reader *r, struct toml_node *table, const char *expected)
{
	if (!read_key(r, expected))
		return false;
	if (toml_peek(r) != '=') {
		int c = toml_peek(r);

		return toml_unexpected(r, "= behind the key",
			c == ':'           ? "TOML writes key = value"
			: wanted_in_key(c) ? bare_form
					   : line_form);
	}
	struct toml_node *n = toml_assign(r, table);
	if (!n)
		return false;
	r->at++;
	skip_blanks(r);
	return value(r, n);
}

/* [table] or [[table]]. */
static struct toml_node *header(struct toml_reader *r)
{
	size_t from = r->at;
	bool many = str_starts(str_from(r->text, from), S("[["));

	r->at += many ? 2 : 1;
	skip_blanks(r);
	if (!read_key(r, "the name of a table"))
		return NULL;
	if (!str_starts(str_from(r->text, r->at), many ? S("]]") : S("]"))) {
		toml_unexpected(r, many ? "]]" : "]",
			many ? "an element of an array of tables begins with [[name]]"
			     : "a table begins with [name]");
		return NULL;
	}
	r->at += many ? 2 : 1;
	return toml_header(r, many, from, r->at - from);
}

static bool lines(struct toml_reader *r)
{
	struct toml_node *table = r->root;

	for (;;) {
		if (!skip_lines(r))
			return false;
		if (toml_peek(r) < 0)
			return true;
		if (toml_peek(r) == '[') {
			table = header(r);
			if (!table || !end_line(r, "the line to end behind the header"))
				return false;
		} else if (!assignment(r, table, "a key or [") ||
			   !end_line(r, "the line to end behind the value")) {
			return false;
		}
	}
}

/* What no part of the grammar wants to see. */
static bool readable(struct toml_reader *r)
{
	if (r->text.len > TOML_MAX_BYTES) {
		report_error(r->report, (struct where){ r->source, 0, 0 },
			"a TOML text of more than %d MiB", TOML_MAX_BYTES >> 20);
		return report_hint(
			r->report, "split it, or keep long strings in files of their own");
	}
	size_t bad = utf8_find_invalid(r->text);
	if (bad == r->text.len)
		return true;
	report_error(r->report, (struct where){ r->source, bad, 1 },
		"not valid TOML: byte 0x%02x is not valid UTF-8", (unsigned char)r->text.p[bad]);
	return report_hint(r->report, "save the file as UTF-8");
}

struct toml_node *toml_parse(struct toml_reader *r)
{
	if (!readable(r))
		return NULL;
	r->at = str_starts(r->text, S("\xEF\xBB\xBF")) ? 3 : 0;
	return lines(r) ? r->root : NULL;
}
