#include "template/words.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "base/vec.h"

/* What the scanner finds, in order. */
enum found {
	FOUND_OPEN,   /* a word begins, or continues, with a quote */
	FOUND_TEXT,   /* `len` bytes at `at` belong to the word */
	FOUND_END,    /* the word has ended */
	FOUND_NOTHING /* end of the line */
};

struct scanner {
	struct str line;
	size_t at, found_at, found_len;
	char quote; /* ' or " while inside one */
	bool open;
};

static enum found text(struct scanner *s, size_t at, size_t len)
{
	s->open = true;
	s->found_at = at;
	s->found_len = len;
	s->at = at + len;
	return FOUND_TEXT;
}

static enum found next(struct scanner *s)
{
	while (s->at < s->line.len) {
		char c = s->line.p[s->at];
		uint32_t wide;
		size_t n = utf8_decode(s->line, s->at, &wide);

		if (c == '\\' && s->quote != '\'') {
			uint32_t escaped;

			if (s->at + 1 == s->line.len)
				return text(s, s->at, 1);
			s->at++;
			return text(s, s->at, utf8_decode(s->line, s->at, &escaped));
		}
		if (s->quote && c == s->quote) {
			s->quote = 0;
			s->at++;
			continue;
		}
		if (!s->quote && (c == '\'' || c == '"')) {
			s->quote = c;
			s->open = true;
			s->at++;
			return FOUND_OPEN;
		}
		if (!s->quote && utf8_blank(wide)) {
			s->at += n;
			if (!s->open)
				continue;
			s->open = false;
			return FOUND_END;
		}
		return text(s, s->at, n);
	}
	if (!s->open)
		return FOUND_NOTHING;
	s->open = false;
	return FOUND_END;
}

size_t words_split(struct arena *a, struct str line, struct word **ret)
{
	struct scanner s = { .line = line };
	VEC(struct word) words = { 0 };
	AUTO_BUF word = BUF_INIT;
	bool quoted = false;

	for (enum found f; (f = next(&s)) != FOUND_NOTHING;) {
		if (f == FOUND_OPEN) {
			quoted = true;
		} else if (f == FOUND_TEXT) {
			buf_add(&word, str_sub(line, s.found_at, s.found_len));
		} else {
			vec_push(&words, (struct word){ arena_str(a, buf_str(&word)), quoted });
			buf_reset(&word);
			quoted = false;
		}
	}
	size_t count = words.len;
	*ret = arena_array(a, struct word, count);
	if (count)
		memcpy(*ret, words.at, count * sizeof(**ret));
	vec_done(&words);
	return count;
}

size_t words_locate(struct str line, size_t n, size_t at)
{
	struct scanner s = { .line = line };
	size_t word = 0, bytes = 0;

	for (enum found f; (f = next(&s)) != FOUND_NOTHING;) {
		if (f == FOUND_END) {
			if (word++ == n)
				break;
			bytes = 0;
		} else if (f == FOUND_TEXT && word == n) {
			if (at < bytes + s.found_len)
				return s.found_at + (at - bytes);
			bytes += s.found_len;
		}
	}
	return MIN(s.at, line.len);
}

bool words_unclosed(struct str line)
{
	struct scanner s = { .line = line };

	while (next(&s) != FOUND_NOTHING)
		;
	return s.quote != 0;
}
