#include "steps/language/scan.h"

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

void scan_init(struct scan *s, struct str text)
{
	*s = (struct scan){ .text = text, .failed = mem_zero(text.len / 8 + 1) };
}

void scan_done(struct scan *s)
{
	vec_done(&s->open);
	free(s->failed);
}

static bool hex_digit(char c)
{
	return ascii_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Behind the string that begins at `at`; 0: it is none. */
static size_t skip_string(struct str t, size_t at)
{
	uint32_t c;

	for (at++; at < t.len;) {
		at += utf8_decode(t, at, &c);
		if (c == '"')
			return at;
		if (c < 0x20 || c == UTF8_INVALID)
			return 0;
		if (c != '\\')
			continue;
		if (at >= t.len || !t.p[at] || !strchr("\"\\/bfnrtu", t.p[at]))
			return 0;
		if (t.p[at++] != 'u')
			continue;
		for (size_t i = 0; i < 4; i++, at++)
			if (at >= t.len || !hex_digit(t.p[at]))
				return 0;
	}
	return 0;
}

static size_t skip_digits(struct str t, size_t at)
{
	while (at < t.len && ascii_digit(t.p[at]))
		at++;
	return at;
}

static size_t skip_number(struct str t, size_t at)
{
	size_t from;

	if (t.p[at] == '-')
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
		return skip_string(t, at);
	return t.p[at] == '-' || ascii_digit(t.p[at]) ? skip_number(t, at) : skip_word(t, at);
}

static bool closes(const struct scan *s, char c)
{
	return c == (s->text.p[s->open.at[s->open.len - 1]] == '{' ? '}' : ']');
}

/* The state behind a comma, a colon or a bracket; -1: it may not stand here. */
static int after_sign(struct scan *s, enum state state, size_t at)
{
	char c = s->text.p[at];
	bool value = state == VALUE || state == VALUE_OR_CLOSE;

	if (c == '[' || c == '{') {
		if (!value)
			return -1;
		vec_push(&s->open, at);
		return c == '[' ? VALUE_OR_CLOSE : KEY_OR_CLOSE;
	}
	if (c == ':')
		return state == COLON ? VALUE : -1;
	if (state != COMMA_OR_CLOSE && state != VALUE_OR_CLOSE && state != KEY_OR_CLOSE)
		return -1;
	if (c == ',') {
		if (state != COMMA_OR_CLOSE)
			return -1;
		return s->text.p[s->open.at[s->open.len - 1]] == '{' ? KEY : VALUE;
	}
	if (!closes(s, c))
		return -1;
	(void)vec_pop(&s->open);
	return COMMA_OR_CLOSE;
}

/* Behind the object or array that begins at `at`; 0: it is none, and the brackets that are open are
 * those which fail with it. */
static size_t try(struct scan *s, size_t at)
{
	struct str t = s->text;
	enum state state = VALUE;

	s->open.len = 0;
	do {
		if (at >= t.len)
			return 0;
		char c = t.p[at];
		if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
			at++;
		} else if (c && strchr("[]{},:", c)) {
			int next = after_sign(s, state, at);

			if (next < 0)
				return 0;
			state = (enum state)next;
			at++;
		} else if (c == '"' && (state == KEY || state == KEY_OR_CLOSE)) {
			at = skip_string(t, at);
			state = COLON;
		} else if (c && (state == VALUE || state == VALUE_OR_CLOSE)) {
			at = skip_scalar(t, at);
			state = COMMA_OR_CLOSE;
		} else {
			return 0;
		}
	} while (at && s->open.len);
	return at;
}

bool scan_at(struct scan *s, size_t at, size_t *end)
{
	*end = try(s, at);
	return *end != 0;
}

static size_t next_bracket(struct str t, size_t from)
{
	while (from < t.len && t.p[from] != '[' && t.p[from] != '{')
		from++;
	return from;
}

bool scan_next(struct scan *s, size_t from, size_t *begin, size_t *end)
{
	for (size_t at = next_bracket(s->text, from); at < s->text.len;
		at = next_bracket(s->text, at + 1)) {
		if (s->failed[at / 8] & 1 << at % 8)
			continue;
		size_t behind = try(s, at);
		if (behind) {
			*begin = at;
			*end = behind;
			return true;
		}
		vec_each (open, &s->open)
			s->failed[*open / 8] |= (unsigned char)(1 << *open % 8);
	}
	return false;
}
