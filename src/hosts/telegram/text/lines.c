#include "hosts/telegram/text/lines.h"

static bool blank_char(char c)
{
	return c == ' ' || c == '\t';
}

struct str line_next(struct str text, size_t *at)
{
	size_t end = str_find(text, '\n', *at);
	struct str line = str_sub(text, *at, end - *at);

	*at = end + 1;
	return line;
}

static void measure(struct line *l)
{
	while (l->indent < l->text.len && blank_char(l->text.p[l->indent])) {
		l->columns += l->text.p[l->indent] == '\t' ? 4 - l->columns % 4 : 1;
		l->indent++;
	}
}

static size_t count(struct str s, char c)
{
	size_t n = 0;

	while (n < s.len && s.p[n] == c)
		n++;
	return n;
}

static bool read_heading(struct line *l, struct str s)
{
	size_t n = count(s, '#');

	if (n < 1 || n > 6 || n == s.len || !blank_char(s.p[n]))
		return false;
	struct str rest = str_trim(str_from(s, n));
	size_t end = rest.len;
	/* Marks at its end belong to the heading when a space is before them. */
	while (end && rest.p[end - 1] == '#')
		end--;
	if (end && end < rest.len && blank_char(rest.p[end - 1]))
		rest = str_trim(str_sub(rest, 0, end));
	if (!rest.len)
		return false;
	l->kind = LINE_HEADING;
	l->rest = rest;
	return true;
}

static bool read_rule(struct line *l, struct str s)
{
	size_t n = 0;

	if (s.p[0] != '-' && s.p[0] != '*' && s.p[0] != '_')
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == s.p[0])
			n++;
		else if (!blank_char(s.p[i]))
			return false;
	}
	if (n < 3)
		return false;
	l->kind = LINE_RULE;
	return true;
}

static bool read_fence(struct line *l, struct str s)
{
	size_t n = count(s, s.p[0]);

	if ((s.p[0] != '`' && s.p[0] != '~') || n < 3)
		return false;
	struct str info = str_from(s, n);
	if (s.p[0] == '`' && str_find(info, '`', 0) < info.len)
		return false; /* code within a line */
	l->kind = LINE_FENCE;
	l->fence = s.p[0];
	l->fence_len = n;
	l->rest = str_trim(info);
	return true;
}

/* [ ] or [x] and a space. */
static void read_task(struct line *l)
{
	struct str s = l->rest;

	if (s.len < 3 || s.p[0] != '[' || s.p[2] != ']' || (s.len > 3 && !blank_char(s.p[3])))
		return;
	if (s.p[1] != ' ' && s.p[1] != 'x' && s.p[1] != 'X')
		return;
	l->task = s.p[1] == ' ' ? ' ' : 'x';
	l->rest = str_trim(str_from(s, 3));
}

static bool read_item(struct line *l, struct str s)
{
	size_t digits = 0, mark = 1;

	while (digits < s.len && digits < 10 && ascii_digit(s.p[digits]))
		digits++;
	if (digits) {
		if (digits > 9 || digits == s.len || (s.p[digits] != '.' && s.p[digits] != ')'))
			return false;
		mark = digits + 1;
	} else if (s.p[0] != '-' && s.p[0] != '*' && s.p[0] != '+') {
		return false;
	}
	if (mark == s.len || !blank_char(s.p[mark]))
		return false;
	l->kind = LINE_ITEM;
	if (digits)
		l->number = str_sub(s, 0, mark);
	while (mark < s.len && blank_char(s.p[mark]))
		mark++;
	l->rest = str_from(s, mark);
	read_task(l);
	return true;
}

static bool read_quote(struct line *l, struct str s)
{
	size_t i = 0;

	if (s.p[0] != '>')
		return false;
	l->kind = LINE_QUOTE;
	while (i < s.len && s.p[i] == '>') {
		size_t next = i + 1;

		l->depth++;
		i = next;
		while (next < s.len && next - i < 4 && s.p[next] == ' ')
			next++;
		if (next < s.len && s.p[next] == '>' && next - i < 4) {
			i = next;
		} else {
			i += i < s.len && blank_char(s.p[i]);
			break;
		}
	}
	l->rest = str_from(s, i);
	return true;
}

struct line line_read(struct str text)
{
	struct line l = { .kind = LINE_TEXT, .text = text };

	measure(&l);
	struct str s = str_from(text, l.indent);
	if (!str_trim(s).len) {
		l.kind = LINE_BLANK;
		return l;
	}
	if (read_heading(&l, s) || read_rule(&l, s) || read_fence(&l, s) || read_quote(&l, s))
		return l;
	(void)read_item(&l, s);
	return l;
}

bool line_closes(struct str text, const struct line *fence)
{
	struct str s = str_trim(text);
	size_t n = count(s, fence->fence);
	struct line l = { .text = text };

	measure(&l);
	return n == s.len && n >= fence->fence_len && l.columns < fence->columns + 4;
}

size_t line_language(const struct line *fence, char *language, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < fence->rest.len && !blank_char(fence->rest.p[i]); i++) {
		char c = fence->rest.p[i];
		bool fits = ascii_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    c == '_' || c == '+' || c == '.' || c == '-';

		if (fits && len < size)
			language[len++] = c;
	}
	return len;
}
