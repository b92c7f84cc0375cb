#include "data/yaml-within.h"

#include <ctype.h>
#include <string.h>

/* A scalar as written and as it reads, walked side by side. */
struct walk {
	struct str text; /* the document */
	size_t at, end;  /* as written */
	struct str value;
	size_t done; /* bytes of the value that were passed */
	yaml_scalar_style_t style;
	size_t indent; /* of a block scalar */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The length of the line break at `at`, 0 when there is none. YAML 1.1 has those of Unicode too. */
static size_t break_length(struct str t, size_t at, size_t end)
{
	struct str rest = str_sub(t, at, end - at);

	if (!rest.len)
		return 0;
	if (rest.p[0] == '\n' || rest.p[0] == '\r')
		return str_starts(rest, S("\r\n")) ? 2 : 1;
	if (str_starts(rest, S("\xC2\x85")))
		return 2;
	return str_starts(rest, S("\xE2\x80\xA8")) || str_starts(rest, S("\xE2\x80\xA9")) ? 3 : 0;
}

/* Where the next line begins. */
static size_t after_line(struct str t, size_t at, size_t end)
{
	while (at < end) {
		size_t n = break_length(t, at, end);

		if (n)
			return at + n;
		at++;
	}
	return end;
}

static bool in_block(const struct walk *w)
{
	return w->style == YAML_LITERAL_SCALAR_STYLE || w->style == YAML_FOLDED_SCALAR_STYLE;
}

/* A tag ends with a space; the name of an anchor may have the value right behind it. */
static size_t after_property(struct str t, size_t at, size_t end)
{
	bool anchor = t.p[at] == '&';

	for (at++; at < end && !is_blank(t.p[at]) && !break_length(t, at, end); at++)
		if (anchor && !isalnum((unsigned char)t.p[at]) && !strchr("_-", t.p[at]))
			break;
	return at;
}

/* What may stand between them and the value: spaces, breaks, comments, and a byte order mark, which
 * libyaml takes at the beginning of any line. */
static size_t after_gap(struct str t, size_t at, size_t end)
{
	while (at < end) {
		if (t.p[at] == '#')
			at = after_line(t, at, end);
		else if (is_blank(t.p[at]))
			at++;
		else if (break_length(t, at, end))
			at += break_length(t, at, end);
		else if (strchr("\n\r", t.p[at - 1]) &&
			 str_starts(str_from(t, at), S("\xEF\xBB\xBF")))
			at = MIN(at + 3, end);
		else
			break;
	}
	return at;
}

/* Anchor and tag stand before the value and belong to the event. */
static size_t after_properties(struct str t, size_t at, size_t end)
{
	while (at < end && (t.p[at] == '&' || t.p[at] == '!'))
		at = after_gap(t, after_property(t, at, end), end);
	return at;
}

static size_t leading(struct str s, size_t from, size_t end)
{
	size_t n = 0;

	while (from + n < end && s.p[from + n] == ' ')
		n++;
	return n;
}

/* How far the first line is indented that has more than spaces in it. */
static size_t first_indent(struct str s, size_t at, size_t end)
{
	for (; at < end; at = after_line(s, at, end)) {
		size_t n = leading(s, at, end);

		if (at + n < end && !break_length(s, at + n, end))
			return n;
	}
	return 0;
}

/* Behind the line of the `|`: how far its lines are indented, less what belongs to the text. */
static void begin_block(struct walk *w)
{
	w->at = after_line(w->text, w->at, w->end);
	size_t written = first_indent(w->text, w->at, w->end);
	w->indent = written - MIN(first_indent(w->value, 0, w->value.len), written);
	/* The first line has an indentation but no break before it. */
	w->at += MIN(leading(w->text, w->at, w->end), w->indent);
}

static void skip_break(struct walk *w)
{
	w->at += break_length(w->text, w->at, w->end);
	if (in_block(w))
		w->at += MIN(leading(w->text, w->at, w->end), w->indent);
	else
		while (w->at < w->end && is_blank(w->text.p[w->at]))
			w->at++;
}

/* A run of line breaks and what they read as: one space, or breaks. */
static void pass_breaks(struct walk *w)
{
	size_t breaks = 0;

	while (w->at < w->end && is_blank(w->text.p[w->at]))
		w->at++;
	while (break_length(w->text, w->at, w->end)) {
		skip_break(w);
		breaks++;
	}
	if (w->done < w->value.len && w->value.p[w->done] == ' ' && breaks == 1) {
		w->done++;
		return;
	}
	while (breaks-- > 0 && break_length(w->value, w->done, w->value.len))
		w->done += break_length(w->value, w->done, w->value.len);
}

/* Whether the spaces at this place only lead to the end of the line. */
static bool ends_line(const struct walk *w)
{
	size_t at = w->at;

	while (!in_block(w) && at < w->end && is_blank(w->text.p[at]))
		at++;
	return break_length(w->text, at, w->end) > 0;
}

/* An escape of double quotes: how long it is, and how many bytes it stands for. */
static void pass_escape(struct walk *w)
{
	struct str rest = str_sub(w->text, w->at, w->end - w->at);
	size_t n = 1, digits = str_starts(rest, S("\\x"))   ? 2
			       : str_starts(rest, S("\\u")) ? 4
			       : str_starts(rest, S("\\U")) ? 8
							    : 0;

	if (w->at + 1 < w->end && break_length(w->text, w->at + 1, w->end)) {
		/* The break is taken away, with the indentation behind it. */
		w->at++;
		skip_break(w);
		return;
	}
	w->at = MIN(w->at + 2 + digits, w->end);
	while (w->done + n < w->value.len &&
		((unsigned char)w->value.p[w->done + n] & 0xC0) == 0x80)
		n++;
	w->done += n;
}

/* One unit of the text as written. */
static void pass(struct walk *w)
{
	char c = w->text.p[w->at];

	if (ends_line(w)) {
		pass_breaks(w);
	} else if (w->style == YAML_DOUBLE_QUOTED_SCALAR_STYLE && c == '\\') {
		pass_escape(w);
	} else {
		w->at += w->style == YAML_SINGLE_QUOTED_SCALAR_STYLE && c == '\'' ? 2 : 1;
		w->done++;
	}
}

static struct walk walk_of(struct str text, const struct yaml_written *s)
{
	struct walk w = { .text = text, .end = s->end, .value = s->value, .style = s->style };

	w.at = after_properties(text, s->begin, s->end);
	if (in_block(&w)) {
		begin_block(&w);
	} else if (w.style != YAML_PLAIN_SCALAR_STYLE) {
		w.at = MIN(w.at + 1, w.end);
		w.end = MAX(w.end - 1, w.at); /* the quotes */
	}
	return w;
}

struct where yaml_within(
	const struct source *source, const struct yaml_written *s, size_t index, size_t len)
{
	struct walk w = walk_of(source->text, s);
	size_t begin = w.at;

	while (w.at < w.end && w.done < index + len) {
		if (w.done <= index)
			begin = w.at;
		pass(&w);
	}
	if (w.done <= index)
		begin = w.at;
	begin = MIN(begin, s->end);
	return (struct where){ source, begin, MIN(w.at, s->end) - begin };
}
