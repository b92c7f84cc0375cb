#include "base/shell-words.h"

#include "base/bidi.h"
#include "base/utf8.h"

static bool bare(struct str word)
{
	static const char plain[] = "_/:=.,@%+-";

	for (size_t i = 0; i < word.len; i++) {
		char c = word.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !ascii_digit(c) &&
			!(c && strchr(plain, c)))
			return false;
	}
	return word.len > 0;
}

static bool control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || bidi_mark(c) || c == UTF8_INVALID;
}

static bool unprintable(struct str word)
{
	uint32_t c;

	for (size_t i = 0; i < word.len;) {
		i += utf8_decode(word, i, &c);
		if (control(c))
			return true;
	}
	return false;
}

void quoted_inside(struct buf *b, struct str word)
{
	for (size_t i = 0; i < word.len; i++) {
		if (word.p[i] == '\'')
			buf_adds(b, "'\\''");
		else
			buf_addc(b, word.p[i]);
	}
}

void quoted_inside_ansi(struct buf *b, struct str word)
{
	uint32_t c;

	for (size_t i = 0, n; i < word.len; i += n) {
		n = utf8_decode(word, i, &c);
		if (c == '\n' || c == '\t')
			buf_adds(b, c == '\n' ? "\\n" : "\\t");
		else if (c == '\'' || c == '\\')
			buf_printf(b, "\\%c", (char)c);
		else if (!control(c))
			buf_add(b, str_sub(word, i, n));
		else
			for (size_t k = i; k < i + n; k++)
				buf_printf(b, "\\%03o", (unsigned char)word.p[k]);
	}
}

void command_display(struct buf *b, const char *const *argv, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct str word = str_of(argv[i]);

		if (i)
			buf_addc(b, ' ');
		if (bare(word)) {
			buf_add(b, word);
			continue;
		}
		bool ansi = unprintable(word);
		buf_adds(b, ansi ? "$'" : "'");
		(ansi ? quoted_inside_ansi : quoted_inside)(b, word);
		buf_addc(b, '\'');
	}
}
