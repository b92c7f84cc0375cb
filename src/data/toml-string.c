#include "base/utf8.h"
#include "data/toml-reader.h"

struct toml_string toml_string_begin(struct toml_reader *r)
{
	struct str rest = str_from(r->text, r->at);
	struct toml_string s = { rest.p[0],
		str_starts(rest, S("\"\"\"")) || str_starts(rest, S("'''")) };

	r->at += s.many_lines ? 3 : 1;
	if (s.many_lines)
		r->at += toml_newline(r);
	buf_reset(&r->scratch);
	return s;
}

/* -- escapes -------------------------------------------------------------------------------------
 */

static bool hex_digit(char c, uint32_t *ret)
{
	if (ascii_digit(c))
		*ret = (uint32_t)(c - '0');
	else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		*ret = (uint32_t)((c | 0x20) - 'a') + 10;
	else
		return false;
	return true;
}

/* \uXXXX and \UXXXXXXXX. */
static bool unicode_escape(struct toml_reader *r, size_t digits)
{
	struct str rest = str_from(r->text, r->at + 2);
	uint32_t c = 0, digit;
	size_t n = 0;

	for (; n < digits && n < rest.len && hex_digit(rest.p[n], &digit); n++)
		c = c << 4 | digit;
	if (n < digits) {
		toml_wrong(r, r->at, 2 + n, "\\%c without %s hexadecimal digits",
			r->text.p[r->at + 1], digits == 4 ? "four" : "eight");
		return report_hint(r->report, "write %s, or the character itself",
			digits == 4 ? "\\u00e9" : "\\U0001f600");
	}
	if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
		toml_wrong(r, r->at, 2 + n, "%.*s is not a Unicode character",
			STR(str_sub(r->text, r->at, 2 + n)));
		return report_hint(r->report, "%s",
			c < 0xE000 ? "TOML has no surrogate pairs: write \\U0001f600"
				   : "the last one is \\U0010ffff");
	}
	utf8_add(&r->scratch, c);
	r->at += 2 + digits;
	return true;
}

/* Behind the backslash that ends a line in a string of many lines, all spaces and line ends go. */
static bool line_ending(struct toml_reader *r)
{
	size_t from = r->at++;

	while (toml_peek(r) == ' ' || toml_peek(r) == '\t')
		r->at++;
	if (!toml_newline(r)) {
		r->at = from;
		return false;
	}
	for (size_t n; (n = toml_newline(r)) || toml_peek(r) == ' ' || toml_peek(r) == '\t';)
		r->at += n ? n : 1;
	return true;
}

static bool escape(struct toml_reader *r, struct toml_string s)
{
	static const char plain[] = "\"\\bfnrt", meaning[] = "\"\\\b\f\n\r\t";
	char c = '\0';
	uint32_t ignored;

	if (r->at + 1 < r->text.len)
		c = r->text.p[r->at + 1];
	const char *hit = c ? strchr(plain, c) : NULL;
	if (hit) {
		buf_addc(&r->scratch, meaning[hit - plain]);
		r->at += 2;
		return true;
	}
	if (c == 'u' || c == 'U')
		return unicode_escape(r, c == 'u' ? 4 : 8);
	if (s.many_lines && line_ending(r))
		return true;
	size_t len = c > ' ' || c < 0 ? utf8_decode(r->text, r->at + 1, &ignored) : 0;
	if (len)
		toml_wrong(r, r->at, 1 + len, "%.*s is not an escape", (int)(1 + len),
			r->text.p + r->at);
	else
		toml_wrong(r, r->at, 1, "a backslash with nothing to escape");
	return report_hint(r->report, "write \\\\ for a backslash, or use single quotes, where "
				      "everything stands for itself");
}

/* -- strings -------------------------------------------------------------------------------------
 */

/* How many of the quote stand here; more than six are as good as six. */
static size_t quotes(const struct toml_reader *r, char quote)
{
	size_t n = 0;

	while (n < 6 && r->at + n < r->text.len && r->text.p[r->at + n] == quote)
		n++;
	return n;
}

/* In a string of many lines, one or two quotes are text, also right before the closing three. */
static bool closes(struct toml_reader *r, struct toml_string s)
{
	size_t n = quotes(r, s.quote);

	if (!s.many_lines ? n == 0 : n < 3 || n == 4 || n == 5)
		return false;
	r->at += s.many_lines ? 3 : 1;
	return true;
}

static bool unfinished(struct toml_reader *r, struct toml_string s)
{
	const char *quote =
		s.many_lines ? (s.quote == '"' ? "\"\"\"" : "'''") : (s.quote == '"' ? "\"" : "'");

	if (toml_peek(r) < 0) {
		toml_wrong(r, r->at, 1, "the text ends inside a string");
		return report_hint(r->report, "a closing %s is missing", quote);
	}
	toml_wrong(r, r->at, 1, "the line ends inside a string");
	return report_hint(
		r->report, "a closing %s is missing; three quotes hold several lines", quote);
}

enum toml_step toml_string_step(struct toml_reader *r, struct toml_string s)
{
	int c = toml_peek(r);
	size_t newline = toml_newline(r);

	if (c == s.quote && closes(r, s))
		return TOML_STEP_END;
	if (newline && s.many_lines) {
		buf_addc(&r->scratch, '\n'); /* however the file ends its lines */
		r->at += newline;
		return TOML_STEP_MORE;
	}
	if (c < 0 || newline) {
		(void)unfinished(r, s);
		return TOML_STEP_WRONG;
	}
	if (toml_control(c)) {
		toml_wrong(r, r->at, 1, "found U+%04X inside a string", (unsigned)c);
		report_hint(r->report, "write \\u%04x in double quotes", (unsigned)c);
		return TOML_STEP_WRONG;
	}
	if (c == '\\' && s.quote == '"')
		return escape(r, s) ? TOML_STEP_MORE : TOML_STEP_WRONG;
	buf_addc(&r->scratch, (char)c);
	r->at++;
	return TOML_STEP_MORE;
}

bool toml_string(struct toml_reader *r)
{
	struct toml_string s = toml_string_begin(r);
	enum toml_step step;

	do {
		step = toml_string_step(r, s);
	} while (step == TOML_STEP_MORE);
	return step == TOML_STEP_END;
}
