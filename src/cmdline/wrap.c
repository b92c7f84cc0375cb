#include "cmdline/wrap.h"

#include "base/utf8.h"

static bool blank(char c)
{
	return c == ' ' || c == '\n';
}

size_t wrap_column(const struct buf *b)
{
	size_t begin = b->len;

	while (begin && b->p[begin - 1] != '\n')
		begin--;
	return utf8_count(str_from(buf_str(b), begin));
}

/* Takes the next word off `rest`; empty at the end. */
static struct str next_word(struct str *rest)
{
	size_t begin = 0;

	while (begin < rest->len && blank(rest->p[begin]))
		begin++;
	size_t end = begin;
	while (end < rest->len && !blank(rest->p[end]))
		end++;
	struct str word = str_sub(*rest, begin, end - begin);
	*rest = str_from(*rest, end);
	return word;
}

void wrap_words(struct buf *b, struct str text, size_t indent)
{
	bool first = true;

	for (struct str word; (word = next_word(&text)).len; first = false) {
		size_t column = wrap_column(b);

		if (column > indent && column + !first + utf8_count(word) > WRAP_COLUMNS) {
			while (b->len && b->p[b->len - 1] == ' ')
				buf_truncate(b, b->len - 1);
			buf_addc(b, '\n');
			buf_fill(b, ' ', indent);
		} else if (!first) {
			buf_addc(b, ' ');
		}
		buf_add(b, word);
	}
}

bool paragraph_next(struct str *rest, struct paragraph *ret)
{
	while (rest->len && rest->p[0] == '\n')
		*rest = str_from(*rest, 1);
	if (!rest->len)
		return false;

	size_t end = str_find(*rest, '\n', 0);
	while (end + 1 < rest->len && rest->p[end + 1] != '\n')
		end = str_find(*rest, '\n', end + 1);
	ret->text = str_sub(*rest, 0, end);
	ret->verbatim = rest->p[0] == ' ';
	*rest = str_from(*rest, end);
	return true;
}
