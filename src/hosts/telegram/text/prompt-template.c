#include "hosts/telegram/text/prompt-template.h"

#include <stdlib.h>

#include "base/lang.h"
#include "base/vec.h"
#include "hosts/telegram/text/lines.h"

struct str template_command_name(struct arena *a, struct str stem)
{
	AUTO_BUF b = BUF_INIT;

	for (size_t i = 0; i < stem.len; i++) {
		char c = stem.p[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (ascii_digit(c) || (c >= 'a' && c <= 'z'))
			buf_addc(&b, c);
		else if (b.len && b.p[b.len - 1] != '_')
			buf_addc(&b, '_');
	}
	if (b.len > TEMPLATE_NAME_BYTES)
		buf_truncate(&b, TEMPLATE_NAME_BYTES);
	if (b.len && b.p[b.len - 1] == '_')
		buf_truncate(&b, b.len - 1);
	return arena_str(a, buf_str(&b));
}

static int by_name(const void *a, const void *b)
{
	const struct template_command *x = a, *y = b;
	int order = str_cmp(x->name, y->name);

	return order ? order : x->index < y->index ? -1 : 1;
}

size_t template_commands(struct arena *a, const struct str *stems, size_t count,
	bool (*reserved)(void *data, struct str name), void *data, struct template_command **ret)
{
	struct template_command *all = arena_array(a, struct template_command, count);
	size_t found = 0, kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct str name = template_command_name(a, stems[i]);

		if (name.len && !reserved(data, name))
			all[found++] = (struct template_command){ name, i };
	}
	if (found)
		qsort(all, found, sizeof(*all), by_name);
	for (size_t i = 0; i < found; i++)
		if (!kept || !str_eq(all[kept - 1].name, all[i].name))
			all[kept++] = all[i];
	*ret = all;
	return kept;
}

static bool dashes(struct str line)
{
	if (line.len && line.p[line.len - 1] == '\r')
		line.len--;
	return str_eq(line, S("---"));
}

struct str template_body(struct str file)
{
	size_t at = 0;

	if (!dashes(line_next(file, &at)))
		return file;
	while (at < file.len)
		if (dashes(line_next(file, &at)))
			return str_trim(str_from(file, MIN(at, file.len)));
	return file;
}

size_t template_words(struct arena *a, struct str args, struct str **ret)
{
	VEC(struct str) words = { 0 };
	AUTO_BUF word = BUF_INIT;
	char quote = 0;

	for (size_t i = 0; i <= args.len; i++) {
		char c = i < args.len ? args.p[i] : ' ';

		if (i < args.len && quote) {
			if (c == quote)
				quote = 0;
			else
				buf_addc(&word, c);
		} else if (i < args.len && (c == '"' || c == '\'')) {
			quote = c;
		} else if (i == args.len || c == ' ' || c == '\t') {
			if (word.len)
				vec_push(&words, arena_str(a, buf_str(&word)));
			buf_reset(&word);
		} else {
			buf_addc(&word, c);
		}
	}
	size_t count = words.len;
	*ret = arena_array(a, struct str, count);
	for (size_t i = 0; i < count; i++)
		(*ret)[i] = words.at[i];
	vec_done(&words);
	return count;
}

static void put_words(struct buf *b, const struct str *words, size_t count, size_t from, size_t max)
{
	for (size_t i = from; i < count && max; i++, max--) {
		if (i > from)
			buf_addc(b, ' ');
		buf_add(b, words[i]);
	}
}

/* Digits at *at as a number; more than any list has when there are too many. */
static bool take_digits(struct str s, size_t *at, size_t *ret)
{
	size_t begin = *at;
	uint64_t n = 0;

	while (*at < s.len && ascii_digit(s.p[*at]))
		(*at)++;
	if (*at == begin)
		return false;
	*ret = str_to_uint(str_sub(s, begin, *at - begin), &n) ? (size_t)n : SIZE_MAX;
	return true;
}

/* ${@:n} and ${@:n:m} at `at`; the offset behind it, or 0. */
static size_t take_slice(
	struct buf *b, struct str body, size_t at, const struct str *words, size_t count)
{
	size_t from, max = SIZE_MAX, i = at + strlen("${@:");

	if (!str_starts(str_from(body, at), S("${@:")) || !take_digits(body, &i, &from))
		return 0;
	if (i < body.len && body.p[i] == ':') {
		i++;
		if (!take_digits(body, &i, &max))
			return 0;
	}
	if (i == body.len || body.p[i] != '}')
		return 0;
	put_words(b, words, count, from ? from - 1 : 0, max);
	return i + 1;
}

/* What stands at a dollar sign; the offset behind it, or 0 when that is only a dollar sign. */
static size_t take_dollar(
	struct buf *b, struct str body, size_t at, const struct str *words, size_t count)
{
	struct str rest = str_from(body, at);
	size_t i = at + 1, n;

	if (take_digits(body, &i, &n)) {
		if (n && n <= count)
			buf_add(b, words[n - 1]);
		return i;
	}
	if (str_starts(rest, S("$@"))) {
		put_words(b, words, count, 0, SIZE_MAX);
		return at + strlen("$@");
	}
	if (str_starts(rest, S("$ARGUMENTS"))) {
		put_words(b, words, count, 0, SIZE_MAX);
		return at + strlen("$ARGUMENTS");
	}
	return take_slice(b, body, at, words, count);
}

void template_substitute(struct buf *b, struct str body, const struct str *words, size_t count)
{
	for (size_t i = 0; i < body.len;) {
		size_t dollar = str_find(body, '$', i);

		buf_add(b, str_sub(body, i, dollar - i));
		if (dollar == body.len)
			break;
		size_t next = take_dollar(b, body, dollar, words, count);
		if (!next)
			buf_addc(b, '$');
		i = next ? next : dollar + 1;
	}
}

void template_expand(struct buf *b, struct str body, struct str args)
{
	struct arena a = ARENA_INIT;
	struct str *words;
	size_t count = template_words(&a, args, &words);

	template_substitute(b, body, words, count);
	arena_done(&a);
}
