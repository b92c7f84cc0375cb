#include "data/json-mistake.h"

#include "base/lang.h"
#include "base/utf8.h"
#include "data/json-scan.h"

enum { DEPTH_MAX = 2048 };

struct walker {
	struct str text;
	size_t at;
	struct buf open; /* the brackets that are still open */
	struct json_mistake *mistake;
};

/* Marks `len` bytes at `at`, at least the character there. */
static bool PRINTF(4, 5) wrong(struct walker *w, size_t at, size_t len, const char *message, ...)
{
	va_list args;
	uint32_t c;

	if (!len)
		len = at < w->text.len ? utf8_decode(w->text, at, &c) : 1;
	w->mistake->offset = at;
	w->mistake->length = len;
	va_start(args, message);
	buf_vprintf(&w->mistake->message, message, args);
	va_end(args);
	return false;
}

static bool PRINTF(2, 3) hint(struct walker *w, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	buf_vprintf(&w->mistake->hint, text, args);
	va_end(args);
	return false;
}

static char peek(struct walker *w)
{
	w->at = json_scan_blank(w->text, w->at);
	return w->at < w->text.len ? w->text.p[w->at] : '\0';
}

static bool word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ascii_digit(c) ||
	       (c && strchr("_-+.", c)) || (unsigned char)c >= 0x80;
}

/* The letters and digits that stand here: a name without quotes, True, 01 … */
static struct str word(const struct walker *w)
{
	size_t end = w->at;

	while (end < w->text.len && word_char(w->text.p[end]))
		end++;
	return str_sub(w->text, w->at, end - w->at);
}

static char closing(const struct walker *w)
{
	if (!w->open.len)
		return '\0';
	return w->open.p[w->open.len - 1] == '{' ? '}' : ']';
}

static bool ends_early(struct walker *w)
{
	if (json_scan_blank(w->text, 0) == w->text.len)
		return wrong(w, w->text.len, 1, "the text is empty");
	wrong(w, w->text.len, 1, "the text ends too early");
	return w->open.len ? hint(w, "a closing %c is missing", closing(w)) : false;
}

/* As much of it as a sentence can hold. `ret` is empty at first. */
static const char *quoted(struct str s, struct buf *ret)
{
	utf8_add_short(ret, s, utf8_head(s, 60).len);
	return buf_cstr(ret);
}

/* Something else stands where `expected` belongs. */
static bool unexpected(struct walker *w, const char *expected)
{
	char c = peek(w);
	struct str found = word(w);
	AUTO_BUF shown = BUF_INIT;
	uint32_t ignored;

	if (w->at == w->text.len)
		return ends_early(w);
	if (!found.len)
		found = str_sub(w->text, w->at, utf8_decode(w->text, w->at, &ignored));
	wrong(w, w->at, found.len, "found %s, expected %s",
		c == ','   ? "a comma"
		: c == '"' ? "a string"
			   : quoted(found, &shown),
		expected);
	if (c == '\'' || c == '`')
		return hint(w, "JSON wants double quotes");
	if (c == '/' || c == '#')
		return hint(w, "JSON has no comments");
	return false;
}

/* -- texts ---------------------------------------------------------------------------------------
 */

static bool unicode_escape(struct walker *w)
{
	uint32_t unit;

	if (!json_scan_unit(w->text, w->at, &unit)) {
		wrong(w, w->at, 2, "\\u without four hexadecimal digits");
		return hint(w, "write \\u00e9, or the character itself");
	}
	size_t behind = json_scan_escape(w->text, w->at, NULL);
	if (unit >= 0xD800 && unit < 0xE000 && behind == w->at + 6)
		return wrong(w, w->at, 6, "half of a surrogate pair");
	w->at = behind;
	return true;
}

static bool escape(struct walker *w)
{
	if (w->at + 1 < w->text.len && w->text.p[w->at + 1] == 'u')
		return unicode_escape(w);
	size_t behind = json_scan_escape(w->text, w->at, NULL);
	if (behind) {
		w->at = behind;
		return true;
	}
	uint32_t c;
	size_t len = w->at + 1 < w->text.len ? utf8_decode(w->text, w->at + 1, &c) : 0;
	wrong(w, w->at, 1 + len, "%.*s is not an escape", (int)(1 + len), w->text.p + w->at);
	return hint(w, "write \\\\ for a backslash");
}

static bool text(struct walker *w)
{
	size_t from = w->at++;

	while (w->at < w->text.len && w->text.p[w->at] != '"') {
		unsigned char c = (unsigned char)w->text.p[w->at];

		if (c == '\n' || c == '\r') {
			wrong(w, w->at, 1, "a line ends inside a string");
			return hint(w, "write \\n for a new line; or a closing \" is missing");
		}
		if (c < 0x20) {
			wrong(w, w->at, 1, "control character 0x%02x inside a string", c);
			return c == '\t' ? hint(w, "write \\t") : hint(w, "write \\u%04x", c);
		}
		if (c != '\\')
			w->at++;
		else if (!escape(w))
			return false;
	}
	if (w->at == w->text.len) {
		wrong(w, from, 1, "a string that never ends");
		return hint(w, "a closing \" is missing");
	}
	w->at++;
	return true;
}

/* -- other values --------------------------------------------------------------------------------
 */

static bool among(struct str s, const char *const *words)
{
	for (; *words; words++)
		if (str_eq_nocase(s, str_of(*words)))
			return true;
	return false;
}

/* true, false, null, a number, or a word that is none of them. */
static bool plain_value(struct walker *w)
{
	static const char *const meant[] = { "true", "false", "null", "none", NULL };
	struct str s = word(w);
	AUTO_BUF shown = BUF_INIT;

	if (json_scan_number(s, 0) == s.len || str_eq(s, S("true")) || str_eq(s, S("false")) ||
		str_eq(s, S("null"))) {
		w->at += s.len;
		return true;
	}
	if (ascii_digit(s.p[0]) || strchr("-+.", s.p[0]))
		return wrong(w, w->at, s.len, "%s is not a number", quoted(s, &shown));
	(void)unexpected(w, "a value");
	if (among(s, meant))
		return hint(w, "JSON writes true, false, null in lower case");
	return hint(w, "a string needs double quotes");
}

/* -- structure -----------------------------------------------------------------------------------
 */

static bool comma_before_end(struct walker *w, size_t comma)
{
	char end = w->text.p[w->at];

	wrong(w, comma, 1, "a comma before %c", end);
	return hint(w, "leave out the comma before %c", end);
}

/* A member's name and its colon. */
static bool name(struct walker *w)
{
	AUTO_BUF shown = BUF_INIT;
	char c = peek(w);

	if (c != '"') {
		bool letters = word_char(c) && w->at < w->text.len;

		(void)unexpected(w, "a name in double quotes");
		if (letters)
			(void)hint(w, "names need double quotes: \"%s\"", quoted(word(w), &shown));
		return false;
	}
	if (!text(w))
		return false;
	if (peek(w) != ':')
		return unexpected(w, "a colon after the name");
	w->at++;
	return true;
}

/* The begin of a value. Brackets are only opened; the caller reads what is in them. */
static bool begin_value(struct walker *w)
{
	char c = peek(w);

	if (c == '{' || c == '[') {
		buf_addc(&w->open, c);
		w->at++;
		return w->open.len <= DEPTH_MAX;
	}
	if (c == '"')
		return text(w);
	if (word_char(c))
		return plain_value(w);
	return unexpected(w, "a value");
}

/* Behind a value: a comma, or the ends of what is open. */
static bool after_value(struct walker *w, bool *ended)
{
	while (w->open.len) {
		char end = closing(w);
		char c = peek(w);

		if (c == ',') {
			size_t comma = w->at++;

			if (peek(w) == end)
				return comma_before_end(w, comma);
			return true;
		}
		if (c != end) {
			AUTO_BUF expected = BUF_INIT;

			buf_printf(&expected, "a comma or %c", end);
			(void)unexpected(w, buf_cstr(&expected));
			if (c && (strchr("\"{[", c) || word_char(c)))
				(void)hint(w, "a comma is missing before this");
			return false;
		}
		w->at++;
		buf_truncate(&w->open, w->open.len - 1);
	}
	*ended = true;
	return true;
}

static bool document(struct walker *w)
{
	bool ended = false;

	while (!ended) {
		if (closing(w) == '}' && !name(w))
			return false;
		size_t depth = w->open.len;
		if (!begin_value(w))
			return false;
		if (w->open.len > depth && peek(w) != closing(w))
			continue; /* inside something that is not empty */
		if (!after_value(w, &ended))
			return false;
	}
	if (peek(w) || w->at < w->text.len) {
		(void)wrong(w, w->at, 0, "something follows the end of the JSON text");
		return hint(
			w, "one text is one value: take away what follows, or a bracket before");
	}
	return true;
}

bool json_mistake_find(struct str s, struct json_mistake *ret)
{
	struct walker w = { .text = s, .mistake = ret };

	*ret = (struct json_mistake){ 0 };
	(void)document(&w);
	buf_done(&w.open);
	return ret->message.len > 0;
}

void json_mistake_done(struct json_mistake *m)
{
	buf_done(&m->message);
	buf_done(&m->hint);
}
